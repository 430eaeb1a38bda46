//! Passes over a graph, one file each.

mod fixpoint;
mod infer_dtype;
mod infer_shape;

pub use fixpoint::Inferred;
pub use infer_dtype::infer_dtypes;
pub use infer_shape::infer_shapes;

#[cfg(test)]
mod properties;
