//! Losses of labels 1 and -1.

use super::{Weights, label_like, softrelu};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::Result;

/// `max(0, margin - p l)` for a prediction `p` and a label `l`.
#[derive(Clone, Copy, Debug)]
pub struct HingeLoss {
    /// Smallest product of prediction and label for which the loss is 0; default 1.
    pub margin: f64,
}

/// The square of [`HingeLoss`].
#[derive(Clone, Copy, Debug)]
pub struct SquaredHingeLoss {
    /// Smallest product of prediction and label for which the loss is 0; default 1.
    pub margin: f64,
}

impl Default for HingeLoss {
    fn default() -> Self {
        Self { margin: 1.0 }
    }
}

impl Default for SquaredHingeLoss {
    fn default() -> Self {
        Self { margin: 1.0 }
    }
}

fn missing(nd: &Imperative, pred: &NdArray, label: &NdArray, margin: f64) -> Result<NdArray> {
    nd.relu(&nd.rsub_scalar(&nd.mul(pred, &label_like(nd, label, pred)?)?, margin)?)
}

impl HingeLoss {
    /// The loss of each example.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn call(&self, nd: &Imperative, pred: &NdArray, label: &NdArray, weights: Weights<'_>) -> Result<NdArray> {
        weights.finish(nd, missing(nd, pred, label, self.margin)?)
    }
}

impl SquaredHingeLoss {
    /// The loss of each example.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn call(&self, nd: &Imperative, pred: &NdArray, label: &NdArray, weights: Weights<'_>) -> Result<NdArray> {
        weights.finish(nd, nd.square(&missing(nd, pred, label, self.margin)?)?)
    }
}

/// `ln(1 + e^(-p l))` for a prediction `p` and a label `l`.
#[derive(Clone, Copy, Debug)]
pub struct LogisticLoss {
    /// Whether labels are 1 and -1 (default); otherwise they are 1 and 0.
    pub signed: bool,
}

impl Default for LogisticLoss {
    fn default() -> Self {
        Self { signed: true }
    }
}

impl LogisticLoss {
    /// The loss of each example.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn call(&self, nd: &Imperative, pred: &NdArray, label: &NdArray, weights: Weights<'_>) -> Result<NdArray> {
        let label = label_like(nd, label, pred)?;
        let label = if self.signed { nd.mul_scalar(&nd.add_scalar(&label, 1.0)?, 0.5)? } else { label };
        let tail = softrelu(nd, &nd.negative(&nd.abs(pred)?)?)?;
        let loss = nd.add(&nd.sub(&nd.relu(pred)?, &nd.mul(pred, &label)?)?, &tail)?;
        weights.finish(nd, loss)
    }
}
