//! One call of an operator as a backend sees it: descriptions, no memory.

use crate::{OpDef, OpParams};
use mxrs_types::{DType, Layout, Shape};
use std::fmt;

/// Shape, element type and arrangement of a dense tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorDesc {
    /// Logical sizes.
    pub shape: Shape,
    /// Element type.
    pub dtype: DType,
    /// Arrangement in memory.
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

    /// Bytes it takes, padding included.
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

/// A call: operator, parameters, and what is known of its tensors. Already validated by inference.
#[derive(Clone, Copy, Debug)]
pub struct OpCall<'a> {
    /// The operator.
    pub op: &'a OpDef,
    /// Its parameters.
    pub params: &'a OpParams,
    /// Inputs, auxiliary states included, in the layouts their producers left them in.
    pub inputs: &'a [TensorDesc],
    /// Outputs, hidden ones and then rewritten inputs included; the layouts are the backend's to choose, but for rewritten
    /// inputs, which stay row-major.
    pub outputs: &'a [TensorDesc],
    /// Whether each input keeps its value from call to call (a parameter), so that packing it once pays.
    pub is_constant: &'a [bool],
    /// Training mode (batch statistics, dropout) or inference.
    pub is_train: bool,
}
