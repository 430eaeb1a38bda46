//! Sums made in place: the step that makes a term adds it to the sum so far, and the addition is left out.
//!
//! Of `s = _grad_add(a, b)`, or of a sum of two terms, whichever of `a` and `b` is made first keeps its memory, and the kernel that makes the other
//! is asked to [add](mxrs_op::Kernel::adds) to it. Addition commutes, so no bit changes. Left alone are additions whose
//! terms somebody else reads afterwards, whose terms are bound arrays, heads or of another half of the program, and those
//! whose second kernel cannot add. A graph is planned both ways, and keeps the additions where leaving them out would need
//! more memory.

use crate::planned::plan;
use crate::program::{Action, Origin, Program, Step, Sum, ValueId, without_additions};
use mxrs_graph::{MemoryPlan, PlanOptions};
use mxrs_types::{Result, WriteReq};
use rustc_hash::FxHashSet;

/// The program without the additions that can be left out, `None` where it stays as it is; and the plan.
///
/// # Errors
/// What the planner fails with.
pub fn planned(program: &Program, options: &PlanOptions) -> Result<(Option<Program>, MemoryPlan)> {
    let is_hopeful = options.enable_inplace && program.steps.iter().any(Step::is_gradient_sum);
    let mut refused: FxHashSet<String> = FxHashSet::default();
    let mut best = None;
    while is_hopeful && best.is_none() {
        let Some(folded) = fold(program, &refused) else { break };
        let quiet = PlanOptions { verbose: false, ..*options };
        let memory = plan(&folded, &quiet)?;
        let n_refused = refused.len();
        refused.extend(folded.sums.iter().filter(|sum| !is_granted(&folded, &memory, sum)).map(|sum| sum.name.clone()));
        if refused.len() == n_refused {
            best = Some((folded, memory));
        }
    }
    let Some((folded, memory)) = best else {
        return Ok((None, plan(program, options)?));
    };
    let quiet = PlanOptions { verbose: false, ..*options };
    if plan(program, &quiet)?.report.bytes < memory.report.bytes {
        return Ok((None, plan(program, options)?));
    }
    // Once more where the plan is to be logged: only the one that is used should be.
    let memory = if options.verbose { plan(&folded, options)? } else { memory };
    Ok((Some(folded), memory))
}

/// Whether the term has the memory of the sum so far.
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

/// Leaves out what can be, except for the additions in `refused`; `None` when nothing can.
fn fold(program: &Program, refused: &FxHashSet<String>) -> Option<Program> {
    let is_asked = |step: &Step| step.is_gradient_sum() && !refused.contains(&step.name);
    let found = |program: &Program, at: usize| is_asked(&program.steps[at]).then(|| find(program, at)).flatten();
    without_additions(program, found, leave_out)
}

/// How one addition can be left out.
struct Found {
    /// Step that makes the second term, and which of its outputs that is.
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
    // The first term may have been read before the second is made.
    if !is_private(first, maker) || !is_private(second, 0) {
        return None;
    }
    let may_go_there = match value(sum).origin {
        Origin::Temporary => true,
        // Then the first term is written there too, which a view does not do.
        Origin::Output(index) => {
            program.output_reqs[index] == WriteReq::Write && !program.steps[base(program, first, at)?].is_view()
        }
        _ => false,
    };
    may_go_there.then_some(Found { maker, output, first, second })
}

/// The step that made the first term of all that `value` is the sum of.
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
        // Nothing makes it any more.
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
