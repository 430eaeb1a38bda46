//! `mae`, `mse` and `rmse`: the mean absolute error, the mean squared error and its square root for each batch. The value is
//! the mean over batches.

use super::View;
use super::deferred::{Mean, Measure};
use mxrs_types::{Error, Result};

/// The kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Regression {
    /// The absolute error: MXNet's metric `MAE`.
    Absolute,
    /// The squared error: MXNet's metric `MSE`.
    Squared,
    /// The root of the mean squared error: MXNet's metric `RMSE`.
    RootSquared,
}

impl Measure for Regression {
    type Part = f64;
    type Total = Mean;

    fn default_name(&self) -> String {
        match self {
            Self::Absolute => "mae",
            Self::Squared => "mse",
            Self::RootSquared => "rmse",
        }
        .into()
    }

    fn measure(&self, label: &View<'_>, pred: &View<'_>) -> Result<f64> {
        let (n, m) = (label.len(), pred.len());
        // A single label per row is compared with every number of that row.
        let each = m.checked_div(n).unwrap_or(1);
        if each * n != m || (each > 1 && label.shape().first() != Some(&n)) {
            let expected = format!("{}, or one label per row of {}", pred.shape(), pred.shape());
            return Err(Error::shape(self.default_name(), "label", expected, label.shape()));
        }
        let error = |i: usize| {
            let difference = label.at(i / each.max(1)) - pred.at(i);
            if *self == Self::Absolute { difference.abs() } else { difference * difference }
        };
        let mean = (0..m).map(error).sum::<f64>() / m as f64;
        Ok(if *self == Self::RootSquared { mean.sqrt() } else { mean })
    }

    fn add(&self, total: &mut Mean, parts: &[f64]) {
        parts.iter().for_each(|mean| total.add(*mean, 1.0));
    }

    fn value(&self, total: &Mean) -> f64 {
        total.value()
    }
}
