//! Losses for imperative code, as Gluon has them: compositions of operators, so that recording them gives their gradients.
//!
//! A loss takes predictions and labels of a batch (axis 0) and gives one number per example: the mean over the other axes. The
//! gradient of their sum, divided by the batch size, is what [`Trainer::step`](crate::Trainer::step) updates by.
//!
//! Read next: `softmax.rs` for classes, `regression.rs` for numbers, `sequence.rs` for labels without timing.

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

/// What all losses have: factors of what each element contributes, and the mean per example.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weights<'a> {
    /// Of everything.
    pub weight: Option<f64>,
    /// Of each example, in a shape that broadcasts to the predictions'.
    pub samples: Option<&'a NdArray>,
}

impl<'a> Weights<'a> {
    /// A factor for each example.
    pub fn of_samples(samples: &'a NdArray) -> Self {
        Self { weight: None, samples: Some(samples) }
    }

    /// Weighs, and takes the mean of each example.
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

/// Labels in the shape of the predictions they belong to.
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

/// The only output of a call.
fn one(nd: &Imperative, op: &str, attrs: &[(&str, &str)], inputs: &[&NdArray]) -> Result<NdArray> {
    let attrs: Attrs = attrs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let mut outputs = nd.invoke(op, &attrs, inputs)?;
    if outputs.is_empty() {
        return Err(Error::invalid(op, "a call without output", "one output"));
    }
    Ok(outputs.swap_remove(0))
}
