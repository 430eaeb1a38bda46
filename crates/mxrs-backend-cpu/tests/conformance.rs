//! Every sample of every operator this backend takes, gradients included, against the reference kernels: on one thread and
//! on two, at every level of instructions.

use mxrs_backend_cpu::{CpuBackend, Level};
use mxrs_op::{Backend, OpDef, Pointwise, Sample, Support};
use mxrs_sync::{Team, TeamConfig};
use mxrs_testkit::conformance::{self, Prepared, Runner};
use std::num::NonZeroUsize;
use std::sync::Arc;

fn team(threads: usize) -> Arc<Team> {
    let threads = NonZeroUsize::new(threads).expect("a positive number");
    Team::new(TeamConfig { threads, cpus: None }).expect("threads can be started")
}

#[test]
fn agrees_with_the_reference_on_every_sample() {
    let mut problems = Vec::new();
    let mut n_compared = 0;
    let ops = mxrs_ops::catalogue();
    for level in Level::available() {
        for threads in [1, 2] {
            let team = team(threads);
            let backend = CpuBackend::with_level(&team, level);
            for op in ops.iter().chain(ops.companions()) {
                let report = conformance::run(&*backend, op, &team);
                n_compared += report.n_compared();
                let line = |(case, what): &(_, String)| format!("{} {threads} threads: {case}: {what}", level.name());
                problems.extend(report.failed.iter().map(line));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems[..problems.len().min(20)].join("\n"));
    assert!(n_compared > 1000, "only {n_compared} comparisons: does the backend still take anything?");
}

/// The operator's first sample with tensors of `n` elements.
fn of_size(op: &OpDef, n: usize) -> Option<Sample> {
    let mut sample = (op.samples)().into_iter().next()?;
    sample.inputs.iter_mut().for_each(|input| input.shape = [n].into());
    Some(sample)
}

#[test]
fn pointwise_operators_of_every_size() {
    let team = team(2);
    let backend = CpuBackend::new(&team);
    let ops = mxrs_ops::catalogue();
    let mut n_compared = 0;
    for op in ops.iter().chain(ops.companions()).filter(|op| op.pointwise == Pointwise::Yes) {
        for n in [0, 1, 7, 8, 9, 63, 65, 100_003] {
            let Some(sample) = of_size(op, n) else { continue };
            for dtype in op.dtypes {
                let prepared = Prepared::new(op, &sample, *dtype).expect("a possible call");
                let is_constant = vec![false; prepared.inputs.len()];
                if matches!(backend.supports(&prepared.call(op, &is_constant)), Support::No(_)) {
                    continue;
                }
                Runner::new(&*backend, op, &prepared, &is_constant, &team)
                    .and_then(|runner| runner.check_all(&team))
                    .unwrap_or_else(|what| panic!("{} of {n} {dtype}: {what}", op.name));
                n_compared += 1;
            }
        }
    }
    assert!(n_compared > 500, "only {n_compared} comparisons");
}
