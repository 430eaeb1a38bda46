//! Reads symbol files with the real operators: attributes, inputs, shapes and types. Checks that nothing panics, and that an
//! accepted graph is the same after writing and reading it again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_format::Options;
use mxrs_graph::{infer_dtypes, infer_shapes};
use mxrs_symbol::{Registry, graph_from_bytes, graph_to_file};
use mxrs_types::{DType, Shape};
use std::sync::LazyLock;

static OPS: LazyLock<mxrs_op::OpSet> = LazyLock::new(mxrs_ops::catalog);

fuzz_target!(|bytes: &[u8]| {
    let registry = Registry { ops: &OPS, legacy: mxrs_ops::legacy_name };
    let Ok(loaded) = graph_from_bytes(bytes, &registry, &Options::default()) else { return };
    let graph = loaded.value;
    let text = graph_to_file(&graph).to_json();
    let again = graph_from_bytes(text.as_bytes(), &registry, &Options::default()).expect("what we wrote").value;
    assert_eq!(graph_to_file(&again).to_json(), text);
    let given = graph.find("data").map(|_| ("data", Shape::from([2, 1, 28, 28]).into()));
    if let Ok(shapes) = infer_shapes(&graph, given) {
        let _ = shapes.complete(&graph);
    }
    let _ = infer_dtypes(&graph, [], Some(DType::F32));
});
