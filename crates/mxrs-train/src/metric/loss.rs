//! `loss`: the mean of all elements of the outputs, for networks whose outputs are losses. Labels are not read.

use super::View;
use super::deferred::{Mean, Measure};
use mxrs_types::Result;

/// MXNet's metrics `Loss`, `Torch` and `Caffe`, which differ only in their names.
pub(super) struct Loss {
    /// The printed name.
    pub name: &'static str,
}

impl Measure for Loss {
    /// Sum of the elements, and their number.
    type Part = (f64, f64);
    type Total = Mean;

    fn default_name(&self) -> String {
        self.name.into()
    }

    fn reads_labels(&self) -> bool {
        false
    }

    fn measure(&self, _: &View<'_>, pred: &View<'_>) -> Result<Self::Part> {
        Ok((pred.iter().sum(), pred.len() as f64))
    }

    fn add(&self, total: &mut Mean, parts: &[Self::Part]) {
        parts.iter().for_each(|(sum, count)| total.add(*sum, *count));
    }

    fn value(&self, total: &Mean) -> f64 {
        total.value()
    }
}
