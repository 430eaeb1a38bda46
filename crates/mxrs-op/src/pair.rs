//! Operators that stand for two calls of a training step: one, and the activation behind it.

use crate::Attrs;

/// Which calls an operator stands for, and what stands for their gradients. The operator has inputs, parameters and outputs of
/// the first call; its first output is the second call's.
#[derive(Debug)]
pub struct Pair {
    /// Operator of the first call. Its first output is visible, and it has no other.
    pub first: &'static str,
    /// Whether a call, by name and attributes of its operator, is a second one.
    pub is_second: fn(&str, &Attrs) -> bool,
    /// Operators that are the gradient of the second call, which take the gradient of its output and the output.
    pub second_gradients: &'static [&'static str],
    /// Operator that is the gradient of the first call. It takes the gradient of its output, its inputs in order up to some,
    /// and its hidden outputs.
    pub first_gradient: &'static str,
    /// Operator of both gradients, with parameters and outputs of the first's.
    pub gradient: &'static str,
    /// Positions of the inputs of the first call that [`Self::gradient`] takes, between the gradient and the hidden outputs.
    pub kept_inputs: &'static [usize],
    /// Per input of [`Self::gradient`], the input of the first call that has its shape and type.
    pub gradient_inputs: &'static [usize],
    /// Per output of [`Self::gradient`], the same.
    pub gradient_outputs: &'static [usize],
}
