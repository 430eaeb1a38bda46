//! One call of an operator as a backend sees it: descriptions of tensors, without memory.

use crate::{OpDef, OpParams};
use mxrs_types::{DType, Layout, Shape};
use std::fmt;

/// Shape, element type and layout of a dense tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorDesc {
    /// Logical sizes.
    pub shape: Shape,
    /// Element type.
    pub dtype: DType,
    /// Layout in memory.
    pub layout: Layout,
}

impl TensorDesc {
    /// A row-major tensor.
    pub fn dense(shape: impl Into<Shape>, dtype: DType) -> Self {
        Self { shape: shape.into(), dtype, layout: Layout::RowMajor }
    }

    /// The same tensor in another layout.
    pub fn with_layout(&self, layout: Layout) -> Self {
        Self { layout, ..self.clone() }
    }

    /// Size in bytes, including padding.
    pub fn size_bytes(&self) -> usize {
        self.layout.size_bytes(&self.shape, self.dtype)
    }
}

impl fmt::Display for TensorDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dtype, self.shape)?;
        if !self.layout.is_row_major() {
            write!(f, " {}", self.layout)?;
        }
        Ok(())
    }
}

/// A call: operator, parameters, and descriptions of its tensors. Inference has already validated it.
#[derive(Clone, Copy, Debug)]
pub struct OpCall<'a> {
    /// The operator.
    pub op: &'a OpDef,
    /// Parameters of the operator.
    pub params: &'a OpParams,
    /// Inputs, including auxiliary states, in the layouts that their producers chose.
    pub inputs: &'a [TensorDesc],
    /// Visible outputs, then hidden outputs, then the inputs that the operator rewrites. The backend chooses the
    /// layouts, except those of rewritten inputs, which stay row-major.
    pub outputs: &'a [TensorDesc],
    /// For each input, whether it keeps its value from run to run (a parameter), so that packing the input once saves
    /// time.
    pub is_constant: &'a [bool],
    /// Whether the operator runs as in training (batch statistics, dropout) or as at inference.
    pub is_train: bool,
}
