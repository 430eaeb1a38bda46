//! Properties for arbitrary content: writing then reading is the identity, and damage never causes a panic.

mod support;

use mxrs_format::Options;
use mxrs_symbol::{Entry, GraphAttr, SymbolFile, SymbolNode};
use proptest::collection::vec;
use proptest::prelude::*;
use support::golden;

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_.:]{0,8}", "[\\PC\"\\\\\n\r\t\u{1}]{0,6}"]
}

fn graph() -> impl Strategy<Value = SymbolFile> {
    let node = (text(), vec((text(), text()), 0..4), vec((any::<u32>(), 0u32..3, 0u32..2), 0..4), any::<bool>());
    (vec(node, 0..14), vec((text(), -9i64..9), 0..3), any::<bool>()).prop_map(|(parts, attrs, nested)| {
        let mut graph = SymbolFile::default();
        for (id, (name, attrs, inputs, leaf)) in parts.into_iter().enumerate() {
            let mut node = SymbolNode { op: "null".into(), name: format!("{id}{name}"), ..Default::default() };
            node.attrs = attrs.into_iter().collect();
            if leaf || id == 0 {
                graph.arg_nodes.push(id as u32);
            } else {
                node.op = "op".into();
                for (from, index, version) in inputs {
                    let from = from % id as u32;
                    let index = if graph.nodes[from as usize].is_variable() { 0 } else { index };
                    node.inputs.push(Entry { node: from, index, version });
                    node.control_deps.push(from);
                }
                if nested {
                    node.subgraphs.push(SymbolFile { heads: vec![], ..graph.clone() });
                    node.subgraphs[0].nodes.iter_mut().for_each(|n| n.subgraphs.clear());
                }
            }
            graph.heads.push(Entry { node: id as u32, ..Default::default() });
            graph.nodes.push(node);
        }
        graph.node_row_ptr = nested.then(|| (0..=graph.nodes.len() as u32).collect());
        graph.attrs = attrs.into_iter().map(|(key, value)| (key, GraphAttr::Int(value))).collect();
        graph
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn symbols(graph in graph()) {
        let text = graph.to_json();
        let loaded = SymbolFile::from_bytes(text.as_bytes(), &Options::strict()).unwrap();
        prop_assert_eq!(&loaded.value, &graph);
        prop_assert_eq!(loaded.value.to_json(), text.clone());
        // The text is valid JSON for other parsers too, except for raw control characters, which MXNet also writes.
        if !text.chars().any(|c| c.is_control() && c != '\n') {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        }
    }
}

/// Reads the text and, if that succeeds, writes it and reads it again.
fn read(bytes: &[u8], options: &Options) {
    if let Ok(loaded) = SymbolFile::from_bytes(bytes, options) {
        let text = loaded.value.to_json();
        assert_eq!(SymbolFile::from_bytes(text.as_bytes(), options).unwrap().value, loaded.value);
    }
}

/// Names of small symbol files.
const SAMPLES: [&str; 2] = ["foreach-symbol.json", "old-symbol.json"];

#[test]
fn files_cut_at_any_byte() {
    for name in SAMPLES {
        let bytes = std::fs::read(golden(name)).unwrap();
        for len in 0..=bytes.len() {
            read(&bytes[..len], &Options::strict());
            read(&bytes[..len], &Options::lenient());
        }
    }
}

#[test]
fn files_with_any_byte_changed() {
    for name in SAMPLES {
        let mut bytes = std::fs::read(golden(name)).unwrap();
        for at in 0..bytes.len() {
            let was = bytes[at];
            for flip in [1, 0x80, 0xff] {
                bytes[at] = was ^ flip;
                read(&bytes, &Options::strict());
                read(&bytes, &Options::lenient());
            }
            bytes[at] = was;
        }
    }
}
