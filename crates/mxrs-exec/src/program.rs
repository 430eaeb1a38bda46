//! A lowered graph: values with layouts, and steps in order. No memory yet.

use crate::choose::Refusal;
use crate::report::FusedReport;
use crate::tune::ChosenBy;
use mxrs_op::{Combines, Kernel, TensorDesc};
use mxrs_types::WriteReq;
use std::sync::Arc;

/// Index of a [`Value`] in a [`Program`].
pub type ValueId = usize;

/// Where a value's memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The n-th bound array (arguments, then auxiliary states).
    Bound(usize),
    /// A constant in another layout, or one that is computed from others; made again whenever these change.
    Packed,
    /// The arena.
    Temporary,
    /// The n-th output array.
    Output(usize),
    /// A piece of another value, which is in the arena.
    Part {
        /// The other value.
        whole: ValueId,
        /// Where the piece begins in it.
        offset_bytes: usize,
    },
}

/// One tensor of a program.
#[derive(Clone, Debug)]
pub struct Value {
    /// Shape, dtype and layout.
    pub desc: TensorDesc,
    /// Where its memory comes from.
    pub origin: Origin,
}

/// What a step does.
#[derive(Clone)]
pub enum Action {
    /// Run a kernel.
    Run(Arc<dyn Kernel>),
    /// The output is the input's bytes: nothing when they share memory, a copy otherwise.
    View,
}

/// Operator of steps that copy a value to another layout.
pub const REORDER: &str = "reorder";

/// One step.
#[derive(Clone)]
pub struct Step {
    /// Node it came from, with a suffix for inserted copies.
    pub name: String,
    /// Operator, or [`REORDER`].
    pub op: String,
    /// Whether all it does is to put its inputs together.
    pub combines: Combines,
    /// Parameters of the operator as text, for steps that make constants.
    pub params: String,
    /// What to do.
    pub action: Action,
    /// Backend that made the kernel; empty for views.
    pub backend: &'static str,
    /// Values read.
    pub inputs: Vec<ValueId>,
    /// Values written; rewritten inputs last.
    pub outputs: Vec<ValueId>,
    /// Whether anything reads each output.
    pub is_output_used: Vec<bool>,
    /// How many of the last outputs are bound arrays that are also inputs.
    pub n_rewrites: usize,
    /// Whether it computes again what another step has computed.
    pub is_clone: bool,
    /// Which of the run's random calls it makes.
    pub random: Option<u32>,
    /// Pairs of positions that may share memory.
    pub inplace: Vec<(usize, usize)>,
    /// Positions of inputs whose content the kernel never reads.
    pub ignored_inputs: Vec<usize>,
    /// Temporary memory.
    pub scratch_bytes: usize,
    /// Multiply-adds, by the operator's own estimate; 0 for copies.
    pub multiply_adds: u64,
    /// Calls of the graph it runs: more than one where it is a fused call.
    pub n_calls: usize,
    /// How the kernel was chosen.
    pub chosen_by: ChosenBy,
    /// Backends that refused, with reasons.
    pub refusals: Vec<Refusal>,
}

impl Step {
    /// A step that gives a value another layout, or another name.
    pub fn copy(
        name: String,
        (backend, action): (&'static str, Action),
        inputs: Vec<ValueId>,
        outputs: Vec<ValueId>,
    ) -> Self {
        Self {
            name,
            op: REORDER.into(),
            combines: Combines::No,
            params: String::new(),
            action,
            backend,
            is_output_used: vec![true; outputs.len()],
            inputs,
            outputs,
            n_rewrites: 0,
            is_clone: false,
            random: None,
            inplace: Vec::new(),
            ignored_inputs: Vec::new(),
            scratch_bytes: 0,
            multiply_adds: 0,
            n_calls: 1,
            chosen_by: ChosenBy::Estimate,
            refusals: Vec::new(),
        }
    }

    /// Whether it adds two terms of a gradient.
    pub fn is_gradient_sum(&self) -> bool {
        self.combines == Combines::GradientSum && self.inputs.len() == 2 && self.outputs.len() == 1
    }

    /// Whether it adds two terms, of a gradient or not.
    pub fn is_addition(&self) -> bool {
        self.combines == Combines::Sum || self.is_gradient_sum()
    }

    /// Whether it runs no kernel.
    pub fn is_view(&self) -> bool {
        matches!(self.action, Action::View)
    }
}

/// An addition that is left out: the step that makes its second term adds it to the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// Step that makes the second term.
    pub step: usize,
    /// Which of its outputs that is.
    pub output: usize,
    /// The first term.
    pub onto: ValueId,
    /// Node of the addition.
    pub name: String,
    /// Its operator.
    pub op: String,
}

/// An addition that is left out because the kernel of its later term makes the sum, which is the only output of that step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Step that makes the sum.
    pub step: usize,
    /// Node of the addition.
    pub name: String,
    /// Its operator.
    pub op: String,
}

impl Program {
    /// Name and operator of the addition that is left out because this output of a step is the sum.
    pub fn addition_at(&self, step: usize, output: usize) -> Option<(&str, &str)> {
        let in_place = self.sums.iter().find(|sum| (sum.step, sum.output) == (step, output));
        let by_kernel = || self.left_out.iter().rev().find(|left| left.step == step && output == 0);
        in_place.map(|sum| (&*sum.name, &*sum.op)).or_else(|| by_kernel().map(|left| (&*left.name, &*left.op)))
    }

    /// Takes out an addition whose sum another step makes from now on.
    pub fn remove_addition(&mut self, at: usize) -> Step {
        let step = self.steps.remove(at);
        if at < self.n_forward {
            self.n_forward -= 1;
        }
        self.sums.iter_mut().filter(|sum| sum.step > at).for_each(|sum| sum.step -= 1);
        self.left_out.iter_mut().filter(|left| left.step > at).for_each(|left| left.step -= 1);
        step
    }

    /// Names of all additions that are left out.
    pub fn additions(&self) -> impl Iterator<Item = &String> {
        self.left_out.iter().map(|left| &left.name).chain(self.sums.iter().map(|sum| &sum.name))
    }

    /// The value whose memory this one has: itself, or the whole that it is a part of.
    pub fn base(&self, value: ValueId) -> ValueId {
        match self.values[value].origin {
            Origin::Part { whole, .. } => whole,
            _ => value,
        }
    }
}

/// A program without some of its additions: `find` says whether and how the one at a step can be left out, `leave_out` does it.
/// `None` where the program stays as it is.
pub fn without_additions<Found>(
    program: &Program,
    find: impl Fn(&Program, usize) -> Option<Found>,
    leave_out: impl Fn(&mut Program, usize, Found),
) -> Option<Program> {
    // Programs are large: copied only once something is found.
    let mut changed: Option<Program> = None;
    let mut at = 0;
    while at < changed.as_ref().unwrap_or(program).steps.len() {
        match find(changed.as_ref().unwrap_or(program), at) {
            Some(found) => leave_out(changed.get_or_insert_with(|| program.clone()), at, found),
            None => at += 1,
        }
    }
    changed
}

/// Values and steps of one bound graph.
#[derive(Clone, Default)]
pub struct Program {
    /// All values.
    pub values: Vec<Value>,
    /// Steps that pack and compute constants; run when one changed that they depend on.
    pub prepare: Vec<Step>,
    /// Steps of one run: the forward ones, then those of the gradient.
    pub steps: Vec<Step>,
    /// How many of them are forward.
    pub n_forward: usize,
    /// Value of each graph output.
    pub outputs: Vec<ValueId>,
    /// What to do with each output array.
    pub output_reqs: Vec<WriteReq>,
    /// Random calls of one run.
    pub n_random: u32,
    /// Calls that stand for several of the graph's.
    pub fused: Vec<FusedReport>,
    /// Additions left out because a step adds to what another has made.
    pub sums: Vec<Sum>,
    /// Additions left out because a step takes the other term as an input.
    pub left_out: Vec<LeftOut>,
}
