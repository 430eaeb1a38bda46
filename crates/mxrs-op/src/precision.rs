//! In which element type an operator computes where a graph in float32 is run in mixed precision.

use crate::OpParams;

/// What autocast does with the calls of an operator. "Short" is the 16-bit type that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Precision {
    /// Computes in float32: short inputs are widened. Right for every operator.
    #[default]
    Float32,
    /// Worth converting for: inputs in float32 become short, and so does the output. Products.
    Short,
    /// Computes in what it gets: where an input is short already, its other inputs become short too.
    Follows,
    /// Wants inputs of one type: short where all are, else float32.
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
