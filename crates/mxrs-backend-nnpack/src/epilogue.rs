//! What a convolution does to its sums before it stores them: adds the bias and a tensor, limits the result.

use mxrs_op::OpCall;
use mxrs_op::param::Choice;
use mxrs_ops::fused::{self, FusedAct};

/// Bounds of a result; what is not a number stays so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower bound, -∞ for none.
    pub low: f32,
    /// Upper bound, ∞ for none.
    pub high: f32,
}

impl Bounds {
    /// Every number.
    pub const NONE: Self = Self { low: f32::NEG_INFINITY, high: f32::INFINITY };
    /// No negative numbers.
    pub const RELU: Self = Self { low: 0.0, ..Self::NONE };

    /// `x` within the bounds.
    #[inline(always)]
    pub fn apply(&self, x: f32) -> f32 {
        let x = if x < self.low { self.low } else { x };
        if x > self.high { self.high } else { x }
    }

    /// Whether 0, which padding channels hold, stays 0.
    pub fn keep_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

/// What follows the sums of products.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epilogue {
    /// Position of the bias among the inputs.
    pub bias: Option<usize>,
    /// Position of the tensor that is added, of the output's shape and layout.
    pub sum: Option<usize>,
    /// Bounds of the result.
    pub bounds: Bounds,
}

impl Epilogue {
    /// That of an operator which has no more than a bias.
    pub fn plain(no_bias: bool) -> Self {
        Self { bias: (!no_bias).then_some(2), sum: None, bounds: Bounds::NONE }
    }

    /// That of a fused operator's call.
    ///
    /// # Errors
    /// In words, why there is none like it.
    pub fn fused(no_bias: bool, p: &fused::Epilogue, call: &OpCall<'_>) -> Result<Self, String> {
        let bounds = match p.act {
            FusedAct::None => Bounds::NONE,
            FusedAct::Relu => Bounds::RELU,
            // The reference asks for the upper bound first; with bounds in order that is no difference.
            FusedAct::Clip if p.a_min <= p.a_max => Bounds { low: p.a_min, high: p.a_max },
            other => return Err(format!("act {}", other.to_word())),
        };
        let sum = if p.with_sum { Some(call.inputs.len().checked_sub(1).ok_or("no tensor to add")?) } else { None };
        Ok(Self { sum, bounds, ..Self::plain(no_bias) })
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
