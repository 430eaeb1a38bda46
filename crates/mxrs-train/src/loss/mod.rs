//! Losses for imperative code, like Gluon's. They are compositions of operators, so recording them gives their gradients.
//!
//! A loss takes predictions and labels of a batch (axis 0) and returns one number per example: the mean over the other axes.
//! [`Trainer::step`](crate::Trainer::step) updates by the gradient of the sum of these numbers, divided by the batch size.
//!
//! Read next: `softmax.rs` for classes, `regression.rs` for numbers, `sequence.rs` for label sequences without alignment.

mod embedding;
mod margin;
mod regression;
mod sequence;
mod sigmoid;
mod softmax;

pub use embedding::{CosineEmbeddingLoss, SdmlLoss, TripletLoss};
pub use margin::{HingeLoss, LogisticLoss, SquaredHingeLoss};
pub use regression::{HuberLoss, KlDivLoss, L1Loss, L2Loss, PoissonNllLoss};
pub use sequence::{CtcLoss, Lengths};
pub use sigmoid::SigmoidBceLoss;
pub use softmax::{SoftmaxCrossEntropyLoss, log_softmax, one_hot};

use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{Error, Result};

/// Weights that all losses accept: factors by which the elements of the loss are multiplied before the mean per example.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weights<'a> {
    /// Factor of all elements.
    pub weight: Option<f64>,
    /// Factor of each example, in a shape that broadcasts to that of the predictions.
    pub samples: Option<&'a NdArray>,
}

impl<'a> Weights<'a> {
    /// Weights with a factor for each example.
    pub fn of_samples(samples: &'a NdArray) -> Self {
        Self { weight: None, samples: Some(samples) }
    }

    /// Multiplies the loss by the weights, and takes the mean of each example.
    fn finish(&self, nd: &Imperative, loss: NdArray) -> Result<NdArray> {
        mean_per_example(nd, &self.weigh(nd, loss)?)
    }

    fn weigh(&self, nd: &Imperative, mut loss: NdArray) -> Result<NdArray> {
        if let Some(samples) = self.samples {
            loss = nd.mul(&loss, samples)?;
        }
        match self.weight {
            Some(weight) => nd.mul_scalar(&loss, weight),
            None => Ok(loss),
        }
    }
}

/// The mean over every axis but the first.
fn mean_per_example(nd: &Imperative, loss: &NdArray) -> Result<NdArray> {
    match loss.shape().ndim() {
        0 => Err(Error::shape("loss", "prediction", "at least the axis of examples", loss.shape())),
        1 => Ok(loss.clone()),
        ndim => nd.mean(loss, &(1..ndim as i64).collect::<Vec<_>>(), false),
    }
}

/// Sum over every axis but the first.
fn sum_per_example(nd: &Imperative, x: &NdArray) -> Result<NdArray> {
    match x.shape().ndim() {
        0 => Err(Error::shape("loss", "prediction", "at least the axis of examples", x.shape())),
        1 => Ok(x.clone()),
        ndim => nd.sum(x, &(1..ndim as i64).collect::<Vec<_>>(), false),
    }
}

/// Reshapes labels to the shape of the predictions.
fn label_like(nd: &Imperative, label: &NdArray, pred: &NdArray) -> Result<NdArray> {
    if label.shape() == pred.shape() {
        return Ok(label.clone());
    }
    if label.shape().n_elements() != pred.shape().n_elements() {
        return Err(Error::shape("loss", "label", pred.shape().to_string(), label.shape()));
    }
    nd.reshape(label, &pred.shape().iter().map(|n| *n as i64).collect::<Vec<_>>())
}

/// `ln(1 + e^x)`.
fn softrelu(nd: &Imperative, x: &NdArray) -> Result<NdArray> {
    one(nd, "Activation", &[("act_type", "softrelu")], &[x])
}

/// Calls the operator `op` and returns its first output.
fn one(nd: &Imperative, op: &str, attrs: &[(&str, &str)], inputs: &[&NdArray]) -> Result<NdArray> {
    let attrs: Attrs = attrs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let mut outputs = nd.invoke(op, &attrs, inputs)?;
    if outputs.is_empty() {
        return Err(Error::invalid(op, "a call without output", "one output"));
    }
    Ok(outputs.swap_remove(0))
}
