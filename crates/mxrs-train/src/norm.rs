//! Norms over many arrays.

use mxrs_exec::{Imperative, autograd};
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{DType, Error, Result};

/// The sum of the squares of the elements of `terms[0] + terms[1] + …`, computed in double precision.
fn square_sum(dtype: DType, terms: &[&[u8]]) -> Result<f64> {
    let views = terms.iter().map(|bytes| crate::metric::View::whole(dtype, bytes)).collect::<Result<Vec<_>>>()?;
    match views.as_slice() {
        [view] => Ok(view.iter().map(|v| v * v).sum()),
        views => {
            let n_elements = views.first().map_or(0, |view| view.len());
            let sum = |i| views.iter().map(|view| view.at(i)).sum::<f64>();
            Ok((0..n_elements).map(sum).map(|v| v * v).sum())
        }
    }
}

/// The Euclidean norm of all elements of these arrays together. Waits until the arrays are computed.
///
/// # Errors
/// Returns an error if computing an array failed, or if its elements are not floats or integers that a metric can read.
pub fn global_norm(arrays: &[&NdArray]) -> Result<f64> {
    norm_of_sums(&arrays.iter().map(|array| vec![*array]).collect::<Vec<_>>())
}

/// The Euclidean norm of sums: each list has the terms of one sum, which are arrays of the same shape and type, on any
/// devices. Waits until the arrays are computed.
///
/// # Errors
/// Fails as [`global_norm`] does.
pub(crate) fn norm_of_sums(sums: &[Vec<&NdArray>]) -> Result<f64> {
    let squares = sums.iter().map(|terms| {
        let dtype = terms.first().map_or(DType::F32, |term| term.dtype());
        NdArray::read_later(terms, move |bytes| square_sum(dtype, bytes))
    });
    let squares = squares.collect::<Result<Vec<_>>>()?;
    let mut total = 0.0;
    for square in squares {
        total += square.wait()??;
    }
    Ok(total.sqrt())
}

/// Scales arrays in place so that the norm of all their elements is at most `max_norm`, and returns the norm before scaling.
/// Arrays whose norm is not finite are not changed, and a warning is logged.
///
/// # Errors
/// Returns an error if `max_norm` is not a positive number, and in the cases of [`global_norm`].
///
/// ```
/// use mxrs_train::clip_global_norm;
/// # use mxrs_engine::{Engine, EngineConfig};
/// # use mxrs_exec::{BindOptions, Imperative};
/// # use mxrs_ndarray::{ArrayContext, NdArray};
/// # use mxrs_storage::{Storage, StorageConfig};
/// # fn main() -> mxrs_types::Result<()> {
/// # let context = ArrayContext::new(Engine::new(EngineConfig::default())?, Storage::new(StorageConfig::default())?);
/// # let mut options = BindOptions::new(vec![std::sync::Arc::new(mxrs_op::ReferenceBackend)]);
/// # options.ops = mxrs_ops::catalog();
/// # let nd = Imperative::new(&context, &options)?;
/// let (a, b) = (NdArray::from_slice(&context, [1], &[3.0f32])?, NdArray::from_slice(&context, [1], &[4.0f32])?);
/// assert_eq!(clip_global_norm(&nd, &[&a, &b], 2.5)?, 5.0);
/// assert_eq!((a.to_vec::<f32>()?, b.to_vec::<f32>()?), (vec![1.5], vec![2.0]));
/// # Ok(())
/// # }
/// ```
pub fn clip_global_norm(nd: &Imperative, arrays: &[&NdArray], max_norm: f64) -> Result<f64> {
    scale(nd, arrays, max_norm, || global_norm(arrays))
}

/// Scales arrays in place by `max_norm / norm` if the result of `norm` is larger than `max_norm`. Calls `norm` once and
/// returns its result.
///
/// # Errors
/// Fails as [`clip_global_norm`] does.
pub(crate) fn scale(
    nd: &Imperative,
    arrays: &[&NdArray],
    max_norm: f64,
    norm: impl FnOnce() -> Result<f64>,
) -> Result<f64> {
    if !(max_norm.is_finite() && max_norm > 0.0) {
        return Err(Error::invalid("largest norm of gradients", max_norm, "a positive number"));
    }
    let norm = norm()?;
    if !norm.is_finite() {
        tracing::warn!("the norm of the gradients is {norm}: they are not clipped");
        return Ok(norm);
    }
    if norm > max_norm {
        let _paused = autograd::pause();
        let attrs = Attrs::from([("scalar", (max_norm / norm).to_string())]);
        for array in arrays {
            nd.invoke_into("_mul_scalar", &attrs, &[array], &[array])?;
        }
    }
    Ok(norm)
}
