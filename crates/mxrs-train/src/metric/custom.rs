//! A metric that is computed by a function of the caller.

use super::deferred::{Deferred, Mean, Measure};
use super::{EvalMetric, View, Wanted};
use mxrs_types::Result;

/// A function of one label array and its prediction that returns a sum and the number of summed values.
type Feval = Box<dyn Fn(&View<'_>, &View<'_>) -> Result<(f64, f64)> + Send + Sync>;

struct Custom(Feval);

impl Measure for Custom {
    type Part = (f64, f64);
    type Total = Mean;

    fn default_name(&self) -> String {
        "custom".into()
    }

    fn measure(&self, label: &View<'_>, pred: &View<'_>) -> Result<Self::Part> {
        (self.0)(label, pred)
    }

    fn add(&self, total: &mut Mean, parts: &[Self::Part]) {
        parts.iter().for_each(|(sum, count)| total.add(*sum, *count));
    }

    fn value(&self, total: &Mean) -> f64 {
        total.value()
    }
}

/// Creates metrics from functions.
pub struct CustomMetric;

impl CustomMetric {
    /// A metric whose value is the sum of the first numbers that `feval` returns, divided by the sum of the second ones. A
    /// `feval` that returns `(value, 1.0)` gives the mean over batches.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(
        name: impl Into<String>,
        feval: impl Fn(&View<'_>, &View<'_>) -> Result<(f64, f64)> + Send + Sync + 'static,
    ) -> Box<dyn EvalMetric> {
        Box::new(Deferred::new(Custom(Box::new(feval)), Some(name.into()), Wanted::default()))
    }
}
