//! A program with its memory plan: where every value is, before there is memory.

use crate::inplace_add;
use crate::join::{self, Parts};
use crate::program::{Action, Origin, Program, REORDER, Step, Value, ValueId};
use crate::summed::with_sums;
use mxrs_graph::{EntryId, EntryKind, MemoryPlan, PlanEntry, PlanOptions, PlanStep, plan_memory};
use mxrs_ndarray::ArrayContext;
use mxrs_storage::{Block, Tag};
use mxrs_types::{Device, Result};
use std::sync::Arc;

/// Concatenations that are tried one by one; each costs a plan of the memory.
const MOST_TRIED: usize = 16;

/// Memory for the temporaries of a program, when there are any.
///
/// # Errors
/// Out of memory.
pub fn allocate_arena(plan: &MemoryPlan, context: &ArrayContext) -> Result<Option<Arc<Block>>> {
    match arena_bytes(plan) {
        0 => Ok(None),
        n => Ok(Some(Arc::new(context.storage().allocate(Device::cpu(0), n, Tag::new("executor:arena"))?))),
    }
}

/// Bytes of the temporaries.
pub fn arena_bytes(plan: &MemoryPlan) -> usize {
    plan.arenas.iter().map(|(_, bytes)| bytes).sum()
}

/// A program and where its values are, without memory: machines are made of it, any number of them.
pub struct Planned {
    pub program: Program,
    pub plan: MemoryPlan,
}

impl Planned {
    /// Plans the memory of a program; additions and concatenations that can be done in place are left out of it.
    ///
    /// # Errors
    /// A contradiction in the program, sizes that do not fit.
    pub fn new(program: Program, options: &PlanOptions) -> Result<Self> {
        let program = summed(program, options);
        if options.enable_inplace
            && let Some(joined) = joined(&program, options)?
        {
            let plan = plan(&joined, options)?;
            return Ok(Self { program: joined, plan });
        }
        let (folded, plan) = inplace_add::planned(&program, options)?;
        Ok(Self { program: folded.unwrap_or(program), plan })
    }
}

/// The program with concatenations in place, where that needs no larger arena: all of them, else those that need no copy at all, else
/// one after the other, the largest first.
fn joined(program: &Program, options: &PlanOptions) -> Result<Option<Program>> {
    let joints = join::joints(program);
    if joints.is_empty() {
        return Ok(None);
    }
    let quiet = PlanOptions { verbose: false, ..*options };
    let limit = arena_bytes(&plan(program, &quiet)?);
    let fitting = |which: Parts, steps: &[usize]| {
        let Some(joined) = join::joined(program, which, steps) else { return Ok(None) };
        let bytes = arena_bytes(&plan(&joined, &quiet)?);
        if bytes > limit {
            tracing::debug!(
                "{} concatenations in place ({which:?}) would need {bytes} bytes, not {limit}",
                steps.len()
            );
        }
        Ok((bytes <= limit).then_some(joined))
    };
    for which in [Parts::Some, Parts::All] {
        if let Some(joined) = fitting(which, &joints)? {
            return Ok(Some(joined));
        }
    }
    let (mut taken, mut best) = (Vec::new(), None);
    for step in joints.into_iter().take(MOST_TRIED) {
        taken.push(step);
        match fitting(Parts::Some, &taken)? {
            Some(joined) => best = Some(joined),
            None => _ = taken.pop(),
        }
    }
    Ok(best)
}

/// Bytes of the arena that a program would have.
///
/// # Errors
/// As [`Planned::new`].
pub fn planned_arena_bytes(program: &Program, options: &PlanOptions) -> Result<usize> {
    let summed = options.enable_inplace.then(|| with_sums(program)).flatten();
    let (_, plan) =
        inplace_add::planned(summed.as_ref().unwrap_or(program), &PlanOptions { verbose: false, ..*options })?;
    Ok(arena_bytes(&plan))
}

/// The program without the additions that kernels make.
fn summed(program: Program, options: &PlanOptions) -> Program {
    let summed = options.enable_inplace.then(|| with_sums(&program)).flatten();
    summed.unwrap_or(program)
}

/// As [`planned_arena_bytes`], of the graph's own tensors: without workspaces, and without parameters and their gradients
/// in layouts of kernels.
///
/// # Errors
/// As [`Planned::new`].
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
            // Not in the arena: to the planner any other memory is as good.
            if is_copy && program.values[copy].origin == Origin::Temporary {
                program.values[copy].origin = Origin::Packed;
            }
        }
    }
    planned_arena_bytes(&program, options)
}

/// What the planner is told of a program, and what it answers.
///
/// # Errors
/// As [`Planned::new`].
pub fn plan(program: &Program, options: &PlanOptions) -> Result<MemoryPlan> {
    let entries: Vec<PlanEntry> = program
        .values
        .iter()
        .map(|value| PlanEntry {
            size_bytes: value.desc.size_bytes(),
            device: Device::cpu(0),
            kind: if value.origin == Origin::Temporary { EntryKind::Planned } else { EntryKind::External },
        })
        .collect();
    let ids = |values: &[ValueId]| values.iter().map(|&v| EntryId::new(v)).collect();
    let mut is_begun = vec![false; program.values.len()];
    let mut planned = |step: &Step| {
        let whole = |value: &&ValueId| program.base(**value) != **value;
        if step.inputs.iter().any(|value| whole(&value)) {
            // All parts are there, and nothing else is read.
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
        // Whoever makes the first part makes the whole; to the others it is something that must be there.
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
        // To the planner the sum so far is one more input, whose memory the term takes.
        let step = &mut steps[sum.step];
        step.inplace.retain(|(_, output)| *output != sum.output);
        step.inplace.insert(0, (step.inputs.len(), sum.output));
        step.inputs.push(EntryId::new(sum.onto));
    }
    let heads: Vec<EntryId> = program.outputs.iter().map(|&v| EntryId::new(v)).collect();
    plan_memory(&steps, &entries, &heads, options)
}
