//! Tests the observable effect of each environment variable according to the manual. The test names contain the variables'
//! identifiers in `docs/env.md` (D10, D11, D12, B28).

use super::interpreter::run;
use super::program::Program;
use crate::memory::{Algorithm, EntryKind, PlanOptions, TriedRange};

fn explicit(match_range: u32) -> PlanOptions {
    PlanOptions { match_range: Some(match_range), ..PlanOptions::default() }
}

/// `relu(relu(x + 1))` on 1000 floats.
fn relu_relu() -> Program {
    let mut p = Program::default();
    let x = p.entry(4000, EntryKind::External);
    let plus = p.step(&[x], 4000, &[(0, 0)]);
    let a = p.step(&[plus], 4000, &[(0, 0)]);
    let b = p.step(&[a], 4000, &[(0, 0)]);
    p.heads = vec![b];
    p
}

#[test]
fn d10_in_place_pairs_and_bytes() {
    let p = relu_relu();
    let on = p.plan(&PlanOptions::default());
    let off = p.plan(&PlanOptions { enable_inplace: false, ..PlanOptions::default() });
    // `x` belongs to the caller, so the first step needs other memory; the later steps work in place.
    assert_eq!((on.report.n_inplace, on.report.bytes), (2, 4000));
    // Without pairs each step needs input and output at the same time; memory is still reused after release.
    assert_eq!((off.report.n_inplace, off.report.lower_bound_bytes), (0, 8000));
    assert!(on.report.bytes < off.report.bytes);
    assert_eq!(run(&p, Some(&on)), run(&p, Some(&off)));
    // Without in-place pairs and with a match range of 0, nothing is shared.
    let off = p.plan(&PlanOptions { enable_inplace: false, ..explicit(0) });
    assert_eq!(off.report.bytes, 12_000);
}

/// A chain whose outputs have 1, 3, 9 and 27 units of 4 bytes.
fn powers_of_three() -> Program {
    let mut p = Program::default();
    let mut last = p.entry(4, EntryKind::External);
    for units in [1, 3, 9, 27] {
        last = p.step(&[last], 4 * units, &[]);
    }
    p.heads = vec![last];
    p
}

#[test]
fn d11_sweeps_and_reports_every_range() {
    let p = powers_of_three();
    let report = p.plan(&explicit(16)).report;
    let ranges: Vec<u32> = report.tried.iter().map(|t| t.match_range).collect();
    assert_eq!(ranges, [1, 2, 4, 8, 16]);
    // Computed by hand: a storage is free two steps after it was made, and the request at that step is 9 times as large.
    // With ranges below 9, no storage is reused, so there are four. With range 16, the request of 9 units takes the storage
    // of 1 unit, which grows, and the request of 27 units takes the storage of 3 units.
    let bytes: Vec<usize> = report.tried.iter().map(|t| t.bytes).collect();
    assert_eq!(bytes, [160, 160, 160, 160, 144]);
    assert_eq!((report.algorithm, report.bytes), (Algorithm::Pool { match_range: 16 }, 144));
    assert_eq!(p.plan(&explicit(0)).report.tried, [TriedRange { match_range: 0, bytes: 160 }]);
    assert!(p.plan(&explicit(1)).report.bytes >= p.plan(&explicit(16)).report.bytes);
    // If several ranges give plans of the same size, the first of them is chosen.
    assert_eq!(p.plan(&explicit(8)).report.algorithm, Algorithm::Pool { match_range: 1 });
    // A value that is not a power of two is tried too.
    let ranges: Vec<u32> = p.plan(&explicit(10)).report.tried.iter().map(|t| t.match_range).collect();
    assert_eq!(ranges, [1, 2, 4, 8, 10]);
}

/// At the time of the request for `bytes`, storages of 64, 256 and 320 bytes are free. A fourth storage, of 8 bytes, is
/// still in use and cannot be taken.
#[test]
fn d11_takes_the_smallest_that_is_large_enough_else_the_largest() {
    let total = |bytes| {
        let mut p = Program::default();
        let x = p.entry(4, EntryKind::External);
        let freed = [64, 256, 320].map(|size| p.step(&[x], size, &[]));
        let reader = p.step(&freed, 8, &[]);
        let last = p.step(&[reader], bytes, &[]);
        p.heads = vec![last];
        p.plan(&PlanOptions { auto_search: false, ..explicit(16) }).report.bytes - 8
    };
    assert_eq!(total(100), 64 + 256 + 320);
    // The storage of 320 bytes grows, not that of 64.
    assert_eq!(total(1000), 64 + 256 + 1000);
    // For the first request, all free storages are too small by more than the match range. For the second, all are too
    // large by more than the match range.
    assert_eq!([total(320 * 16 + 1), total(3)], [64 + 256 + 320 + 320 * 16 + 1, 64 + 256 + 320 + 3]);
}

#[test]
fn b28_off_tries_one_range() {
    let p = powers_of_three();
    let tried = |auto_search| p.plan(&PlanOptions { auto_search, ..explicit(16) }).report.tried.len();
    assert_eq!((tried(true), tried(false)), (5, 1));
    let report = p.plan(&PlanOptions { auto_search: false, ..PlanOptions::default() }).report;
    assert_eq!(report.tried.len(), 1);
}

#[test]
fn unset_takes_the_smallest_of_all() {
    let report = powers_of_three().plan(&PlanOptions::default()).report;
    // The outputs of 9 and 27 units are alive at the same time: 36 units are 144 bytes, and the pool needs no more. The
    // offset planner needs more, because 27 units are 108 bytes, and the next aligned offset is 128.
    assert_eq!(report.lower_bound_bytes, 144);
    assert_eq!(report.bytes, 144);
    assert_eq!(report.offset_bytes, Some(128 + 36));
    assert!(powers_of_three().plan(&explicit(16)).report.offset_bytes.is_none());
}

/// Two branches of four steps each, from one source to one common end.
fn two_branches() -> Program {
    let mut p = Program::default();
    let x = p.entry(64, EntryKind::External);
    let source = p.step(&[x], 64, &[]);
    let mut ends = [source, source];
    for _ in 0..4 {
        for end in &mut ends {
            *end = p.step(&[*end], 64, &[]);
        }
    }
    let joined = p.step(&ends, 64, &[]);
    p.heads = vec![joined];
    p
}

#[test]
fn d12_colors_keep_branches_apart() {
    let p = two_branches();
    let plan = |num_colors| p.plan(&PlanOptions { num_colors, ..PlanOptions::default() });
    let (one, two) = (plan(1), plan(2));
    let branch = |plan: &crate::MemoryPlan, which: usize| -> Vec<_> {
        (0..4).map(|i| plan.storage(p.steps[1 + 2 * i + which].outputs[0]).unwrap()).collect()
    };
    let shares = |plan: &crate::MemoryPlan| branch(plan, 0).iter().any(|s| branch(plan, 1).contains(s));
    let pool_one = p.plan(&PlanOptions { num_colors: 1, ..explicit(16) });
    assert!(shares(&pool_one) && !shares(&two));
    assert!(two.report.bytes > pool_one.report.bytes && two.report.bytes > one.report.bytes);
    assert_eq!((pool_one.report.n_colors, two.report.n_colors), (1, 2));
    // Values of 1 and below mean one color; the caller limits the value to the number of workers.
    assert_eq!(plan(0), plan(1));
}

#[test]
fn d12_bounds_the_number_of_workspaces() {
    let mut p = two_branches();
    p.steps.iter_mut().for_each(|s| s.scratch_bytes = 1000);
    let workspaces = |num_colors| {
        let plan = p.plan(&PlanOptions { num_colors, ..explicit(16) });
        let mut ids: Vec<_> = plan.scratch.iter().flatten().collect();
        ids.sort();
        ids.dedup();
        ids.len()
    };
    assert_eq!((workspaces(1), workspaces(2)), (1, 2));
}
