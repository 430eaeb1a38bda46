//! Binds random graphs of the catalog's operators and runs them forward and backward on all backends in pure Rust.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use mxrs_fuzz::graph::random_graph;
use mxrs_fuzz::run::{Case, OPS, run, through_symbol_file};
use mxrs_op::OpDef;
use std::sync::{Arc, LazyLock};

static LISTED: LazyLock<Vec<Arc<OpDef>>> = LazyLock::new(|| OPS.iter().chain(OPS.companions()).cloned().collect());

fuzz_target!(|bytes: &[u8]| {
    let mut from = Unstructured::new(bytes);
    let Ok(Some(random)) = random_graph(&LISTED, 6, &mut from) else { return };
    let Some(graph) = through_symbol_file(&random.graph) else { return };
    let _ = run(&Case { graph, variables: random.variables }, &mut from);
});
