//! Tests binding and running small graphs: values, pushes, memory switches, heads, errors.

mod common;

use common::{Net, context};
use indexmap::IndexMap;
use mxrs_engine::EngineKind;
use mxrs_exec::{BindOptions, Executor};
use mxrs_graph::{Graph, Symbol};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::ReferenceBackend;
use mxrs_types::{DType, ErrorKind, Result, Shape};
use std::sync::Arc;

struct Fixture {
    net: Net,
    context: ArrayContext,
}

impl Fixture {
    fn new(kind: EngineKind) -> Self {
        Self { net: Net::new(), context: context(kind, 1) }
    }

    fn chain(&mut self, length: usize) -> Graph {
        let mut x = Symbol::variable("x");
        for _ in 0..length {
            x = self.net.call_with("_plus_scalar", &[("scalar", "1")], &[&x]);
        }
        x.graph().expect("a well-formed graph")
    }

    fn bind(&self, graph: &Graph, shape: impl Into<Shape>, options: &BindOptions) -> Result<Executor> {
        Executor::simple_bind(graph, &self.context, &[("x", shape.into())], options)
    }
}

fn options() -> BindOptions {
    BindOptions::new(vec![Arc::new(ReferenceBackend)])
}

#[test]
fn d30_a_chain_of_ten_is_one_push_or_ten() {
    let mut f = Fixture::new(EngineKind::ThreadedPerDevice);
    let graph = f.chain(10);
    for (bulk_inference, pushes) in [(true, 1), (false, 10)] {
        let executor = f.bind(&graph, [4], &BindOptions { bulk_inference, ..options() }).unwrap();
        let before = f.context.engine().counters().pushed;
        executor.forward().unwrap();
        assert_eq!(f.context.engine().counters().pushed - before, pushes, "bulk {bulk_inference}");
        assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), [10.0; 4]);
    }
}

#[test]
fn d10_in_place_saves_memory_and_changes_no_value() {
    let mut f = Fixture::new(EngineKind::Naive);
    let x = Symbol::variable("x");
    let y = f.net.call_with("_plus_scalar", &[("scalar", "1")], &[&x]);
    let y = f.net.call("relu", &[&y]);
    let y = f.net.call("relu", &[&y]);
    // The head is a copy, so the results of the three calls before it are temporary values in the arena.
    let graph = f.net.call("_copy", &[&y]).graph().unwrap();
    let mut seen = Vec::new();
    for enable_inplace in [true, false] {
        let mut o = options();
        o.plan.enable_inplace = enable_inplace;
        let executor = f.bind(&graph, [1000], &o).unwrap();
        executor.argument("x").unwrap().copy_from(&vec![-3.0f32; 1000]).unwrap();
        executor.forward().unwrap();
        let report = executor.report().unwrap().plan;
        seen.push((report.n_inplace, report.bytes, executor.outputs()[0].to_vec::<f32>().unwrap()));
    }
    assert!(seen[0].0 >= 2 && seen[1].0 == 0, "{} and {} pairs", seen[0].0, seen[1].0);
    assert!(seen[0].1 < seen[1].1, "{} and {} bytes", seen[0].1, seen[1].1);
    assert_eq!(seen[0].2, seen[1].2);
}

#[test]
fn heads_may_be_variables_views_and_repeated() {
    let mut f = Fixture::new(EngineKind::ThreadedPerDevice);
    let x = Symbol::variable("x");
    let y = f.net.call_with("_plus_scalar", &[("scalar", "1")], &[&x]);
    let flat = f.net.call("Flatten", &[&y]);
    let graph = Symbol::group([&x, &y, &y, &flat]).graph().unwrap();
    let executor = f.bind(&graph, [1, 2, 2], &options()).unwrap();
    executor.argument("x").unwrap().copy_from(&[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    executor.forward().unwrap();
    let values: Vec<Vec<f32>> = executor.outputs().iter().map(|o| o.to_vec().unwrap()).collect();
    assert_eq!(values[0], [1.0, 2.0, 3.0, 4.0]);
    for value in &values[1..] {
        assert_eq!(value, &[2.0, 3.0, 4.0, 5.0]);
    }
    assert_eq!(executor.outputs()[3].shape(), &Shape::from([1, 4]));
    assert!(!executor.outputs()[1].shares_storage(&executor.outputs()[2]));
}

#[test]
fn the_same_result_on_every_engine() {
    for kind in [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
        let mut f = Fixture::new(kind);
        let graph = f.chain(5);
        let executor = f.bind(&graph, [3], &options()).unwrap();
        for round in 0..20 {
            executor.argument("x").unwrap().copy_from(&[round as f32; 3]).unwrap();
            executor.forward().unwrap();
            assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), [round as f32 + 5.0; 3], "{kind:?}");
        }
    }
}

#[test]
fn zero_sized_batches_run() {
    let mut f = Fixture::new(EngineKind::ThreadedPerDevice);
    let graph = f.chain(2);
    let executor = f.bind(&graph, [0, 5], &options()).unwrap();
    executor.forward().unwrap();
    assert!(executor.outputs()[0].to_vec::<f32>().unwrap().is_empty());
}

#[test]
fn dropping_an_executor_with_work_pending_frees_its_memory() {
    let mut f = Fixture::new(EngineKind::ThreadedPerDevice);
    let graph = f.chain(3);
    let live = || f.context.storage().stats(mxrs_types::Device::cpu(0)).live_requested;
    f.context.engine().wait_for_all().unwrap();
    let before = live();
    for _ in 0..10 {
        let executor = f.bind(&graph, [100_000], &options()).unwrap();
        executor.forward().unwrap();
    }
    f.context.engine().wait_for_all().unwrap();
    assert_eq!(live(), before);
}

#[test]
fn mistakes_are_named() {
    let mut f = Fixture::new(EngineKind::ThreadedPerDevice);
    let x = Symbol::variable("x");
    let fc = f.net.call_with("FullyConnected", &[("num_hidden", "3")], &[&x]);
    let graph = fc.graph().unwrap();

    let error = Executor::simple_bind(&graph, &f.context, &[("y", [1, 2].into())], &options()).err().unwrap();
    assert!(error.to_string().contains('y'), "{error}");

    let error =
        Executor::bind(&graph, &f.context, &[("x", [1, 2].into())], &IndexMap::new(), &options()).err().unwrap();
    assert!(error.to_string().contains("fullyconnected0_weight"), "{error}");

    let mut params = IndexMap::new();
    params.insert("fullyconnected0_weight".to_string(), NdArray::zeros(&f.context, [3, 5], DType::F32).unwrap());
    params.insert("fullyconnected0_bias".to_string(), NdArray::zeros(&f.context, [3], DType::F32).unwrap());
    let error = Executor::bind(&graph, &f.context, &[("x", [1, 2].into())], &params, &options()).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");

    let error = f.bind(&graph, [1, 2], &BindOptions::new(Vec::new())).err().unwrap();
    assert!(
        matches!(error.kind(), ErrorKind::NotBuilt { .. }) && error.to_string().contains("fullyconnected0"),
        "{error}"
    );

    let executor = f.bind(&graph, [1, 2], &options()).unwrap();
    assert!(executor.argument("z").is_err());
}
