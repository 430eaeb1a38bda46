//! How an operator's gradient is declared: as calls of other operators.
//!
//! A [`GradientFn`] is asked once per call that a gradient flows through. It says, in terms of the call's inputs,
//! outputs and the gradients of its outputs, what the gradients of its inputs are; the calls it makes become nodes of the
//! gradient graph. What it does not ask for need not be kept until then. It knows no graph: whoever differentiates (a
//! pass over a symbol graph, an imperative tape) implements [`GradientScope`].

use crate::{Attrs, OpParams};
use mxrs_types::Result;

/// A value of the gradient graph under construction; only the [`GradientScope`] that made it knows which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GradValue(pub u32);

/// A call of the gradient graph.
#[derive(Clone, Debug)]
pub struct MadeBy {
    /// Name of the operator.
    pub op: &'static str,
    /// Its attributes as text.
    pub attrs: Attrs,
    /// Its inputs, as values of the scope that was asked.
    pub inputs: Vec<GradValue>,
}

/// The call whose gradient is asked for, and the graph its gradient goes into.
pub trait GradientScope {
    /// The value of input `index`, auxiliary states counted too.
    fn input(&mut self, index: usize) -> GradValue;

    /// The value of output `index`, hidden ones counted too.
    fn output(&mut self, index: usize) -> GradValue;

    /// The gradient of output `index`; zeros of its shape when no head depends on it.
    ///
    /// # Errors
    /// As [`Self::call`].
    fn out_grad(&mut self, index: usize) -> Result<GradValue>;

    /// Whether any head depends on output `index`.
    fn has_out_grad(&self, index: usize) -> bool;

    /// Whether the gradient of input `index` is wanted; what a function answers for others is dropped.
    fn wants(&self, input: usize) -> bool;

    /// The attributes of the call as text.
    fn attrs(&self) -> &Attrs;

    /// Number of inputs of the call, auxiliary states included.
    fn n_inputs(&self) -> usize;

    /// The call of the gradient graph whose only output a value is, for rules that do without the value; a call that nobody reads
    /// in the end is not made. `None` where it is no such value, or where calls are made as soon as they are asked for.
    fn made_by(&mut self, value: GradValue) -> Option<MadeBy> {
        let _ = value;
        None
    }

    /// Calls the operator named `op` on values of this scope and returns all its outputs, hidden ones included.
    ///
    /// # Errors
    /// An unknown operator, or attributes it refuses: a mistake in the gradient's declaration.
    fn call(&mut self, op: &str, attrs: Attrs, inputs: &[GradValue]) -> Result<Vec<GradValue>>;

    /// As [`Self::call`], for operators without parameters and with one output of interest: the first.
    ///
    /// # Errors
    /// As [`Self::call`].
    fn call_one(&mut self, op: &str, inputs: &[GradValue]) -> Result<GradValue> {
        Ok(self.call(op, Attrs::new(), inputs)?[0])
    }
}

/// Builds the gradient of one call: one answer per input, auxiliary states included; `None` where it is zero or has no
/// meaning.
pub type GradientFn = fn(&OpParams, &mut dyn GradientScope) -> Result<Vec<Option<GradValue>>>;

/// Whether and how an operator is differentiable.
#[derive(Clone, Copy)]
pub enum Gradient {
    /// It is not: asking for its gradient is an error that names it.
    Undefined,
    /// Zero with respect to every input: constants, indices, comparisons.
    Zero,
    /// What the function builds.
    By(GradientFn),
}
