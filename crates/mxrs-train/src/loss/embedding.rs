//! Losses of distances between examples.

use super::{KlDivLoss, Weights, label_like, log_softmax, sum_per_example};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Error, Result};

/// `max(0, Σ (p - a)² - Σ (p - b)² + margin)` for a prediction `p`, a positive example `a` and a negative example `b`.
#[derive(Clone, Copy, Debug)]
pub struct TripletLoss {
    /// Distance by which the positive example must be nearer; default 1.
    pub margin: f64,
}

impl Default for TripletLoss {
    fn default() -> Self {
        Self { margin: 1.0 }
    }
}

impl TripletLoss {
    /// The loss of each example.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn call(
        &self,
        nd: &Imperative,
        pred: &NdArray,
        (positive, negative): (&NdArray, &NdArray),
        weights: Weights<'_>,
    ) -> Result<NdArray> {
        let distance = |other: &NdArray| nd.square(&nd.sub(&label_like(nd, other, pred)?, pred)?);
        let nearer = sum_per_example(nd, &nd.sub(&distance(positive)?, &distance(negative)?)?)?;
        weights.weigh(nd, nd.relu(&nd.add_scalar(&nearer, self.margin)?)?)
    }
}

/// `1 - cos` for a pair of vectors with the label 1, `max(0, cos - margin)` for a pair with the label -1, where `cos`
/// is the cosine of the angle between the vectors.
#[derive(Clone, Copy, Debug, Default)]
pub struct CosineEmbeddingLoss {
    /// The cosine above which a pair labeled -1 contributes to the loss; default 0.
    pub margin: f64,
}

impl CosineEmbeddingLoss {
    /// The loss of each example. Vectors lie along the last axis; each pair has one label.
    ///
    /// # Errors
    /// Returns an error if an operator fails.
    pub fn call(
        &self,
        nd: &Imperative,
        (a, b): (&NdArray, &NdArray),
        label: &NdArray,
        weights: Weights<'_>,
    ) -> Result<NdArray> {
        let b = label_like(nd, b, a)?;
        let norm = |x: &NdArray| nd.sqrt(&nd.sum(&nd.square(x)?, &[-1], false)?);
        let product = nd.sum(&nd.mul(a, &b)?, &[-1], false)?;
        let norms = nd.maximum_scalar(&nd.mul(&norm(a)?, &norm(&b)?)?, 1e-12)?;
        let cosine = nd.div(&product, &norms)?;
        let label = label_like(nd, label, &cosine)?;
        // For a label l, (1 + l) / 2 is 1 for a pair that belongs together and 0 for another pair.
        let alike = nd.mul_scalar(&nd.add_scalar(&label, 1.0)?, 0.5)?;
        let unlike = nd.rsub_scalar(&alike, 1.0)?;
        let near = nd.mul(&alike, &nd.rsub_scalar(&cosine, 1.0)?)?;
        let far = nd.mul(&unlike, &nd.relu(&nd.sub_scalar(&cosine, self.margin)?)?)?;
        weights.finish(nd, nd.add(&near, &far)?)
    }
}

/// Takes, for each vector, the softmax of minus its squared distances to the vectors of the other batch. The loss is the
/// Kullback-Leibler divergence of this softmax from a target that has most probability at the vector's own partner. Every
/// other vector of the batch is a negative example. Bonadiman, Kumar and Mittal, arXiv:1905.12786.
#[derive(Clone, Copy, Debug)]
pub struct SdmlLoss {
    /// Probability that is spread over the other vectors of the batch; default 0.3.
    pub smoothing: f64,
}

impl Default for SdmlLoss {
    fn default() -> Self {
        Self { smoothing: 0.3 }
    }
}

impl SdmlLoss {
    /// The loss of each example, for two batches of vectors (batch, size). Vectors at the same index belong together.
    ///
    /// # Errors
    /// Returns an error if the arrays have different shapes, do not have two axes or hold a single example, if the smoothing
    /// is not a probability below 1, or if an operator fails.
    pub fn call(&self, nd: &Imperative, (a, b): (&NdArray, &NdArray), weights: Weights<'_>) -> Result<NdArray> {
        if !(0.0..1.0).contains(&self.smoothing) {
            return Err(Error::invalid("smoothing of the SDML loss", self.smoothing, "0 or more, below 1"));
        }
        let n = match a.shape()[..] {
            [n, _] if a.shape() == b.shape() && n > 1 => n,
            _ => {
                let expected = format!("two batches (batch, size) of 2 vectors at least, as {}", a.shape());
                return Err(Error::shape("SDML loss", "vectors", expected, b.shape()));
            }
        };
        let difference = nd.sub(&nd.expand_dims(a, 1)?, &nd.expand_dims(b, 0)?)?;
        let distances = nd.sum(&nd.square(&difference)?, &[2], false)?;
        let logs = log_softmax(nd, &nd.negative(&distances)?, 1)?;
        let other = (self.smoothing / (n - 1) as f64) as f32;
        let own = (1.0 - self.smoothing) as f32;
        let labels: Vec<f32> = (0..n * n).map(|i| if i % (n + 1) == 0 { own } else { other }).collect();
        let labels = NdArray::from_slice(nd.context(), [n, n], &labels)?;
        let labels = if a.dtype() == DType::F32 { labels } else { nd.cast(&labels, a.dtype())? };
        KlDivLoss::default().call(nd, &logs, &labels, weights)
    }
}
