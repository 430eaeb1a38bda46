//! Norms over many arrays.

use mxrs_exec::{Imperative, autograd};
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{DType, Error, Result};

/// Sum of squares of an array's elements, in double precision.
fn square_sum(dtype: DType, bytes: &[u8]) -> Result<f64> {
    let view = crate::metric::View::whole(dtype, bytes)?;
    Ok(view.iter().map(|v| v * v).sum())
}

/// The Euclidean norm of all elements of these arrays together. Waits until the arrays are computed.
///
/// # Errors
/// Returns an error if computing an array failed, or if its elements are not floats or integers that a metric can read.
pub fn global_norm(arrays: &[&NdArray]) -> Result<f64> {
    let sums = arrays.iter().map(|array| {
        let dtype = array.dtype();
        NdArray::read_later(&[array], move |bytes| square_sum(dtype, bytes.first().unwrap_or(&&[][..])))
    });
    let sums = sums.collect::<Result<Vec<_>>>()?;
    let mut total = 0.0;
    for sum in sums {
        total += sum.wait()??;
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
    if !(max_norm.is_finite() && max_norm > 0.0) {
        return Err(Error::invalid("largest norm of gradients", max_norm, "a positive number"));
    }
    let norm = global_norm(arrays)?;
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
