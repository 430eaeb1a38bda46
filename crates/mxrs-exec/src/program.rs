//! A lowered graph: values with layouts, and steps in order. No memory yet.

use crate::choose::Refusal;
use mxrs_op::{Kernel, TensorDesc};
use std::sync::Arc;

/// Index of a [`Value`] in a [`Program`].
pub type ValueId = usize;

/// Where a value's memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The n-th bound array (arguments, then auxiliary states).
    Bound(usize),
    /// A constant in another layout, made from another value whenever that changes.
    Packed,
    /// The arena.
    Temporary,
    /// The n-th output array.
    Output(usize),
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
pub enum Action {
    /// Run a kernel.
    Run(Arc<dyn Kernel>),
    /// The output is the input's bytes: nothing when they share memory, a copy otherwise.
    View,
}

/// One step.
pub struct Step {
    /// Node it came from, with a suffix for inserted copies.
    pub name: String,
    /// Operator, or `reorder`.
    pub op: String,
    /// What to do.
    pub action: Action,
    /// Backend that made the kernel; empty for views.
    pub backend: &'static str,
    /// Values read.
    pub inputs: Vec<ValueId>,
    /// Values written; `None` for outputs nobody reads.
    pub outputs: Vec<ValueId>,
    /// Whether anything reads each output.
    pub is_output_used: Vec<bool>,
    /// Pairs of positions that may share memory.
    pub inplace: Vec<(usize, usize)>,
    /// Positions of inputs whose content the kernel never reads.
    pub ignored_inputs: Vec<usize>,
    /// Temporary memory.
    pub scratch_bytes: usize,
    /// Backends that refused, with reasons.
    pub refusals: Vec<Refusal>,
}

/// Values and steps of one bound graph.
#[derive(Default)]
pub struct Program {
    /// All values.
    pub values: Vec<Value>,
    /// Steps that pack constants; run when a constant changed.
    pub prepare: Vec<Step>,
    /// Steps of one forward run.
    pub steps: Vec<Step>,
    /// Value of each graph output.
    pub outputs: Vec<ValueId>,
}
