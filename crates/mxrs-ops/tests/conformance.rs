//! Runs the conformance tests of backends on the reference backend itself: every sample of every operator, including those
//! that only gradients call, gives the same numbers for every request, in place, and on any number of threads, with every
//! dtype.

use mxrs_op::ReferenceBackend;
use mxrs_testkit::conformance::{self, Report, team};

#[test]
fn every_sample_runs_in_every_way() {
    let team = team(2);
    let mut report = Report::default();
    let ops = mxrs_ops::catalog();
    for op in ops.iter().chain(ops.companions()).filter(|op| !op.is_replaced()) {
        let one = conformance::run(&ReferenceBackend, op, &team);
        assert!(one.n_compared() > 0, "{}: nothing was compared", op.name);
        report.extend(one);
    }
    report.assert_ok();
    assert!(report.skipped.is_empty(), "the reference supports every call: {report}");
}

#[test]
fn samples_have_unique_names_and_cover_the_corners() {
    let ops = mxrs_ops::catalog();
    let mut wrong = Vec::new();
    for op in ops.iter().chain(ops.companions()).filter(|op| !op.is_replaced()) {
        assert!(op.is_built() && !op.summary.is_empty(), "{}", op.name);
        let samples = (op.samples)();
        let mut names: Vec<&str> = samples.iter().map(|s| s.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), samples.len(), "{}: sample names repeat", op.name);
        if samples.iter().any(|s| !s.inputs.is_empty()) {
            let has = |n: usize| samples.iter().any(|s| s.inputs.iter().any(|i| i.shape.n_elements() == n));
            if !has(0) {
                wrong.push(format!("{}: no sample without elements", op.name));
            }
            if samples.len() < 4 {
                wrong.push(format!("{}: only {} samples", op.name, samples.len()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
