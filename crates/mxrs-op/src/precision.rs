//! In which element type an operator computes where a graph in float32 is run in mixed precision.
//!
//! An operator says it of itself, after MXNet's lists for bfloat16 (`contrib/amp/lists/symbol_bf16.py`): what is in none of
//! them computes in float32. One difference: what only moves or drops elements computes in what it gets, as in MXNet's lists for
//! float16. Its kernels for that lacked bfloat16; ours have it, and widened elements would be rounded back to the same ones by the
//! next product.

use crate::OpParams;

/// What autocast does with the calls of an operator. "Short" is the 16-bit type that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Precision {
    /// Computes in float32: short inputs are widened. Right for every operator.
    #[default]
    Float32,
    /// Worth converting for: inputs in float32 become short, and so does the output. Products (`BF16_FUNCS`).
    Short,
    /// Computes in what it gets: where an input is short already, its other inputs become short too (`BF16_FP32_FUNCS`).
    Follows,
    /// Wants inputs of one type: short where all are, else float32 (`WIDEST_TYPE_CASTS`).
    Widest,
}

impl Precision {
    /// [`Self::Float32`], whatever the parameters.
    pub fn float32(_: &OpParams) -> Self {
        Self::Float32
    }

    /// [`Self::Short`], whatever the parameters.
    pub fn short(_: &OpParams) -> Self {
        Self::Short
    }

    /// [`Self::Follows`], whatever the parameters.
    pub fn follows(_: &OpParams) -> Self {
        Self::Follows
    }

    /// [`Self::Widest`], whatever the parameters.
    pub fn widest(_: &OpParams) -> Self {
        Self::Widest
    }
}
