//! Tests P10: reuse causes no race if steps run in any order that their variables allow, as in an engine with several
//! workers.

use super::interpreter::{run, run_in_order};
use super::program::{Program, all_options, programs};
use crate::EntryId;
use crate::memory::{Algorithm, MemoryPlan, Placement, PlanOptions, StorageId};
use proptest::prelude::*;
use rustc_hash::FxHashSet;

/// A variable that steps list as read or written: the storage of an entry if it has one, otherwise the entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Variable {
    Storage(StorageId),
    Entry(EntryId),
}

fn variable(plan: &MemoryPlan, entry: EntryId) -> Option<Variable> {
    match plan.placements[entry.index()] {
        Placement::Storage(id) => Some(Variable::Storage(id)),
        Placement::External | Placement::Dynamic => Some(Variable::Entry(entry)),
        Placement::Unreferenced => None,
    }
}

fn overlaps(plan: &MemoryPlan, a: StorageId, b: StorageId) -> bool {
    let (a, b) = (plan.storages[a.index()], plan.storages[b.index()]);
    let end = |s: crate::memory::Storage| s.offset_bytes + s.size_bytes;
    a.device == b.device && a.offset_bytes < end(b) && b.offset_bytes < end(a)
}

/// The variables that every step reads, and those that it writes. With `has_reuse_edges`, the first writer of a storage also
/// lists as written every earlier storage whose bytes overlap with that storage, as an offset plan requires.
fn lists(program: &Program, plan: &MemoryPlan, has_reuse_edges: bool) -> Vec<[FxHashSet<Variable>; 2]> {
    let mut in_use: Vec<StorageId> = Vec::new();
    let mut lists = Vec::new();
    for (s, step) in program.steps.iter().enumerate() {
        let read = step.inputs.iter().enumerate().filter(|(i, _)| !step.ignored_inputs.contains(i));
        let reads: FxHashSet<Variable> = read.filter_map(|(_, e)| variable(plan, *e)).collect();
        let scratch = plan.scratch[s].map(Variable::Storage);
        let mut writes: FxHashSet<Variable> =
            step.outputs.iter().filter_map(|e| variable(plan, *e)).chain(scratch).collect();
        let written: Vec<Variable> = writes.iter().copied().collect();
        for storage in written.into_iter().filter_map(|v| if let Variable::Storage(id) = v { Some(id) } else { None }) {
            if has_reuse_edges && !in_use.contains(&storage) {
                let earlier = in_use.iter().filter(|other| overlaps(plan, storage, **other));
                writes.extend(earlier.map(|id| Variable::Storage(*id)));
            }
            in_use.push(storage);
        }
        lists.push([reads, writes]);
    }
    lists
}

/// For each step, the steps that must run before it: the steps pushed earlier that write a variable that this step lists, or
/// that read a variable that this step writes.
fn before(lists: &[[FxHashSet<Variable>; 2]]) -> Vec<Vec<usize>> {
    let waits = |earlier: &[FxHashSet<Variable>; 2], [reads, writes]: &[FxHashSet<Variable>; 2]| {
        !earlier[1].is_disjoint(reads) || !earlier[1].is_disjoint(writes) || !earlier[0].is_disjoint(writes)
    };
    let of = |s: usize| (0..s).filter(|earlier| waits(&lists[*earlier], &lists[s])).collect();
    (0..lists.len()).map(of).collect()
}

/// An order that the engine may choose, determined by `choices`.
fn order(before: &[Vec<usize>], choices: &[u16]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    let mut choices = choices.iter().cycle();
    while order.len() < before.len() {
        let is_ready = |s: &usize| !order.contains(s) && before[*s].iter().all(|b| order.contains(b));
        let ready: Vec<usize> = (0..before.len()).filter(is_ready).collect();
        let choice = choices.next().map_or(0, |c| *c as usize);
        // Prefers late steps, so that a missing dependency is detected.
        order.push(ready[ready.len() - 1 - choice % ready.len().min(3)]);
    }
    order
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn p10_reuse_never_races(
        program in programs(60),
        choices in prop::collection::vec(any::<u16>(), 1..30),
    ) {
        let plain = run(&program, None);
        for options in all_options() {
            let plan = program.plan(&options);
            let is_offset = plan.report.algorithm == Algorithm::Offset;
            let before = before(&lists(&program, &plan, is_offset));
            let order = order(&before, &choices);
            prop_assert_eq!(&run_in_order(&program, Some(&plan), &order), &plain, "{:?} in order {:?}", options, order);
        }
    }
}

/// Without the edges between storages that overlap, an offset plan has a race. So `p10_reuse_never_races` can detect races.
#[test]
fn p10_needs_the_edges_of_an_offset_plan() {
    use crate::memory::EntryKind;
    let mut p = Program::default();
    let x = p.entry(64, EntryKind::External);
    // Two chains that do not depend on each other.
    let mut ends = [x, x];
    for size in [640, 64, 320, 64] {
        ends = ends.map(|end| p.step(&[end], size, &[]));
    }
    p.heads = ends.to_vec();
    let plan = p.plan(&PlanOptions { allow_pool: false, ..PlanOptions::default() });
    let observed = |has_edges: bool| {
        let before = before(&lists(&p, &plan, has_edges));
        run_in_order(&p, Some(&plan), &order(&before, &[0, 1]))
    };
    let plain = run(&p, None);
    assert_eq!(observed(true), plain);
    assert_ne!(observed(false), plain);
}
