//! Tests that the kernel gives the results of the reference kernel, and runs the calls for which it offers the shortest
//! time.

use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::exec::DryGraph;
use mxrs::graph::{NameManager, Symbol, SymbolCall};
use mxrs_example_backend::FastRelu;
use mxrs_testkit::conformance::{self, team};
use std::sync::Arc;

#[test]
fn agrees_with_the_reference() {
    for n_threads in [1, 3] {
        let ops = mxrs::ops::catalog();
        let relu = ops.get("relu").expect("it is in the catalog");
        let report = conformance::run(&FastRelu::new(n_threads, 1.0), relu, &team(n_threads));
        assert!(report.n_compared() >= 1 && report.failed.is_empty(), "{report:?}");
    }
}

/// Name of the backend that runs `relu`, if this example estimates `times_library` times the time of a library.
fn chosen(times_library: f64) -> &'static str {
    let builder = Runtime::builder().env(&MapSource::new([("OMP_NUM_THREADS", "2")]));
    let runtime = builder.backend(Arc::new(FastRelu::new(2, times_library))).build().expect("a runtime");
    let relu = SymbolCall::new(runtime.ops().get("relu").expect("it is in the catalog"));
    let y = relu.input(&Symbol::variable("x")).build(&mut NameManager::new()).expect("a call");
    let (graph, options) = (y.graph().expect("a graph"), runtime.bind_options());
    let dry = DryGraph::new(&graph, &[("x", [64, 1000].into())], &options, false).expect("it binds");
    dry.plan(&options.plan).expect("a plan").steps[0].backend
}

#[test]
fn the_fewest_seconds_win() {
    assert_eq!(chosen(0.5), "fast-relu");
    assert_ne!(chosen(100.0), "fast-relu");
    // This estimate is longer than that of the reference kernel.
    assert_ne!(chosen(1e9), "fast-relu");
}
