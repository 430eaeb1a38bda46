//! Special cases of the planner.

use super::interpreter::run;
use super::program::{Program, all_options};
use crate::EntryId;
use crate::memory::{Algorithm, EntryKind, Placement, PlanOptions, PlanStep, plan_memory};
use mxrs_sync::Arc;
use mxrs_sync::atomic::{AtomicUsize, Ordering};

#[test]
fn a_head_listed_twice_and_read_later_is_kept() {
    let mut p = Program::default();
    let x = p.entry(64, EntryKind::External);
    let a = p.step(&[x], 64, &[(0, 0)]);
    let b = p.step(&[a], 64, &[(0, 0)]);
    let c = p.step(&[b], 64, &[(0, 0)]);
    p.heads = vec![a, a, c];
    for options in all_options() {
        let plan = p.plan(&options);
        assert_ne!(plan.storage(a), plan.storage(b));
        assert_eq!(run(&p, Some(&plan)), run(&p, None));
    }
}

#[test]
fn one_input_read_twice_by_a_step_is_not_overwritten() {
    let mut p = Program::default();
    let x = p.entry(64, EntryKind::External);
    let a = p.step(&[x], 64, &[]);
    let b = p.step(&[a, a], 64, &[(0, 0)]);
    p.heads = vec![b];
    assert_eq!(p.plan(&PlanOptions::default()).inplace, []);
}

#[test]
fn an_identity_shares_with_later_readers_but_is_then_protected() {
    let mut p = Program::default();
    let x = p.entry(64, EntryKind::External);
    let a = p.step(&[x], 64, &[]);
    let view = p.step(&[a], 64, &[]);
    p.steps[1].identity = vec![(0, 0)];
    let changed = p.step(&[view], 64, &[(0, 0)]);
    let last = p.step(&[a, changed], 64, &[]);
    p.heads = vec![last];
    for options in all_options().into_iter().filter(|o| o.enable_inplace) {
        let plan = p.plan(&options);
        assert_eq!(plan.storage(a), plan.storage(view));
        // A later step reads `a`, so no step may overwrite `view`, which shares the memory of `a`.
        assert_eq!(plan.inplace.len(), 1);
        assert_eq!(run(&p, Some(&plan)), run(&p, None));
    }
}

#[test]
fn zero_sizes_never_share_and_cost_nothing() {
    let mut p = Program::default();
    let x = p.entry(64, EntryKind::External);
    let a = p.step(&[x], 0, &[]);
    let b = p.step(&[a], 0, &[(0, 0)]);
    let c = p.step(&[b], 0, &[(0, 0)]);
    p.heads = vec![c];
    for options in all_options() {
        let plan = p.plan(&options);
        assert_eq!((plan.report.bytes, plan.inplace.len()), (0, 0));
        assert!(plan.storage(a) != plan.storage(b) && plan.storage(b) != plan.storage(c));
    }
}

#[test]
fn entries_nobody_reads_take_no_memory() {
    let mut p = Program::default();
    let x = p.entry(64, EntryKind::External);
    let (out, mask) = (p.entry(64, EntryKind::Planned), p.entry(640, EntryKind::Planned));
    p.steps.push(PlanStep { inputs: vec![x], outputs: vec![out, mask], ..PlanStep::default() });
    // The last step has `label` as an input, but does not read its content, so `label` needs no memory.
    let label = p.step(&[x], 64, &[]);
    let last = p.step(&[out, label], 64, &[]);
    p.steps[2].ignored_inputs = vec![1];
    p.heads = vec![last];
    let plan = p.plan(&PlanOptions::default());
    assert_eq!(plan.placements[mask.index()], Placement::Unreferenced);
    assert_eq!(plan.placements[label.index()], Placement::Unreferenced);
    assert_eq!(plan.report.unshared_bytes, 128);
}

#[test]
fn storages_beyond_four_gigabytes() {
    let mut p = Program::default();
    let x = p.entry(64, EntryKind::External);
    let large = 3usize << 33;
    let a = p.step(&[x], large, &[]);
    let b = p.step(&[a], large + 64, &[]);
    p.heads = vec![b];
    for options in all_options() {
        assert_eq!(p.plan(&options).report.bytes, 2 * large + 64);
    }
    p.entries[a.index()].size_bytes = usize::MAX - 10;
    let error = plan_memory(&p.steps, &p.entries, &p.heads, &PlanOptions::default()).unwrap_err();
    assert!(error.to_string().contains("does not fit"), "{error}");
}

#[test]
fn steps_that_contradict_themselves_are_refused() {
    let fails = |change: &dyn Fn(&mut Program), words: &str| {
        let mut p = Program::default();
        let x = p.entry(64, EntryKind::External);
        let a = p.step(&[x], 64, &[(0, 0)]);
        let b = p.step(&[a], 64, &[(0, 0)]);
        p.heads = vec![b];
        change(&mut p);
        let error = plan_memory(&p.steps, &p.entries, &p.heads, &PlanOptions::default()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}: {words}");
    };
    fails(&|p| p.steps.swap(0, 1), "input 0 of step 0");
    fails(&|p| p.steps[1].outputs[0] = EntryId(1), "output 0 of step 1");
    fails(&|p| p.steps[1].inputs[0] = EntryId(9), "input 0 of step 1");
    fails(&|p| p.steps[0].inplace[0] = (1, 0), "in-place pair of step 0");
    fails(&|p| p.heads[0] = EntryId(3), "head 0");
}

/// A program of `n` steps, each of which reads the last output and an earlier one.
fn skip_chain(n: usize) -> Program {
    let mut p = Program::default();
    let x = p.entry(64, EntryKind::External);
    let mut made = vec![x];
    for i in 0..n {
        let near = made[made.len() - 1];
        let far = made[made.len() - 1 - (i * 7919) % made.len().min(40)];
        let size = 64 * (1 + (i * 104_729) % 97);
        made.push(p.step(&[near, far], size, &[]));
    }
    p.heads = vec![made[n]];
    p
}

#[test]
fn offsets_come_close_to_the_bound_on_long_programs() {
    let report = skip_chain(3000).plan(&PlanOptions::default()).report;
    assert_eq!(report.algorithm, Algorithm::Offset);
    // The offset planner stays close to the lower bound; every plan of the pool is larger.
    let (offset, bound) = (report.bytes as f64, report.lower_bound_bytes as f64);
    assert!(offset / bound < 1.25, "{report}");
    assert!(report.tried.iter().all(|t| t.bytes > report.bytes), "{report}");
}

#[test]
fn scratch_of_different_steps_shares_with_offsets() {
    let mut p = skip_chain(20);
    p.steps.iter_mut().for_each(|s| s.scratch_bytes = 1 << 20);
    let report = p.plan(&PlanOptions::default()).report;
    assert_eq!(report.algorithm, Algorithm::Offset);
    assert!(report.bytes < 2 << 20, "{report}");
}

/// Counts log events.
#[derive(Default)]
struct Counter(Arc<AtomicUsize>);

impl tracing::Subscriber for Counter {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn b29_logs_one_line_per_entry_and_changes_nothing() {
    let p = skip_chain(30);
    let lines = |verbose| {
        let counter = Counter::default();
        let count = counter.0.clone();
        let plan =
            tracing::subscriber::with_default(counter, || p.plan(&PlanOptions { verbose, ..PlanOptions::default() }));
        (plan, count.load(Ordering::Relaxed))
    };
    let (quiet, verbose) = (lines(false), lines(true));
    assert_eq!(quiet.0, verbose.0);
    // One line per entry, and one line for the report.
    assert_eq!((quiet.1, verbose.1), (0, p.entries.len() + 1));
    assert!(quiet.0.report.to_string().contains("lower bound"));
}
