//! Cross-entropy loss for one class among several.

use super::Weights;
use crate::metric::View;
use mxrs_exec::{Imperative, autograd};
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Error, Result};

/// `x - ln Σ e^x` along an axis, without overflow.
///
/// # Errors
/// Returns an error if an operator fails.
pub fn log_softmax(nd: &Imperative, x: &NdArray, axis: i64) -> Result<NdArray> {
    // The result does not depend on the subtracted maximum, so no gradient needs to flow through it.
    let largest = {
        let _paused = autograd::set(false, autograd::is_training());
        nd.max(&x.detach(), &[axis], true)?
    };
    let shifted = nd.sub(x, &largest)?;
    let sum = nd.sum(&nd.exp(&shifted)?, &[axis], true)?;
    nd.sub(&shifted, &nd.log(&sum)?)
}

/// Rows of `n_classes` numbers: `on` at the label, `off` elsewhere. Waits for the labels.
///
/// # Errors
/// Returns an error if a label is not a class (the error gives its index), or if the labels could not be computed.
pub fn one_hot(nd: &Imperative, labels: &NdArray, n_classes: usize, on: f32, off: f32) -> Result<NdArray> {
    let dtype = labels.dtype();
    let classes: Vec<f64> = NdArray::read_later(&[labels], move |bytes| {
        Ok(View::whole(dtype, bytes.first().unwrap_or(&&[][..]))?.iter().collect())
    })?
    .wait()??;
    let mut rows = vec![off; classes.len() * n_classes];
    for (i, class) in classes.iter().enumerate() {
        if !(*class >= 0.0 && *class < n_classes as f64) {
            let expected = format!("0 to {}", n_classes.saturating_sub(1));
            return Err(Error::invalid(format!("label {i}"), class, expected));
        }
        rows[i * n_classes + *class as usize] = on;
    }
    let mut shape = labels.shape().clone();
    shape.push(n_classes);
    NdArray::from_slice(nd.context(), shape, &rows)
}

/// `-ln p`, where `p` is the probability of the label according to the softmax of the predictions.
#[derive(Clone, Copy, Debug)]
pub struct SoftmaxCrossEntropyLoss {
    /// Whether labels are class numbers (default). Otherwise they are probabilities in the shape of the predictions.
    pub sparse_label: bool,
    /// Whether predictions already are logarithms of probabilities (default: no).
    pub from_logits: bool,
    /// Share of the probability that is spread evenly over all classes; default 0.
    pub smoothing: f64,
}

impl Default for SoftmaxCrossEntropyLoss {
    fn default() -> Self {
        Self { sparse_label: true, from_logits: false, smoothing: 0.0 }
    }
}

impl SoftmaxCrossEntropyLoss {
    /// The loss of each example, with the classes along the last axis.
    ///
    /// # Errors
    /// Returns an error if the smoothing is not in [0, 1), if a label is not a class, or if an operator fails.
    pub fn call(&self, nd: &Imperative, pred: &NdArray, label: &NdArray, weights: Weights<'_>) -> Result<NdArray> {
        if !(0.0..1.0).contains(&self.smoothing) {
            return Err(Error::invalid("label smoothing", self.smoothing, "0 or more, below 1"));
        }
        let Some(&n_classes) = pred.shape().last() else {
            return Err(Error::shape("softmax cross-entropy", "prediction", "an axis of classes", pred.shape()));
        };
        let logs = if self.from_logits { pred.clone() } else { log_softmax(nd, pred, -1)? };
        let off = self.smoothing / n_classes as f64;
        let target = if self.sparse_label {
            let rows = one_hot(nd, label, n_classes, (1.0 - self.smoothing + off) as f32, off as f32)?;
            if rows.shape().n_elements() != pred.shape().n_elements() {
                let expected = format!("one label for each row of {}", pred.shape());
                return Err(Error::shape("softmax cross-entropy", "label", expected, label.shape()));
            }
            let rows = rows.reshape(pred.shape().clone())?;
            if pred.dtype() == DType::F32 { rows } else { nd.cast(&rows, pred.dtype())? }
        } else if self.smoothing > 0.0 {
            nd.add_scalar(&nd.mul_scalar(label, 1.0 - self.smoothing)?, off)?
        } else {
            label.clone()
        };
        let loss = nd.negative(&nd.sum(&nd.mul(&logs, &target)?, &[-1], true)?)?;
        weights.finish(nd, loss)
    }
}
