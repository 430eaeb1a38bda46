//! What a convolution or a fully-connected layer does to its sums before it stores them: add the bias, add a tensor, clamp,
//! apply a function.

use crate::functions::Function;
use mxrs_op::OpCall;
use mxrs_op::param::Choice;
use mxrs_ops::fused::{self, FusedAct};

/// Bounds of a result. A NaN stays a NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower bound, -∞ for none.
    pub low: f32,
    /// Upper bound, ∞ for none.
    pub high: f32,
}

impl Bounds {
    /// No bounds.
    pub const NONE: Self = Self { low: f32::NEG_INFINITY, high: f32::INFINITY };
    /// ReLU: no negative values.
    pub const RELU: Self = Self { low: 0.0, ..Self::NONE };

    /// Clamps `x` to the bounds.
    #[inline(always)]
    pub fn apply(&self, x: f32) -> f32 {
        let x = if x < self.low { self.low } else { x };
        if x > self.high { self.high } else { x }
    }

    /// Whether 0, the value of padding channels, stays 0.
    pub fn keep_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

/// The epilogue of a convolution or of a fully-connected layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epilogue {
    /// Position of the bias among the inputs.
    pub bias: Option<usize>,
    /// Position of the tensor that is added; it has the shape and layout of the output.
    pub sum: Option<usize>,
    /// Bounds of the result.
    pub bounds: Bounds,
    /// The function that is applied last.
    pub function: Option<Function>,
}

impl Epilogue {
    /// The epilogue of an operator that has at most a bias.
    pub fn plain(no_bias: bool) -> Self {
        Self { bias: (!no_bias).then_some(2), sum: None, bounds: Bounds::NONE, function: None }
    }

    /// The epilogue of a call of a fused operator.
    ///
    /// # Errors
    /// Returns the reason as text if this backend does not have the activation.
    pub fn fused(no_bias: bool, p: &fused::Epilogue, call: &OpCall<'_>) -> Result<Self, String> {
        let (slope, offset) = (p.slope as f32, p.offset as f32);
        let (bounds, function) = match p.act {
            FusedAct::None => (Bounds::NONE, None),
            FusedAct::Relu => (Bounds::RELU, None),
            FusedAct::Sigmoid => (Bounds::NONE, Some(Function::Sigmoid)),
            FusedAct::Silu => (Bounds::NONE, Some(Function::Silu)),
            FusedAct::Tanh => (Bounds::NONE, Some(Function::Tanh)),
            FusedAct::HardSigmoid => (Bounds::NONE, Some(Function::HardSigmoid { slope, offset })),
            FusedAct::HardSwish => (Bounds::NONE, Some(Function::HardSwish { slope, offset })),
            // The reference kernel compares with the upper bound first. The result is the same if the lower bound is
            // not above the upper one.
            FusedAct::Clip if p.a_min <= p.a_max => (Bounds { low: p.a_min, high: p.a_max }, None),
            other => return Err(format!("act {}", other.to_word())),
        };
        let sum = if p.with_sum {
            Some(call.inputs.len().checked_sub(1).ok_or("the call lacks the tensor to add")?)
        } else {
            None
        };
        Ok(Self { sum, bounds, function, ..Self::plain(no_bias) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bounds_around_zero_keep_padding() {
        let bounds = |low, high| Bounds { low, high };
        assert!(Bounds::NONE.keep_zero() && Bounds::RELU.keep_zero() && bounds(-1.0, 0.0).keep_zero());
        assert!(!bounds(0.5, 1.0).keep_zero() && !bounds(-2.0, -1.0).keep_zero());
    }
}
