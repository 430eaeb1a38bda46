//! Times the overhead of running a bound graph: a chain of 100 tiny operators, pushed to the engine as one task or as one
//! task per operator.
#![allow(missing_docs)] // criterion's macros make an undocumented main

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mxrs_engine::{Engine, EngineConfig};
use mxrs_exec::{BindOptions, Executor};
use mxrs_ndarray::ArrayContext;
use mxrs_op::ReferenceBackend;
use mxrs_storage::{Storage, StorageConfig};
use std::sync::Arc;

fn executor(c: &mut Criterion) {
    let engine = Engine::new(EngineConfig::default()).expect("the engine starts");
    let context = ArrayContext::new(engine, Storage::new(StorageConfig::default()).expect("the pools start"));
    let graph = mxrs_benches::chain(100);
    let mut group = c.benchmark_group("executor/cpu/chain_of_100");
    for bulk_inference in [true, false] {
        let options = BindOptions { bulk_inference, ..BindOptions::new(vec![Arc::new(ReferenceBackend)]) };
        let executor =
            Executor::simple_bind(&graph, &context, &[("x", [1].into())], &options).expect("the graph binds");
        let id = BenchmarkId::from_parameter(if bulk_inference { "bulk" } else { "single" });
        group.bench_function(id, |b| {
            b.iter(|| {
                executor.forward().expect("the engine runs");
                executor.outputs()[0].wait_to_read().expect("no operator fails");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, executor);
criterion_main!(benches);
