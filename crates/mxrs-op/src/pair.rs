//! Call pairs: operators that replace two calls of a training step, a call and the activation that reads its output.

use crate::Attrs;

/// The two calls that an operator replaces, and the operators of their gradients. The operator has the inputs, parameters
/// and outputs of the first call, except that its first output is that of the second call.
#[derive(Debug)]
pub struct Pair {
    /// Operator of the first call. Its first output is its only visible output.
    pub first: &'static str,
    /// Whether a call may be the second call, given the name and attributes of its operator.
    pub is_second: fn(&str, &Attrs) -> bool,
    /// Operators that compute the gradient of the second call. Their inputs are the gradient of that call's output, and that
    /// output.
    pub second_gradients: &'static [&'static str],
    /// Operator that computes the gradient of the first call. Its inputs are the gradient of the call's output, some of the
    /// call's inputs (the first ones, in order), and the call's hidden outputs.
    pub first_gradient: &'static str,
    /// Operator that computes both gradients in one call, with the parameters and outputs of [`Self::first_gradient`].
    pub gradient: &'static str,
    /// Positions of the inputs of the first call that are also inputs of [`Self::gradient`]. There they follow the gradient
    /// of the output and precede the hidden outputs.
    pub kept_inputs: &'static [usize],
    /// For each input of [`Self::gradient`], the input of the first call that has its shape and type.
    pub gradient_inputs: &'static [usize],
    /// For each output of [`Self::gradient`], the input of the first call that has its shape and type.
    pub gradient_outputs: &'static [usize],
}
