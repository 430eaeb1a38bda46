//! `perplexity`: `e` to the power of the mean of `-ln max(p, 1e-10)`, where `p` is the probability of the label. Labels
//! equal to `ignore_label` are not counted. Labels outside the classes count as the nearest class.

use super::View;
use super::deferred::{Mean, Measure};
use mxrs_types::{Error, Result};

/// MXNet's metric `Perplexity`.
pub(super) struct Perplexity {
    /// Label that is not counted.
    pub ignore_label: Option<i64>,
    /// Axis of the classes.
    pub axis: i64,
}

impl Measure for Perplexity {
    /// Sum of the negative logarithms, and number of labels.
    type Part = (f64, f64);
    type Total = Mean;

    fn default_name(&self) -> String {
        "perplexity".into()
    }

    fn measure(&self, label: &View<'_>, pred: &View<'_>) -> Result<Self::Part> {
        let (outer, classes, inner) = pred.around(self.axis)?;
        if label.len() != outer * inner || classes == 0 {
            let expected = format!("{} labels, one for each distribution of {}", outer * inner, pred.shape());
            return Err(Error::shape("perplexity", "label", expected, label.shape()));
        }
        let (mut sum, mut count) = (0.0, 0.0);
        for i in 0..label.len() {
            let class = label.class(i);
            if self.ignore_label == Some(class) {
                continue;
            }
            let class = usize::try_from(class).unwrap_or(0).min(classes - 1);
            let p = pred.at((i / inner * classes + class) * inner + i % inner);
            sum -= p.max(1e-10).ln();
            count += 1.0;
        }
        Ok((sum, count))
    }

    fn add(&self, total: &mut Mean, parts: &[Self::Part]) {
        parts.iter().for_each(|(sum, count)| total.add(*sum, *count));
    }

    fn value(&self, total: &Mean) -> f64 {
        total.value().exp()
    }
}
