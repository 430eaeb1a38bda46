//! Compression of gradients to two bits per element, with what it leaves behind added to the next gradient: the arithmetic of
//! MXNet's `gradient_compression`, which a store of the kind `device` applies to each device's gradients, be it one.

use crate::call::Call;
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Error, Result};

/// Elements of gradients become -threshold, 0 or threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoBit {
    threshold: f32,
}

impl TwoBit {
    /// Compression with this threshold, which is compared to gradients as they are summed over the batch: before the
    /// optimizer's factor of gradients. MXNet's default is 0.5.
    ///
    /// # Errors
    /// A threshold that is no positive number.
    pub fn new(threshold: f64) -> Result<Self> {
        let single = threshold as f32;
        if single.is_finite() && single > 0.0 {
            return Ok(Self { threshold: single });
        }
        Err(Error::invalid("threshold of gradient compression", threshold, "a positive number"))
    }

    /// What is left behind before the first gradient of a parameter: nothing.
    pub(crate) fn residual(nd: &Imperative, name: &str, weight: &NdArray) -> Result<NdArray> {
        if weight.dtype() != DType::F32 {
            let got = format!("`{name}` of {}", weight.dtype());
            return Err(Error::invalid("compression of gradients", got, "gradients of float32"));
        }
        NdArray::zeros(nd.context(), weight.shape().clone(), DType::F32)
    }

    /// The compressed gradient; rewrites what is left behind.
    pub(crate) fn apply(self, nd: &Imperative, grad: &NdArray, residual: Option<&NdArray>) -> Result<NdArray> {
        let residual =
            residual.ok_or_else(|| Error::invalid("compression of gradients", "no residual", "one per parameter"))?;
        Call::new("_two_bit_compression").with("threshold", self.threshold).make(nd, &[grad, residual])
    }
}
