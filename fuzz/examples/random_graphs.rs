//! Binds and runs random graphs from a generator of random numbers. Coverage does not guide the inputs, so several times as
//! many graphs run per second as under libFuzzer. Goes on after a panic; an error of the address sanitizer ends the program.
//! Panics of kernels count too, although the engine turns them into errors. A graph that runs for more than two minutes ends the
//! program.
//!
//! Arguments: the number of graphs, the seed, and the folder for the inputs that panicked. Such an input is one of the
//! fuzz target `run_graph`.

use arbitrary::Unstructured;
use mxrs_fuzz::graph::random_graph;
use mxrs_fuzz::run::{Case, OPS, run, through_symbol_file};
use mxrs_op::OpDef;
use mxrs_symbol::graph_to_file;
use std::panic::{catch_unwind, set_hook};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Graphs between two lines of progress.
const STRIDE: u64 = 50_000;

/// The longest time that a graph may run. Its work is limited, so it usually takes milliseconds.
const LONGEST: Duration = Duration::from_secs(120);

/// Number of panics, including those that are caught.
static PANICS: AtomicU64 = AtomicU64::new(0);

/// The input that runs, and since when.
static RUNNING: Mutex<Option<(Vec<u8>, Instant)>> = Mutex::new(None);

/// Saves an input.
fn save(what: &str, path: &Path, bytes: &[u8]) {
    eprintln!("random_graphs: {what}; the input is {}", path.display());
    if let Err(error) = std::fs::write(path, bytes) {
        eprintln!("random_graphs: writing {}: {error}", path.display());
    }
}

/// Ends the program if a graph runs for too long.
fn watch(path: &Path) {
    loop {
        std::thread::sleep(LONGEST / 4);
        let running = RUNNING.lock().expect("no panic while it is locked").clone();
        if let Some((bytes, since)) = running.filter(|(_, since)| since.elapsed() > LONGEST) {
            save(&format!("a graph runs for {} s", since.elapsed().as_secs()), path, &bytes);
            std::process::exit(1);
        }
    }
}

/// SplitMix64 (Steele et al. 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Binds and runs the graph of an input; `false` if the input is not a graph.
fn run_one(ops: &[Arc<OpDef>], bytes: &[u8]) -> bool {
    let mut from = Unstructured::new(bytes);
    let Ok(Some(random)) = random_graph(ops, 6, &mut from) else { return false };
    let Some(graph) = through_symbol_file(&random.graph) else { return false };
    let _ = run(&Case { graph, variables: random.variables }, &mut from);
    true
}

/// The graph of an input as a symbol file, and its variables.
fn describe(ops: &[Arc<OpDef>], bytes: &[u8]) -> String {
    match random_graph(ops, 6, &mut Unstructured::new(bytes)) {
        Ok(Some(random)) => format!("{}\n{:?}", graph_to_file(&random.graph).to_json(), random.variables),
        _ => "no graph".into(),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [n_graphs, seed, folder] = &arguments[..] else {
        eprintln!("random_graphs: expected the number of graphs, a seed and a folder");
        return ExitCode::from(2);
    };
    let (Ok(n_graphs), Ok(seed)) = (n_graphs.parse::<u64>(), seed.parse()) else {
        eprintln!("random_graphs: the number of graphs and the seed must be numbers");
        return ExitCode::from(2);
    };
    set_hook(Box::new(|panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        eprintln!("random_graphs: {panic}");
    }));
    let ops: Vec<Arc<OpDef>> = OPS.iter().chain(OPS.companions()).cloned().collect();
    let (mut random, mut n_run, mut n_inputs, mut n_panics) = (Random(seed), 0, 0, 0);
    let hang = Path::new(folder).join(format!("hang-{seed}"));
    std::thread::spawn(move || watch(&hang));
    while n_run < n_graphs {
        let n_bytes = 16 + random.next() % 240;
        let bytes: Vec<u8> = (0..n_bytes).map(|_| random.next() as u8).collect();
        *RUNNING.lock().expect("no panic while it is locked") = Some((bytes.clone(), Instant::now()));
        let before = PANICS.load(Ordering::Relaxed);
        let ran = catch_unwind(|| run_one(&ops, &bytes));
        if PANICS.load(Ordering::Relaxed) > before {
            n_panics += 1;
            let path = Path::new(folder).join(format!("panic-{seed}-{n_inputs}"));
            save("a panic", &path, &bytes);
            eprintln!("{}", describe(&ops, &bytes));
        }
        n_inputs += 1;
        if ran.unwrap_or(true) {
            n_run += 1;
            if n_run % STRIDE == 0 || n_run == n_graphs {
                println!("{n_run} graphs of {n_inputs} inputs, {n_panics} panics");
            }
        }
    }
    if n_panics == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
