//! Losses of distances between examples.

use super::{Weights, label_like, sum_per_example};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::Result;

/// `max(0, Σ (p - a)² - Σ (p - b)² + margin)` for a positive example `a` and a negative one `b`.
#[derive(Clone, Copy, Debug)]
pub struct TripletLoss {
    /// How much nearer the positive example must be; 1.
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
    /// What operators report.
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

/// `1 - cos` of two vectors labelled 1, `max(0, cos - margin)` of two labelled -1.
#[derive(Clone, Copy, Debug, Default)]
pub struct CosineEmbeddingLoss {
    /// From where on unlike vectors count; 0.
    pub margin: f64,
}

impl CosineEmbeddingLoss {
    /// The loss of each example: vectors along the last axis, one label for each pair.
    ///
    /// # Errors
    /// What operators report.
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
        // (1 + l) / 2 is 1 for alike and 0 for unlike.
        let alike = nd.mul_scalar(&nd.add_scalar(&label, 1.0)?, 0.5)?;
        let unlike = nd.rsub_scalar(&alike, 1.0)?;
        let near = nd.mul(&alike, &nd.rsub_scalar(&cosine, 1.0)?)?;
        let far = nd.mul(&unlike, &nd.relu(&nd.sub_scalar(&cosine, self.margin)?)?)?;
        weights.finish(nd, nd.add(&near, &far)?)
    }
}
