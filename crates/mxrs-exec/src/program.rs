//! A lowered graph: values with layouts, and steps in order, without memory.

use crate::choose::Refusal;
use crate::program_passes::copy_images::CopyImages;
use crate::report::FusedReport;
use crate::tune::ChosenBy;
use mxrs_op::{Combines, Kernel, TensorDesc};
use mxrs_types::{Device, WriteReq};
use std::sync::Arc;

/// Index of a [`Value`] in a [`Program`].
pub type ValueId = usize;

/// The origin of a value's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The n-th bound array (arguments, then auxiliary states).
    Bound(usize),
    /// Memory for packed constants: a constant in another layout, or one computed from other constants. A packed constant
    /// is made again when the constants that it is made from change.
    Packed,
    /// The arena of temporary values.
    Temporary,
    /// The n-th output array.
    Output(usize),
    /// The n-th [crossing array](Program::crossings).
    Crossing(usize),
    /// A part of another value. That value lies in the arena.
    Part {
        /// The value that contains the part.
        whole: ValueId,
        /// Distance of the part from the beginning of the whole, in bytes.
        offset_bytes: usize,
    },
}

/// One tensor of a program.
#[derive(Clone, Debug)]
pub struct Value {
    /// Shape, dtype and layout.
    pub desc: TensorDesc,
    /// The origin of the value's memory.
    pub origin: Origin,
    /// The device of the value's memory.
    pub device: Device,
}

/// The work of a step.
#[derive(Clone)]
pub enum Action {
    /// Run a kernel.
    Run(Arc<dyn Kernel>),
    /// Copy a part of a concatenation into the whole.
    CopyImages(CopyImages),
    /// The output has the bytes of the input. If both share memory, nothing is done; otherwise the bytes are copied.
    View,
    /// Copy the bytes of the input to the output, which is on another device. The engine copies arrays, so the step is a
    /// task of its own.
    Cross,
}

/// Operator of steps that copy a value to another layout.
pub const REORDER: &str = "reorder";

/// One step of a program.
#[derive(Clone)]
pub struct Step {
    /// Name of the node that the step comes from, with a suffix for inserted copies.
    pub name: String,
    /// Name of the operator, or [`REORDER`] for a copy to another layout.
    pub op: String,
    /// Whether the step only adds or concatenates its inputs.
    pub combines: Combines,
    /// Parameters of the operator as text, for steps that make constants.
    pub params: String,
    /// The work of the step.
    pub action: Action,
    /// Backend that made the kernel; empty for views.
    pub backend: &'static str,
    /// The device on which the step runs: the device of its outputs.
    pub device: Device,
    /// Values that the step reads.
    pub inputs: Vec<ValueId>,
    /// Values that the step writes. Rewritten inputs come last.
    pub outputs: Vec<ValueId>,
    /// For each output, whether a step or the caller reads it.
    pub is_output_used: Vec<bool>,
    /// How many of the last outputs are bound arrays that are also inputs.
    pub n_rewrites: usize,
    /// Whether the step computes a value that another step has computed before.
    pub is_clone: bool,
    /// Number of the random call that the step makes; `None` if it draws no random numbers.
    pub random: Option<u32>,
    /// Pairs (input, output) of positions that may share memory.
    pub inplace: Vec<(usize, usize)>,
    /// Positions of inputs whose content the kernel never reads.
    pub ignored_inputs: Vec<usize>,
    /// Bytes of scratch memory.
    pub scratch_bytes: usize,
    /// Multiply-adds, by the operator's own estimate; 0 for copies.
    pub multiply_adds: u64,
    /// The number of calls of the graph that the step runs: more than one for a fused call.
    pub n_calls: usize,
    /// How the kernel was chosen.
    pub chosen_by: ChosenBy,
    /// Backends that refused the call, with their reasons.
    pub refusals: Vec<Refusal>,
}

impl Step {
    /// A step that copies a value to another layout or device, or makes a view of it.
    pub fn copy(
        name: String,
        (backend, action): (&'static str, Action),
        device: Device,
        inputs: Vec<ValueId>,
        outputs: Vec<ValueId>,
    ) -> Self {
        Self {
            name,
            device,
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

    /// Whether the step adds two terms of a gradient.
    pub fn is_gradient_sum(&self) -> bool {
        self.combines == Combines::GradientSum && self.inputs.len() == 2 && self.outputs.len() == 1
    }

    /// Whether the step adds two terms, of a gradient or of another sum.
    pub fn is_addition(&self) -> bool {
        self.combines == Combines::Sum || self.is_gradient_sum()
    }

    /// Whether the step is a view, which runs no kernel.
    pub fn is_view(&self) -> bool {
        matches!(self.action, Action::View)
    }

    /// Whether the step copies between devices.
    pub fn crosses(&self) -> bool {
        matches!(self.action, Action::Cross)
    }
}

/// An addition that is left out because the step that makes the second term adds this term to the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// Index of the step that makes the second term.
    pub step: usize,
    /// Position of the second term among the outputs of that step.
    pub output: usize,
    /// The first term.
    pub onto: ValueId,
    /// Name of the addition's node.
    pub name: String,
    /// Operator of the addition.
    pub op: String,
}

/// An addition that is left out because the step that would make its later term makes the sum instead. The sum is the only
/// output of that step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Index of the step that makes the sum.
    pub step: usize,
    /// Name of the addition's node.
    pub name: String,
    /// Operator of the addition.
    pub op: String,
}

impl Program {
    /// Name and operator of the left-out addition whose sum is this output of this step; `None` if there is no such
    /// addition.
    pub fn addition_at(&self, step: usize, output: usize) -> Option<(&str, &str)> {
        let in_place = self.sums.iter().find(|sum| (sum.step, sum.output) == (step, output));
        let by_kernel = || self.left_out.iter().rev().find(|left| left.step == step && output == 0);
        in_place.map(|sum| (&*sum.name, &*sum.op)).or_else(|| by_kernel().map(|left| (&*left.name, &*left.op)))
    }

    /// Removes the step of an addition, because another step makes the sum from now on.
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

    /// The devices of all steps and values, the default device first.
    pub fn devices(&self) -> Vec<Device> {
        let mut devices = vec![self.device];
        let used = self.values.iter().map(|value| value.device).chain(self.steps.iter().map(|step| step.device));
        for device in used.chain(self.prepare.iter().map(|step| step.device)) {
            if !devices.contains(&device) {
                devices.push(device);
            }
        }
        devices
    }

    /// The value whose memory this value uses: itself, or the whole of which it is a part.
    pub fn base(&self, value: ValueId) -> ValueId {
        match self.values[value].origin {
            Origin::Part { whole, .. } => whole,
            _ => value,
        }
    }
}

/// The program without some of its additions, or `None` if none can be left out. `find` decides whether the addition at a
/// step can be left out, and how. `leave_out` then changes the program.
pub fn without_additions<Found>(
    program: &Program,
    find: impl Fn(&Program, usize) -> Option<Found>,
    leave_out: impl Fn(&mut Program, usize, Found),
) -> Option<Program> {
    // Programs are large. The program is copied only when the first addition is found.
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

/// The values and steps of one bound graph.
#[derive(Clone, Default)]
pub struct Program {
    /// The default device, which is the device of all values if the graph has no groups.
    pub device: Device,
    /// All values. A [`ValueId`] is an index in this list.
    pub values: Vec<Value>,
    /// Prepare steps: they pack and compute constants. They run when an array that a constant depends on has changed.
    pub prepare: Vec<Step>,
    /// The steps of one run: the forward steps, then the steps of the gradient.
    pub steps: Vec<Step>,
    /// The number of forward steps.
    pub n_forward: usize,
    /// The value of each output of the graph.
    pub outputs: Vec<ValueId>,
    /// What to do with each output array.
    pub output_reqs: Vec<WriteReq>,
    /// The values that have an array of their own because they are copied to or from another device. So the copy uses no
    /// arena, and steps that use the arenas of the two devices need not wait for it.
    pub crossings: Vec<ValueId>,
    /// The number of random calls in one run.
    pub n_random: u32,
    /// Calls that each replace several calls of the graph.
    pub fused: Vec<FusedReport>,
    /// Additions that are left out because the step that makes one term adds it to the value of the other term.
    pub sums: Vec<Sum>,
    /// Additions that are left out because the step that would make one term takes the other term as an input and makes the
    /// sum.
    pub left_out: Vec<LeftOut>,
}
