//! Compression of gradients to two bits per element; the rounding error is added to the next gradient. The arithmetic is
//! that of MXNet's `gradient_compression`, which a key-value store of kind `device` applies to the gradients of each device,
//! even if there is only one device.

use crate::call::Call;
use mxrs_ndarray::{Invoke, NdArray};
use mxrs_types::{DType, Error, Result};

/// Two-bit compression: the elements of gradients become -threshold, 0 or threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoBit {
    threshold: f32,
}

impl TwoBit {
    /// Makes a compression with this threshold. The threshold is compared with elements of the gradient, which is summed
    /// over the batch and not yet multiplied by the optimizer's factor. MXNet's default is 0.5.
    ///
    /// # Errors
    /// Fails if the threshold is not a positive number.
    pub fn new(threshold: f64) -> Result<Self> {
        let single = threshold as f32;
        if single.is_finite() && single > 0.0 {
            return Ok(Self { threshold: single });
        }
        Err(Error::invalid("threshold of gradient compression", threshold, "a positive number"))
    }

    /// Makes the residual (the sum of rounding errors) that a parameter has before its first gradient: zeros.
    pub(crate) fn residual(nd: &dyn Invoke, name: &str, weight: &NdArray) -> Result<NdArray> {
        if weight.dtype() != DType::F32 {
            let got = format!("`{name}` of {}", weight.dtype());
            return Err(Error::invalid("compression of gradients", got, "gradients of float32"));
        }
        NdArray::zeros_on(nd.context(), weight.shape().clone(), DType::F32, weight.device())
    }

    /// Returns the compressed gradient, and rewrites the residual.
    pub(crate) fn apply(self, nd: &dyn Invoke, grad: &NdArray, residual: Option<&NdArray>) -> Result<NdArray> {
        let residual =
            residual.ok_or_else(|| Error::invalid("compression of gradients", "no residual", "one per parameter"))?;
        Call::new("_two_bit_compression").with("threshold", self.threshold).make(nd, &[grad, residual])
    }
}
