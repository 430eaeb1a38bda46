//! The declaration of an operator's gradient: calls of other operators.
//!
//! A [`GradientFn`] runs once per call that a gradient flows through. It builds the gradients of the call's inputs from
//! the inputs, the outputs and the gradients of the outputs. The calls that it makes become nodes of the gradient
//! graph. A value that the function does not request need not stay in memory for the gradient. The function does not
//! depend on the kind of graph: the code that differentiates (a pass over a symbol graph, an imperative tape)
//! implements [`GradientScope`].

use crate::{Attrs, OpParams};
use mxrs_types::Result;

/// A handle to a value of the gradient graph under construction. Only the [`GradientScope`] that made it can interpret it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GradValue(pub u32);

/// A call of the gradient graph.
#[derive(Clone, Debug)]
pub struct MadeBy {
    /// Name of the operator.
    pub op: &'static str,
    /// Attributes of the call as text.
    pub attrs: Attrs,
    /// Inputs of the call, as values of the scope.
    pub inputs: Vec<GradValue>,
}

/// The call to differentiate, and the graph that receives its gradient.
pub trait GradientScope {
    /// The value of input `index`. Auxiliary states are counted too.
    fn input(&mut self, index: usize) -> GradValue;

    /// The value of output `index`. Hidden outputs are counted too.
    fn output(&mut self, index: usize) -> GradValue;

    /// The gradient of output `index`, or zeros of its shape if no head (output of the whole graph) depends on output
    /// `index`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::call`].
    fn out_grad(&mut self, index: usize) -> Result<GradValue>;

    /// Whether any head (output of the whole graph) depends on output `index`.
    fn has_out_grad(&self, index: usize) -> bool;

    /// Whether the gradient of input `input` is needed. A gradient that the function returns for any other input is
    /// dropped.
    fn wants(&self, input: usize) -> bool;

    /// The attributes of the call as text.
    fn attrs(&self) -> &Attrs;

    /// Number of inputs of the call, auxiliary states included.
    fn n_inputs(&self) -> usize;

    /// The call of the gradient graph that made `value`, if `value` is its only output; `None` otherwise, or if calls
    /// run immediately when they are made, as on a tape. A gradient function uses this method to read the inputs of
    /// that call in place of `value`. If no other call reads `value` either, the call that made `value` is left out of
    /// the graph.
    fn made_by(&mut self, value: GradValue) -> Option<MadeBy> {
        let _ = value;
        None
    }

    /// Calls the operator named `op` on values of this scope and returns all outputs, including hidden ones.
    ///
    /// # Errors
    /// Returns an error if the operator is unknown or refuses the attributes. Both are mistakes in the declaration of the
    /// gradient.
    fn call(&mut self, op: &str, attrs: Attrs, inputs: &[GradValue]) -> Result<Vec<GradValue>>;

    /// Like [`Self::call`], for an operator without parameters. Returns only the first output.
    ///
    /// # Errors
    /// Returns the errors of [`Self::call`].
    fn call_one(&mut self, op: &str, inputs: &[GradValue]) -> Result<GradValue> {
        Ok(self.call(op, Attrs::new(), inputs)?[0])
    }
}

/// Builds the gradient of one call. Returns one value per input, including auxiliary states; `None` for an input whose
/// gradient is zero or has no meaning.
pub type GradientFn = fn(&OpParams, &mut dyn GradientScope) -> Result<Vec<Option<GradValue>>>;

/// Whether and how an operator is differentiable.
#[derive(Clone, Copy)]
pub enum Gradient {
    /// The operator is not differentiable. A request for its gradient is an error that names the operator.
    Undefined,
    /// The gradient is zero with respect to every input, as for constants, indices and comparisons.
    Zero,
    /// The gradient is what this function builds.
    By(GradientFn),
}
