//! Times the planning of a training step, without kernels or arrays: training graph, shapes, types, memory. The time should
//! grow linearly with the graph, not quadratically.
#![allow(missing_docs)] // criterion's macros make an undocumented main

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use mxrs_benches::planning::{Training, residual_chain};
use mxrs_graph::PlanOptions;
use mxrs_models::{ModelOptions, model};
use std::hint::black_box;
use std::time::Duration;

fn resnet_152(c: &mut Criterion) {
    let built = model("resnet-152", &ModelOptions::default()).expect("a network of ours");
    let graph = built.symbol.graph().expect("a well-formed graph");
    let training = Training::new(graph, "data", [32, 3, 224, 224].into());
    let mut group = c.benchmark_group("planning/resnet-152/training");
    group.sample_size(20);
    group.bench_function("all_passes", |b| b.iter(|| training.plan(&PlanOptions::default())));
    let program = training.program();
    group.bench_function("memory", |b| b.iter(|| black_box(program.plan(&PlanOptions::default()))));
    group.finish();
}

fn growth(c: &mut Criterion) {
    let mut group = c.benchmark_group("planning/residual_chain/training");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(100));
    for n_nodes in [1_000, 10_000, 100_000] {
        let training = Training::new(residual_chain(n_nodes), "x", [4, 16].into());
        let program = training.program();
        group.throughput(Throughput::Elements(program.steps.len() as u64));
        let id = |what| BenchmarkId::new(what, n_nodes);
        group.bench_function(id("all_passes"), |b| b.iter(|| training.plan(&PlanOptions::default())));
        group.bench_function(id("memory"), |b| b.iter(|| black_box(program.plan(&PlanOptions::default()))));
    }
    group.finish();
}

criterion_group!(benches, resnet_152, growth);
criterion_main!(benches);
