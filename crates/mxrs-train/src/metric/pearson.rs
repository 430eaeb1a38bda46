//! `pearsonr`: Pearson's correlation of labels and predictions, either averaged over batches or computed over all values
//! together.

use super::View;
use super::binary::Average;
use super::deferred::{Mean, Measure};
use mxrs_types::{Error, Result};

/// MXNet's metric `PearsonCorrelation`, also named `pearsonr`.
pub(super) struct Pearson(pub Average);

/// Means of predictions and labels, and sums of the products of their deviations from these means.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    n: f64,
    mean: [f64; 2],
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Moments {
    fn of(label: &View<'_>, pred: &View<'_>) -> Self {
        let n = label.len() as f64;
        let mean = [pred.iter().sum::<f64>() / n, label.iter().sum::<f64>() / n];
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        for (x, y) in pred.iter().zip(label.iter()) {
            let (x, y) = (x - mean[0], y - mean[1]);
            xx += x * x;
            yy += y * y;
            xy += x * y;
        }
        Self { n, mean, xx, yy, xy }
    }

    /// Adds the moments of other pairs of values: the result is the moments of all pairs (Chan, Golub and LeVeque,
    /// 1979).
    fn join(&mut self, other: &Self) {
        if other.n == 0.0 {
            return;
        }
        let n = self.n + other.n;
        let delta = [other.mean[0] - self.mean[0], other.mean[1] - self.mean[1]];
        let weight = self.n * other.n / n;
        self.xx += other.xx + delta[0] * delta[0] * weight;
        self.yy += other.yy + delta[1] * delta[1] * weight;
        self.xy += other.xy + delta[0] * delta[1] * weight;
        self.mean = [0, 1].map(|i| self.mean[i] + delta[i] * other.n / n);
        self.n = n;
    }

    fn correlation(&self) -> f64 {
        self.xy / (self.xx * self.yy).sqrt()
    }
}

/// The sums that are collected over batches.
#[derive(Default)]
pub(super) struct PearsonTotal {
    batches: Mean,
    all: Moments,
}

impl Measure for Pearson {
    type Part = Moments;
    type Total = PearsonTotal;

    fn default_name(&self) -> String {
        "pearsonr".into()
    }

    fn measure(&self, label: &View<'_>, pred: &View<'_>) -> Result<Moments> {
        if label.shape() != pred.shape() {
            return Err(Error::shape("pearsonr", "label", pred.shape().to_string(), label.shape()));
        }
        Ok(Moments::of(label, pred))
    }

    fn add(&self, total: &mut PearsonTotal, parts: &[Moments]) {
        for part in parts {
            total.batches.add(part.correlation(), 1.0);
            total.all.join(part);
        }
    }

    fn value(&self, total: &PearsonTotal) -> f64 {
        match self.0 {
            Average::Macro => total.batches.value(),
            Average::Micro => total.all.correlation(),
        }
    }
}
