//! Hostile text does not make the reader allocate much: peak memory stays below twice the input plus 16 MiB.

mod support;

use mxrs_format::Options;
use mxrs_symbol::SymbolFile;
use peak_alloc::PeakAlloc;
use support::data;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const SLACK: usize = 16 << 20;

/// Runs `read` on `input` and checks its peak memory, not counting `input` itself.
fn bounded(what: &str, input: &[u8], read: impl FnOnce(&[u8])) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    read(input);
    let peak = MEMORY.peak_usage().saturating_sub(before);
    let bound = input.len() * 2 + SLACK;
    assert!(peak <= bound, "{what}: {peak} bytes for an input of {} (at most {bound})", input.len());
}

#[test]
fn symbol_files() {
    let json = |what: &str, text: &str| {
        bounded(what, text.as_bytes(), |b| drop(SymbolFile::from_bytes(b, &Options::lenient())))
    };
    json("deep", &"[{\"nodes\":".repeat(1 << 20));
    json("long string", &format!("{{\"nodes\": [{{\"op\": \"{}\"", "\\n".repeat(8 << 20)));
    let mut wide = SymbolFile::open(data("resnet8-symbol.json"), &Options::strict()).unwrap().value;
    // A long but ordinary file: the same network a thousand times.
    let nodes = wide.nodes.clone();
    for copy in 1..1000u32 {
        let first = wide.nodes.len() as u32;
        wide.nodes.extend(nodes.iter().cloned().map(|mut node| {
            node.name = format!("{}_{copy}", node.name);
            node.inputs.iter_mut().for_each(|e| e.node += first);
            node
        }));
    }
    wide.node_row_ptr = None;
    let text = wide.to_json();
    drop(wide);
    assert!(text.len() > 12 << 20);
    json("large", &text);
}
