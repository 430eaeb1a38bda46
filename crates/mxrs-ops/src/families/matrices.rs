//! Batches of matrices: the last two axes of a tensor.

use crate::inference::{OP, learn, learn_dim};
use mxrs_types::{Error, PartialShape, Result, Shape};

/// Element types of linear algebra.
pub const LINALG: &[mxrs_types::DType] = &[mxrs_types::DType::F32, mxrs_types::DType::F64];

/// The number of matrices, rows and columns of a tensor with at least two axes.
pub fn sizes(shape: &Shape) -> [usize; 3] {
    let [batch @ .., rows, columns] = &**shape else { return [0; 3] };
    [batch.iter().product(), *rows, *columns]
}

/// Requires at least `n` axes, if the rank is known.
///
/// # Errors
/// Fails if there are fewer.
pub fn require_axes(shape: &PartialShape, n: usize, arg: &str) -> Result<()> {
    match shape.ndim() {
        Some(ndim) if ndim < n => Err(Error::shape(OP, arg, format!("at least {n} axes"), shape)),
        _ => Ok(()),
    }
}

/// Infers that a tensor holds square matrices.
///
/// # Errors
/// Fails if the last two axes have different sizes, or if there are fewer than two axes.
pub fn require_square(shape: &mut PartialShape, arg: &str) -> Result<()> {
    require_axes(shape, 2, arg)?;
    let Some(ndim) = shape.ndim() else { return Ok(()) };
    let (rows, columns) = (shape.dim(ndim - 2), shape.dim(ndim - 1));
    learn_dim(shape, ndim - 2, columns, arg)?;
    learn_dim(shape, ndim - 1, rows, arg)
}

/// `shape` with its last `n` axes replaced by `last`; unknown if the axes of `shape` are unknown.
pub fn with_last(shape: &PartialShape, n: usize, last: &[Option<usize>]) -> PartialShape {
    match shape.dims() {
        Some(dims) if dims.len() >= n => PartialShape::new(dims[..dims.len() - n].iter().chain(last).copied()),
        _ => PartialShape::unknown(),
    }
}

/// Infers that two tensors have the same axes before the last `n`.
///
/// # Errors
/// Fails if these axes differ.
pub fn unify_batch(a: &mut PartialShape, b: &mut PartialShape, n: usize, arg: &str) -> Result<()> {
    let last = vec![None; n];
    let (from_a, from_b) = (with_last(a, n, &last), with_last(b, n, &last));
    learn(b, &from_a, arg)?;
    learn(a, &from_b, arg)
}
