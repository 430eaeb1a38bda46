//! Passes over a graph, one file each.

mod fixpoint;
mod gradient;
mod infer_dtype;
mod infer_shape;
mod names;

pub use fixpoint::Inferred;
pub use gradient::{GradientGraph, GradientRequest, HeadGrads, Unreachable, gradient};
pub use infer_dtype::infer_dtypes;
pub use infer_shape::infer_shapes;

#[cfg(test)]
mod interpreter;
#[cfg(test)]
mod properties;
