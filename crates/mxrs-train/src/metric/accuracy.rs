//! `accuracy`: the share of predictions whose largest element is at the label. Predictions that have the labels' shape are
//! taken as class numbers.

use super::View;
use super::deferred::{Mean, Measure};
use mxrs_types::{Error, Result};

/// MXNet's metric `Accuracy`, also named `acc`.
pub(super) struct Accuracy {
    /// Axis of the classes.
    pub axis: i64,
}

impl Measure for Accuracy {
    /// Number of correct predictions, and number of all predictions.
    type Part = (u64, u64);
    type Total = Mean;

    fn default_name(&self) -> String {
        "accuracy".into()
    }

    fn measure(&self, label: &View<'_>, pred: &View<'_>) -> Result<Self::Part> {
        let classes: Vec<i64> = match pred.shape() == label.shape() {
            true => (0..pred.len()).map(|i| pred.class(i)).collect(),
            false => pred.argmax(self.axis)?,
        };
        if classes.len() != label.len() {
            let expected = format!("one label for each of the {} predictions of {}", classes.len(), pred.shape());
            return Err(Error::shape("accuracy", "label", expected, label.shape()));
        }
        let right = classes.iter().enumerate().filter(|(i, class)| label.class(*i) == **class).count();
        Ok((right as u64, classes.len() as u64))
    }

    fn add(&self, total: &mut Mean, parts: &[Self::Part]) {
        parts.iter().for_each(|(right, all)| total.add(*right as f64, *all as f64));
    }

    fn value(&self, total: &Mean) -> f64 {
        total.value()
    }
}
