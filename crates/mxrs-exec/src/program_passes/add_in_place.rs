//! Additions in place: the step that makes the later term of a sum adds it to the earlier term, and the addition is left
//! out.
//!
//! In `s = _grad_add(a, b)`, or in another sum of two gradients, the term that is made first keeps its memory. The kernel
//! that makes the other term [adds](mxrs_op::Kernel::adds) it to this memory. Addition commutes, so no bit changes.
//!
//! - Needs the steps of a training program. An addition stays a step in three cases. First, another step reads a term
//!   after the sum may have overwritten it. Second, a term is a bound array or an output, or is made in the forward
//!   steps although the addition belongs to the gradient. Third, the kernel of the later term cannot add. A program
//!   with concatenations in place is not changed, because the pass that made them has already compared the bytes of its
//!   plan.
//! - Promises the same bits in an arena that is not larger. The program is planned with and without the additions.
//! - Switch: [`PlanOptions::enable_inplace`], on by default.

use super::plan_memory::plan;
use super::state::ProgramState;
use crate::program::{Action, Origin, Program, Step, Sum, ValueId, without_additions};
use mxrs_graph::{MemoryPlan, PlanOptions};
use mxrs_types::{Result, WriteReq};
use rustc_hash::FxHashSet;

/// Leaves out the additions that can be made in place.
///
/// # Errors
/// Returns the errors of the planner.
pub fn run(state: &ProgramState, options: &PlanOptions) -> Result<Option<ProgramState>> {
    let quiet = PlanOptions { verbose: false, ..*options };
    let is_part = |origin: Origin| matches!(origin, Origin::Part { .. });
    if state.program.values.iter().any(|value| is_part(value.origin)) {
        return Ok(None);
    }
    let Some((program, memory)) = in_place(&state.program, &quiet)? else { return Ok(None) };
    let is_larger = state.plan(&quiet)?.report.bytes < memory.report.bytes;
    Ok((!is_larger).then(|| state.with_plan(program, memory)))
}

/// The program without the additions that can be made in place, and its plan; `None` if there are none. The arena may be
/// larger than that of `program`.
///
/// # Errors
/// Returns the errors of the planner.
pub fn in_place(program: &Program, options: &PlanOptions) -> Result<Option<(Program, MemoryPlan)>> {
    if !options.enable_inplace || !program.steps.iter().any(Step::is_gradient_sum) {
        return Ok(None);
    }
    let mut refused: FxHashSet<String> = FxHashSet::default();
    loop {
        let Some(changed) = without(program, &refused) else { return Ok(None) };
        let memory = plan(&changed, options)?;
        let n_refused = refused.len();
        let is_refused = |sum: &&Sum| !is_granted(&changed, &memory, sum);
        refused.extend(changed.sums.iter().filter(is_refused).map(|sum| sum.name.clone()));
        if refused.len() == n_refused {
            return Ok(Some((changed, memory)));
        }
    }
}

/// Whether the memory plan puts the second term of `sum` into the memory of the first term, as an addition in place needs.
fn is_granted(program: &Program, memory: &MemoryPlan, sum: &Sum) -> bool {
    let step = &program.steps[sum.step];
    if program.values[sum.onto].origin != Origin::Temporary {
        return program.values[sum.onto].origin == program.values[step.outputs[sum.output]].origin;
    }
    let is_pair = |pair: &&mxrs_graph::memory::InplacePair| {
        (pair.step, pair.input, pair.output) == (sum.step, step.inputs.len(), sum.output) && !pair.is_identity
    };
    memory.inplace.iter().any(|pair| is_pair(&pair))
}

/// The program without all additions that can be left out, except for those in `refused`; `None` if there are none.
fn without(program: &Program, refused: &FxHashSet<String>) -> Option<Program> {
    let is_asked = |step: &Step| step.is_gradient_sum() && !refused.contains(&step.name);
    let found = |program: &Program, at: usize| is_asked(&program.steps[at]).then(|| find(program, at)).flatten();
    without_additions(program, found, leave_out)
}

/// How one addition can be left out.
struct Found {
    /// Index of the step that makes the second term. `output` is the position of the term among the outputs of that step.
    maker: usize,
    output: usize,
    first: ValueId,
    second: ValueId,
}

fn find(program: &Program, at: usize) -> Option<Found> {
    let step = &program.steps[at];
    let maker = |value: ValueId| {
        let made = |(s, step): (usize, &crate::program::Step)| {
            let n_plain = step.outputs.len() - step.n_rewrites;
            step.outputs[..n_plain].iter().position(|v| *v == value).map(|output| (s, output))
        };
        program.steps[..at].iter().enumerate().rev().find_map(made)
    };
    let (a, b) = (step.inputs[0], step.inputs[1]);
    let (made_a, made_b) = (maker(a)?, maker(b)?);
    let (first, (first_maker, _), second, (maker, output)) =
        if made_a.0 < made_b.0 { (a, made_a, b, made_b) } else { (b, made_b, a, made_a) };
    let is_second_half = |s: usize| s >= program.n_forward;
    let makes = &program.steps[maker];
    let Action::Run(kernel) = &makes.action else { return None };
    let is_taken = program.sums.iter().any(|sum| sum.step == maker);
    let value = |v: ValueId| &program.values[v];
    let sum = step.outputs[0];
    let same = value(first).desc == value(second).desc && value(first).desc == value(sum).desc;
    if first_maker == maker
        || is_taken
        || !same
        || value(first).desc.size_bytes() == 0
        || is_second_half(first_maker) != is_second_half(at)
        || is_second_half(maker) != is_second_half(at)
        || !kernel.adds(output)
    {
        return None;
    }
    let is_private = |v: ValueId, before: usize| {
        let reads = |s: &usize| program.steps[*s].inputs.contains(&v);
        value(v).origin == Origin::Temporary
            && !program.outputs.contains(&v)
            && (before..program.steps.len()).filter(reads).eq([at])
    };
    // Other steps may read the first term, but only before the step that makes the second term.
    if !is_private(first, maker) || !is_private(second, 0) {
        return None;
    }
    let may_go_there = match value(sum).origin {
        Origin::Temporary => true,
        // If the sum is an output, the first term is written to the output array too. A view writes nothing, so the step
        // that makes the first term must not be a view.
        Origin::Output(index) => {
            program.output_reqs[index] == WriteReq::Write && !program.steps[base(program, first, at)?].is_view()
        }
        _ => false,
    };
    may_go_there.then_some(Found { maker, output, first, second })
}

/// The step that made the earliest of the terms that are added in place to make `value`, or the step that makes `value`
/// itself. Only steps before `before` are searched.
fn base(program: &Program, value: ValueId, before: usize) -> Option<usize> {
    let step = (0..before).rev().find(|s| program.steps[*s].outputs.contains(&value))?;
    let sum = program.sums.iter().find(|sum| program.steps[sum.step].outputs[sum.output] == value);
    sum.map_or(Some(step), |sum| base(program, sum.onto, step))
}

fn leave_out(program: &mut Program, at: usize, found: Found) {
    let step = program.remove_addition(at);
    let result = step.outputs[0];
    let origin = program.values[result].origin;
    if origin != Origin::Temporary {
        let mut so_far = Some(found.first);
        while let Some(value) = so_far {
            program.values[value].origin = origin;
            let sum = program.sums.iter().find(|sum| program.steps[sum.step].outputs[sum.output] == value);
            so_far = sum.map(|sum| sum.onto);
        }
        program.values[found.second].origin = origin;
        // No step makes this value any more.
        program.values[result].origin = Origin::Temporary;
    }
    let replaced = |v: &mut ValueId| {
        if *v == result {
            *v = found.second;
        }
    };
    program.steps.iter_mut().flat_map(|step| &mut step.inputs).for_each(replaced);
    program.outputs.iter_mut().for_each(replaced);
    let Found { maker, output, first, .. } = found;
    program.sums.push(Sum { step: maker, output, onto: first, name: step.name, op: step.op });
}
