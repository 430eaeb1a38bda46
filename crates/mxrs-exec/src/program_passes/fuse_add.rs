//! Fused additions: the kernel that makes the later term of `s = a + b` makes the sum directly, and the addition is left
//! out.
//!
//! - Needs a program with a gradient. The kernel of the later term must be able to take the other term as [an additional
//!   input](mxrs_op::Kernel::fuse_add). In a program without a gradient, [patterns](crate::BindOptions::patterns) decide
//!   which sums are fused. An addition stays a step if another step reads the later term, if this term is made in the
//!   forward steps and the addition belongs to the gradient, or if only one of the two (later term, addition) is recomputed.
//! - Promises the same values within one rounding. Unlike an [addition in place](super::add_in_place), a fused addition
//!   does not change the earlier term. So other steps may read that term, such as the shortcut of a residual network, which
//!   the gradient needs. The planner may still put the sum into the memory of the earlier term.
//! - Switch: [`PlanOptions::enable_inplace`], on by default.

use super::state::ProgramState;
use crate::program::{Action, LeftOut, Origin, Program, Step, ValueId, without_additions};
use mxrs_graph::PlanOptions;
use mxrs_op::Kernel;
use mxrs_types::{Result, WriteReq};
use std::sync::Arc;

/// Leaves out the additions that the kernel of a term can make.
///
/// # Errors
/// Never fails. It returns a `Result` because all program passes have the same signature.
pub fn run(state: &ProgramState, options: &PlanOptions) -> Result<Option<ProgramState>> {
    let fused = options.enable_inplace.then(|| without_additions_of_kernels(&state.program)).flatten();
    Ok(fused.map(|program| state.with_program(program)))
}

/// The program without the additions that the kernel of a term can make, or `None` if there are no such additions.
pub fn without_additions_of_kernels(program: &Program) -> Option<Program> {
    if program.n_forward == program.steps.len() {
        return None;
    }
    let found = |program: &Program, at: usize| program.steps[at].is_addition().then(|| find(program, at)).flatten();
    without_additions(program, found, leave_out)
}

/// How an addition can be left out.
struct Found {
    /// Index of the step that makes the later term.
    maker: usize,
    /// The kernel that this step runs from now on.
    kernel: Arc<dyn Kernel>,
    /// The earlier term.
    first: ValueId,
}

fn find(program: &Program, at: usize) -> Option<Found> {
    let step = &program.steps[at];
    let sum = step.outputs[0];
    let maker = |value: &ValueId| program.steps[..at].iter().rposition(|step| step.outputs.contains(value));
    let made = [maker(&step.inputs[0])?, maker(&step.inputs[1])?];
    let later = usize::from(made[1] > made[0]);
    let (maker, first, second) = (made[later], step.inputs[1 - later], step.inputs[later]);
    let makes = &program.steps[maker];
    let value = |v: ValueId| &program.values[v];
    let is_private = |v: ValueId| {
        let reads = |s: &usize| program.steps[*s].inputs.contains(&v);
        value(v).origin == Origin::Temporary
            && !program.outputs.contains(&v)
            && (0..program.steps.len()).filter(reads).eq([at])
    };
    let may_go_there = match value(sum).origin {
        Origin::Temporary | Origin::Crossing(_) => true,
        Origin::Output(index) => program.output_reqs[index] == WriteReq::Write,
        _ => false,
    };
    let is_one_half = (maker < program.n_forward) == (at < program.n_forward) && makes.is_clone == step.is_clone;
    let is_alike = value(first).desc == value(second).desc && value(first).desc == value(sum).desc;
    let fits = made[0] != made[1] && is_one_half && is_alike && may_go_there && makes.outputs.len() == 1;
    if !fits || !is_private(second) {
        return None;
    }
    let Action::Run(kernel) = &makes.action else { return None };
    Some(Found { maker, kernel: kernel.clone().fuse_add(makes.inputs.len())?, first })
}

fn leave_out(program: &mut Program, at: usize, Found { maker, kernel, first }: Found) {
    let Step { name, op, outputs, is_output_used, n_calls, .. } = program.remove_addition(at);
    let step = &mut program.steps[maker];
    step.action = Action::Run(kernel);
    step.inplace.push((step.inputs.len(), 0));
    step.inputs.push(first);
    step.outputs = outputs;
    step.is_output_used = is_output_used;
    step.n_calls += n_calls;
    program.left_out.push(LeftOut { step: maker, name, op });
}
