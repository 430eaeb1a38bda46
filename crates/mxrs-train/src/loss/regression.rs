//! Losses for regression: predictions and labels are numbers.

use super::{Weights, label_like, sum_per_example};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::Result;

/// `(p - l)² / 2` for a prediction `p` and a label `l`.
#[derive(Clone, Copy, Debug, Default)]
pub struct L2Loss;

impl L2Loss {
    /// The loss of each example.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn call(&self, nd: &Imperative, pred: &NdArray, label: &NdArray, weights: Weights<'_>) -> Result<NdArray> {
        let difference = nd.sub(&label_like(nd, label, pred)?, pred)?;
        let loss = nd.mul_scalar(&nd.square(&difference)?, 0.5)?;
        weights.finish(nd, loss)
    }
}

/// `|p - l|` for a prediction `p` and a label `l`.
#[derive(Clone, Copy, Debug, Default)]
pub struct L1Loss;

impl L1Loss {
    /// The loss of each example.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn call(&self, nd: &Imperative, pred: &NdArray, label: &NdArray, weights: Weights<'_>) -> Result<NdArray> {
        let loss = nd.abs(&nd.sub(&label_like(nd, label, pred)?, pred)?)?;
        weights.finish(nd, loss)
    }
}

/// `d² / 2ρ` if the absolute error `d` is below `ρ`, otherwise `d - ρ / 2`.
#[derive(Clone, Copy, Debug)]
pub struct HuberLoss {
    /// Error at which the loss changes from quadratic to linear; default 1.
    pub rho: f64,
}

impl Default for HuberLoss {
    fn default() -> Self {
        Self { rho: 1.0 }
    }
}

impl HuberLoss {
    /// The loss of each example.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn call(&self, nd: &Imperative, pred: &NdArray, label: &NdArray, weights: Weights<'_>) -> Result<NdArray> {
        let size = nd.abs(&nd.sub(&label_like(nd, label, pred)?, pred)?)?;
        // With q = min(d, ρ) both cases are q d / ρ - q² / 2ρ.
        let q = nd.minimum_scalar(&size, self.rho)?;
        let linear = nd.mul_scalar(&nd.mul(&q, &size)?, 1.0 / self.rho)?;
        let square = nd.mul_scalar(&nd.square(&q)?, 0.5 / self.rho)?;
        weights.finish(nd, nd.sub(&linear, &square)?)
    }
}

/// `l (ln(l + 1e-12) - p)` for log-probabilities `p` and label probabilities `l`, summed over each example as in MXNet 1.9
/// (other losses take the mean).
#[derive(Clone, Copy, Debug)]
pub struct KlDivLoss {
    /// Whether predictions already are logarithms of probabilities (default). Otherwise a log-softmax is applied to them.
    pub from_logits: bool,
    /// Axis of the log-softmax; default the last.
    pub axis: i64,
}

impl Default for KlDivLoss {
    fn default() -> Self {
        Self { from_logits: true, axis: -1 }
    }
}

impl KlDivLoss {
    /// The loss of each example.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn call(&self, nd: &Imperative, pred: &NdArray, label: &NdArray, weights: Weights<'_>) -> Result<NdArray> {
        let logs = if self.from_logits { pred.clone() } else { super::log_softmax(nd, pred, self.axis)? };
        let of_label = nd.log(&nd.add_scalar(label, 1e-12)?)?;
        let loss = nd.mul(label, &nd.sub(&of_label, &logs)?)?;
        sum_per_example(nd, &weights.weigh(nd, loss)?)
    }
}

/// `e^p - l p` for a prediction `p` and a label `l`; `p - l ln(p + ε)` if predictions are not logarithms. The result is one
/// number for the batch, as in Gluon.
#[derive(Clone, Copy, Debug)]
pub struct PoissonNllLoss {
    /// Whether predictions are logarithms (default).
    pub from_logits: bool,
    /// Added to predictions that are not logarithms.
    pub epsilon: f64,
}

impl Default for PoissonNllLoss {
    fn default() -> Self {
        Self { from_logits: true, epsilon: 1e-8 }
    }
}

impl PoissonNllLoss {
    /// The mean loss of the batch.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn call(&self, nd: &Imperative, pred: &NdArray, label: &NdArray, weights: Weights<'_>) -> Result<NdArray> {
        let label = label_like(nd, label, pred)?;
        let loss = match self.from_logits {
            true => nd.sub(&nd.exp(pred)?, &nd.mul(&label, pred)?)?,
            false => nd.sub(pred, &nd.mul(&label, &nd.log(&nd.add_scalar(pred, self.epsilon)?)?)?)?,
        };
        nd.mean(&weights.weigh(nd, loss)?, &[], false)
    }
}
