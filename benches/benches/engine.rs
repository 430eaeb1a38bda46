//! Times empty tasks in the engine: a chain on one variable, tasks on independent variables, and tasks with four reads and
//! one write.
#![allow(missing_docs)] // criterion's macros make an undocumented main

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mxrs_engine::{Engine, EngineConfig, Var};

const TASKS: u64 = 1000;

fn push_all(engine: &Engine, n_reads: usize, vars: &[Var]) {
    for i in 0..TASKS as usize {
        let write = &vars[i % vars.len()];
        let mut task = engine.task("empty").write(write);
        for r in 1..=n_reads {
            task = task.read(&vars[(i + r) % vars.len()]);
        }
        task.push(|_| Ok(())).expect("the engine runs");
    }
    engine.wait_for_all().expect("no task fails");
}

fn engine(c: &mut Criterion) {
    let engine = Engine::new(EngineConfig::default()).expect("the engine starts");
    let mut group = c.benchmark_group("engine/cpu");
    group.throughput(Throughput::Elements(TASKS));
    for (name, n_vars, n_reads) in [("chain", 1, 0), ("independent", 64, 0), ("4_reads_1_write", 64, 4)] {
        let vars: Vec<Var> = (0..n_vars).map(|_| engine.new_var()).collect();
        group.bench_function(name, |b| b.iter(|| push_all(&engine, n_reads, &vars)));
    }
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
