//! Tests the invariants P1 to P9 of memory plans, which `memory/mod.rs` lists, on random programs.

use super::interpreter::run;
use super::program::{Program, all_options, programs};
use crate::memory::{Algorithm, EntryKind, MemoryPlan, Placement, PlanOptions, PlanReport};
use proptest::prelude::*;

/// The device's name, and the start and end in its arena.
type Range = (String, usize, usize);

/// The range of bytes of a placed entry.
fn range(program: &Program, plan: &MemoryPlan, e: usize) -> Option<Range> {
    let Placement::Storage(id) = plan.placements[e] else { return None };
    let storage = plan.storages[id.index()];
    let start = storage.offset_bytes;
    Some((storage.device.to_string(), start, start + program.entries[e].size_bytes))
}

/// The chain of each entry: entries connected by in-place pairs have the same number.
fn chains(program: &Program, plan: &MemoryPlan) -> Vec<usize> {
    let mut chain: Vec<usize> = (0..program.entries.len()).collect();
    for pair in &plan.inplace {
        let step = &program.steps[pair.step];
        chain[step.outputs[pair.output].index()] = chain[step.inputs[pair.input].index()];
    }
    chain
}

fn check_sharing(program: &Program, plan: &MemoryPlan) {
    let lifetimes = program.lifetimes();
    let chain = chains(program, plan);
    let placed: Vec<(usize, Range, (usize, usize))> = (0..program.entries.len())
        .filter_map(|e| Some((e, range(program, plan, e)?, lifetimes[e]?)))
        .filter(|(_, r, _)| r.1 < r.2)
        .collect();
    for (i, (a, place_a, life_a)) in placed.iter().enumerate() {
        for (b, place_b, life_b) in &placed[i + 1..] {
            let shares = place_a.0 == place_b.0 && place_a.1 < place_b.2 && place_b.1 < place_a.2;
            let together = life_a.0 <= life_b.1 && life_b.0 <= life_a.1;
            assert!(!(shares && together) || chain[*a] == chain[*b], "P1: entries {a} and {b}");
        }
    }
    for pair in plan.inplace.iter().filter(|p| !p.is_identity) {
        let step = &program.steps[pair.step];
        let output = step.outputs[pair.output].index();
        for (e, _, life) in &placed {
            let is_older = *e != output && chain[*e] == chain[output] && life.0 < pair.step;
            assert!(!is_older || life.1 <= pair.step, "P5: entry {e} is read after step {}", pair.step);
        }
    }
}

/// The largest number of bytes alive at one step, found by checking every step.
fn peak_live(program: &Program, plan: &MemoryPlan) -> usize {
    let lifetimes = program.lifetimes();
    let chain = chains(program, plan);
    let mut devices: Vec<_> = program.entries.iter().map(|e| e.device).collect();
    devices.dedup();
    devices.sort_by_key(|d| d.to_string());
    devices.dedup();
    let mut sum = 0;
    for device in devices {
        let mut peak = 0;
        for s in 0..=program.steps.len() {
            let mut alive: Vec<(usize, usize)> = Vec::new();
            for e in 0..program.entries.len() {
                if let (Some(life), Placement::Storage(_)) = (lifetimes[e], plan.placements[e])
                    && life.0 <= s
                    && life.1 >= s
                    && program.entries[e].device == device
                {
                    alive.push((chain[e], program.entries[e].size_bytes));
                }
            }
            alive.sort_unstable();
            alive.dedup();
            let scratch = program.steps.get(s).map_or(0, |step| {
                let id = plan.scratch[s].filter(|id| plan.storages[id.index()].device == device);
                id.map_or(0, |_| step.scratch_bytes)
            });
            peak = peak.max(alive.iter().map(|(_, bytes)| bytes).sum::<usize>() + scratch);
        }
        sum += peak;
    }
    sum
}

/// The size of the smallest plan among the ranges that the pool tried.
fn least(report: &PlanReport) -> usize {
    report.tried.iter().map(|t| t.bytes).min().unwrap_or(usize::MAX)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// P1, P2, P3, P4, P5, P6, P7, P8, P9: checks these invariants for every algorithm and option.
    #[test]
    fn p1_to_p9_hold(program in programs(60)) {
        let plain = run(&program, None);
        for options in all_options() {
            let plan = program.plan(&options);
            check_sharing(&program, &plan);
            for (entry, placement) in program.entries.iter().zip(&plan.placements) {
                // P2: exactly the planned entries have memory or are unreferenced.
                let is_planned = matches!(placement, Placement::Storage(_) | Placement::Unreferenced);
                prop_assert_eq!(is_planned, entry.kind == EntryKind::Planned);
            }
            for (lifetime, placement) in program.lifetimes().iter().zip(&plan.placements) {
                prop_assert!(lifetime.is_none() || *placement != Placement::Unreferenced);
            }
            // P6: the same input gives an equal plan.
            prop_assert_eq!(&program.plan(&options), &plan);
            // P7: results are those without sharing. `run` also asserts P3 and P4.
            prop_assert_eq!(&run(&program, Some(&plan)), &plain, "P7 with {:?}", options);
            // P8 and P9 are the upper and the lower bound of the plan's size.
            let report = &plan.report;
            let n_planned = plan.storages.len();
            let padding = if report.algorithm == Algorithm::Offset && !options.allow_pool { 63 * n_planned } else { 0 };
            prop_assert!(report.bytes <= report.unshared_bytes + padding, "P8 {}", report);
            prop_assert_eq!(report.algorithm == Algorithm::Offset, report.tried.is_empty() || report.bytes < least(report));
            prop_assert!(report.lower_bound_bytes <= report.bytes, "P9 {}", report);
            prop_assert_eq!(report.lower_bound_bytes, peak_live(&program, &plan), "{:?}", options);
            prop_assert_eq!(report.n_inplace, plan.inplace.len());
            prop_assert!(plan.inplace.is_sorted_by_key(|pair| pair.step));
            prop_assert!(options.enable_inplace || plan.inplace.is_empty());
            let arenas: usize = plan.arenas.iter().map(|(_, bytes)| bytes).sum();
            prop_assert!(arenas >= report.bytes);
            prop_assert!(plan.storages.iter().all(|s| s.offset_bytes % 64 == 0));
        }
    }

    /// The default plan is at most as large as the plans of all ranges that were tried, and as a plan without reuse. Other
    /// ranges or more colors may happen to give a smaller plan, because the algorithms are greedy.
    #[test]
    fn the_default_is_never_larger_than_what_it_competes_with(program in programs(40)) {
        let default = program.plan(&PlanOptions::default()).report;
        let tried: Vec<u32> = default.tried.iter().map(|t| t.match_range).collect();
        prop_assert_eq!(&tried, &[1, 2, 4, 8, 16]);
        for range in tried.into_iter().chain([0]) {
            for auto_search in [true, false] {
                let options = PlanOptions { match_range: Some(range), auto_search, ..PlanOptions::default() };
                let bytes = program.plan(&options).report.bytes;
                prop_assert!(default.bytes <= bytes, "{} > {} with {:?}", default.bytes, bytes, options);
            }
        }
        if let Some(offset_bytes) = default.offset_bytes {
            prop_assert!(default.bytes <= offset_bytes);
        }
    }
}
