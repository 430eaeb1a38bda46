//! Symbol files that are read as a verified graph and written again are equal byte for byte.

use mxrs_format::Options;
use mxrs_symbol::{Registry, SymbolFile, graph_from_bytes, graph_to_file};

fn registry(ops: &mxrs_op::OpSet) -> Registry<'_> {
    Registry { ops, legacy: mxrs_ops::legacy_name }
}

#[test]
fn mxnets_checkpoints_come_back_byte_for_byte() {
    let ops = mxrs_ops::catalog();
    for name in ["lenet", "resnet8"] {
        let path = format!("{}/../../data/digits/{name}-symbol.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read(&path).expect("the file is in the repository");
        let graph = graph_from_bytes(&text, &registry(&ops), &Options::default()).expect("MXNet wrote it").value;
        assert_eq!(graph_to_file(&graph).to_json().as_bytes(), text, "{name}");
    }
}

/// Reads a graph of `nodes` whose head is node `head`.
fn read(nodes: &str, args: &str, head: u32) -> mxrs_types::Result<mxrs_graph::Graph> {
    let ops = mxrs_ops::catalog();
    let text = format!("{{\"nodes\": [{nodes}], \"arg_nodes\": [{args}], \"heads\": [[{head}, 0, 0]]}}");
    graph_from_bytes(text.as_bytes(), &registry(&ops), &Options::default()).map(|g| g.value)
}

const X: &str = r#"{"op": "null", "name": "x", "inputs": []}"#;

#[test]
fn what_only_the_operators_know_is_checked() {
    let bad = [
        (r#"{"op": "Convolutio", "name": "c", "inputs": [[0, 0, 0]]}"#, "Convolution"),
        (r#"{"op": "relu", "name": "r", "inputs": [[0, 0, 0], [0, 0, 0]]}"#, "2 inputs"),
        (r#"{"op": "Activation", "name": "a", "attrs": {"act_typ": "relu"}, "inputs": [[0, 0, 0]]}"#, "act_typ"),
        (r#"{"op": "Activation", "name": "a", "attrs": {"act_type": "rellu"}, "inputs": [[0, 0, 0]]}"#, "rellu"),
        (r#"{"op": "relu", "name": "r", "inputs": [[0, 3, 0]]}"#, "output 3"),
    ];
    for (node, expected) in bad {
        let error = read(&format!("{X}, {node}"), "0", 1).expect_err(node);
        assert!(error.to_string().contains(expected), "{node}: {error}");
    }
}

#[test]
fn old_names_and_old_attributes_are_understood() {
    // A node as MXNet 0.8 wrote it: parameters under `param`, no auxiliary states, an old operator name.
    let node = r#"{"op": "BatchNorm_v1", "param": {"eps": "0.001"}, "name": "bn", "inputs": [[0, 0], [1, 0], [2, 0]], "backward_source_id": -1}"#;
    let variable = |name: &str| {
        format!(r#"{{"op": "null", "param": {{}}, "name": "{name}", "inputs": [], "backward_source_id": -1}}"#)
    };
    let nodes = format!("{}, {}, {}, {node}", variable("x"), variable("bn_gamma"), variable("bn_beta"));
    let graph = read(&nodes, "0, 1, 2", 3).expect("a 0.8 file");
    assert_eq!(graph.aux_state_names(), ["bn_moving_mean", "bn_moving_var"]);
    let variance = graph.find("bn_moving_var").expect("it was added");
    assert_eq!(graph.node(variance).attrs.get("__init__"), Some("[\"one\", {}]"));
}

#[test]
fn a_graph_without_version_is_written_with_todays() {
    let graph = read(X, "0", 0).expect("a single variable");
    let text = graph_to_file(&graph).to_json();
    assert_eq!(
        SymbolFile::from_bytes(text.as_bytes(), &Options::default()).expect("our own text").value.version(),
        10_901
    );
}
