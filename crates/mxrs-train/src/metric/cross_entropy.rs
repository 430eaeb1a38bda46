//! `cross-entropy` and `nll-loss`: the mean of `-ln(p + eps)`, where `p` is the probability of the label.

use super::View;
use super::deferred::{Mean, Measure};
use mxrs_types::{Error, Result};

/// MXNet's metrics `CrossEntropy`, also named `ce`, and `NegativeLogLikelihood`, also named `nll_loss`.
pub(super) struct CrossEntropy {
    /// The printed name.
    pub name: &'static str,
    /// Added to each probability.
    pub eps: f64,
}

impl Measure for CrossEntropy {
    /// Sum of the negative logarithms, and number of labels.
    type Part = (f64, f64);
    type Total = Mean;

    fn default_name(&self) -> String {
        self.name.into()
    }

    fn measure(&self, label: &View<'_>, pred: &View<'_>) -> Result<Self::Part> {
        let &[n, classes] = &pred.shape()[..] else {
            return Err(Error::shape(self.name, "prediction", "[examples, classes]", pred.shape()));
        };
        if label.len() != n {
            return Err(Error::shape(self.name, "label", format!("{n} labels"), label.shape()));
        }
        let mut sum = 0.0;
        for i in 0..n {
            let class = usize::try_from(label.class(i)).ok().filter(|class| *class < classes).ok_or_else(|| {
                let expected = format!("0 to {}, of {classes} classes", classes.saturating_sub(1));
                Error::invalid(format!("{}: label of row {i}", self.name), label.at(i), expected)
            })?;
            sum -= (pred.at(i * classes + class) + self.eps).ln();
        }
        Ok((sum, n as f64))
    }

    fn add(&self, total: &mut Mean, parts: &[Self::Part]) {
        parts.iter().for_each(|(sum, count)| total.add(*sum, *count));
    }

    fn value(&self, total: &Mean) -> f64 {
        total.value()
    }
}
