//! The memory plan: the offset and lifetime of each temporary value of a run.
//!
//! - Needs a program whose additions and concatenations are final.
//! - Promises that two values, or a value and scratch memory, overlap only if no step needs both, or if the kernel runs in
//!   place.
//! - Switch: none, because a program cannot run without memory. [`BindOptions::plan`](crate::BindOptions::plan)
//!   (`MXRS_PLAN`) chooses the algorithm.
//!
//! The pass itself is [`ProgramState::plan`](super::ProgramState::plan), which plans each program once.

use super::add_in_place;
use super::fuse_add::without_additions_of_kernels;
use crate::program::{Action, Origin, Program, REORDER, Step, Value, ValueId};
use mxrs_graph::{EntryId, EntryKind, MemoryPlan, PlanEntry, PlanOptions, PlanStep, plan_memory};
use mxrs_types::{Device, Result};

/// Bytes of the arena of a plan on a device.
pub fn arena_bytes_on(plan: &MemoryPlan, device: Device) -> usize {
    plan.arenas.iter().filter(|(of, _)| *of == device).map(|(_, bytes)| bytes).sum()
}

/// Bytes of the arenas of a plan, on all devices together.
pub fn arena_bytes(plan: &MemoryPlan) -> usize {
    plan.arenas.iter().map(|(_, bytes)| bytes).sum()
}

/// Bytes of the arena that a program would have after additions are fused or made in place. Graph passes compare candidates
/// by this number.
///
/// # Errors
/// Returns the errors of the planner.
pub fn planned_arena_bytes(program: &Program, options: &PlanOptions) -> Result<usize> {
    let quiet = PlanOptions { verbose: false, ..*options };
    let fused = options.enable_inplace.then(|| without_additions_of_kernels(program)).flatten();
    let program = fused.as_ref().unwrap_or(program);
    let plain = || plan(program, &quiet);
    let best = match add_in_place::in_place(program, &quiet)? {
        Some((_, memory)) => {
            let plain = plain()?;
            if plain.report.bytes < memory.report.bytes { plain } else { memory }
        }
        None => plain()?,
    };
    Ok(arena_bytes(&best))
}

/// Like [`planned_arena_bytes`], but for the graph's own tensors only: without scratch memory, and without copies of
/// parameters and their gradients in the layouts of kernels.
///
/// # Errors
/// Returns the errors of the planner.
pub fn planned_tensor_bytes(program: &Program, options: &PlanOptions) -> Result<usize> {
    let mut program = program.clone();
    let is_bound = |values: &[Value], v: ValueId| matches!(values[v].origin, Origin::Bound(_));
    let is_head = |values: &[Value], v: ValueId| matches!(values[v].origin, Origin::Output(_));
    for step in &mut program.steps {
        step.scratch_bytes = 0;
        if step.op != REORDER {
            continue;
        }
        let (from, to) = (step.inputs[0], step.outputs[0]);
        for (is_copy, copy) in [(is_bound(&program.values, from), to), (is_head(&program.values, to), from)] {
            // The copy is marked as packed, so that it is not counted: the planner puts packed values outside the
            // arena.
            if is_copy && program.values[copy].origin == Origin::Temporary {
                program.values[copy].origin = Origin::Packed;
            }
        }
    }
    planned_arena_bytes(&program, options)
}

/// Describes a program to the planner, and returns its plan.
///
/// # Errors
/// Returns an error if the program contradicts itself or sizes overflow.
pub fn plan(program: &Program, options: &PlanOptions) -> Result<MemoryPlan> {
    let entries: Vec<PlanEntry> = program
        .values
        .iter()
        .map(|value| PlanEntry {
            size_bytes: value.desc.size_bytes(),
            device: value.device,
            kind: if value.origin == Origin::Temporary { EntryKind::Planned } else { EntryKind::External },
        })
        .collect();
    let ids = |values: &[ValueId]| values.iter().map(|&v| EntryId::new(v)).collect();
    let mut is_begun = vec![false; program.values.len()];
    let mut planned = |step: &Step| {
        let whole = |value: &&ValueId| program.base(**value) != **value;
        if step.inputs.iter().any(|value| whole(&value)) {
            // The step is a concatenation in place: all parts are written already, and the step reads no other value.
            return PlanStep { inputs: ids(&step.outputs), ..PlanStep::default() };
        }
        let mut plan = PlanStep {
            inputs: ids(&step.inputs),
            outputs: ids(&step.outputs),
            inplace: step.inplace.clone(),
            identity: if matches!(step.action, Action::View) { vec![(0, 0)] } else { Vec::new() },
            ignored_inputs: step.ignored_inputs.clone(),
            scratch_bytes: step.scratch_bytes,
        };
        // The step that makes the first part also makes the whole. Steps that make later parts take the whole as an input.
        for part in step.outputs.iter().filter(whole) {
            let whole = program.base(*part);
            let list = if is_begun[whole] { &mut plan.inputs } else { &mut plan.outputs };
            list.push(EntryId::new(whole));
            is_begun[whole] = true;
        }
        plan
    };
    let mut steps: Vec<PlanStep> = program.steps.iter().map(&mut planned).collect();
    for sum in &program.sums {
        // An addition in place: the first term is an additional input of the step that makes the second term, and this
        // step writes the sum to the memory of the first term.
        let step = &mut steps[sum.step];
        step.inplace.retain(|(_, output)| *output != sum.output);
        step.inplace.insert(0, (step.inputs.len(), sum.output));
        step.inputs.push(EntryId::new(sum.onto));
    }
    let heads: Vec<EntryId> = program.outputs.iter().map(|&v| EntryId::new(v)).collect();
    plan_memory(&steps, &entries, &heads, options)
}
