//! The element type in which an operator computes if a float32 graph runs in mixed precision.
//!
//! Each operator declares its [`Precision`], according to MXNet's lists for bfloat16
//! (`contrib/amp/lists/symbol_bf16.py`) and, where the lists differ, for float16 (`symbol_fp16.py`). An operator that is in
//! none of the lists computes in float32. There is one difference from the lists: operators that only move or drop elements
//! compute in the type of their input, for bfloat16 as for float16. MXNet's list for float16 says so for most of them, but
//! MXNet's kernels for these operators lack bfloat16; the kernels of mxrs have it. Widening their inputs would be useless,
//! because the next product would round the elements back to the same numbers.

use crate::OpParams;

/// What autocast does with the calls of an operator. "Half" is the requested 16-bit type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Precision {
    /// Computes in float32: half inputs are widened. Correct for every operator.
    #[default]
    Float32,
    /// Computes in half: float32 inputs are converted to half, and the output is half. MXNet's lists `BF16_FUNCS` and
    /// `FP16_FUNCS`, which contain products.
    Short,
    /// Computes in half if an input is half already; the other inputs are then converted to half. MXNet's lists
    /// `BF16_FP32_FUNCS` and `FP16_FP32_FUNCS`.
    Follows,
    /// Needs inputs of one type: half if all inputs are half, float32 otherwise. MXNet's list `WIDEST_TYPE_CASTS`.
    Widest,
}

impl Precision {
    /// [`Self::Float32`] for all parameters.
    pub fn float32(_: &OpParams) -> Self {
        Self::Float32
    }

    /// [`Self::Short`] for all parameters.
    pub fn short(_: &OpParams) -> Self {
        Self::Short
    }

    /// [`Self::Follows`] for all parameters.
    pub fn follows(_: &OpParams) -> Self {
        Self::Follows
    }

    /// [`Self::Widest`] for all parameters.
    pub fn widest(_: &OpParams) -> Self {
        Self::Widest
    }
}
