//! `top_k_accuracy_<k>`: the share of predictions with the label among their `k` largest elements. Of equal elements the
//! first counts as larger, so a `k` of 1 would give the accuracy.

use super::View;
use super::deferred::{Mean, Measure};
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_types::{Error, Result};

/// MXNet's metric `TopKAccuracy`, also named `top_k_accuracy` and `top_k_acc`.
pub(super) struct TopK {
    k: usize,
    /// Whether the warning that there are fewer classes than `k` was logged.
    is_warned: AtomicBool,
}

impl TopK {
    /// A metric for the `k` largest elements.
    ///
    /// # Errors
    /// Returns an error if `k` is less than 2.
    pub fn new(k: i64) -> Result<Self> {
        match usize::try_from(k) {
            Ok(k) if k > 1 => Ok(Self { k, is_warned: AtomicBool::new(false) }),
            _ => Err(Error::invalid("top_k", k, "2 or more; for 1 there is accuracy")),
        }
    }
}

impl Measure for TopK {
    type Part = (u64, u64);
    type Total = Mean;

    fn default_name(&self) -> String {
        format!("top_k_accuracy_{}", self.k)
    }

    fn measure(&self, label: &View<'_>, pred: &View<'_>) -> Result<Self::Part> {
        let &[n, classes] = &pred.shape()[..] else {
            return Err(Error::shape("top_k_accuracy", "prediction", "[examples, classes]", pred.shape()));
        };
        if label.len() != n {
            return Err(Error::shape("top_k_accuracy", "label", format!("{n} labels"), label.shape()));
        }
        if classes < self.k && !self.is_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!("top_k_accuracy: top_k is {}, but there are {classes} classes: all are counted", self.k);
        }
        let is_right = |i: &usize| {
            let Some(class) = usize::try_from(label.class(*i)).ok().filter(|class| *class < classes) else {
                return false;
            };
            let own = pred.at(i * classes + class);
            let is_ahead = |j: &usize| {
                let other = pred.at(i * classes + j);
                other > own || (other == own && *j < class)
            };
            (0..classes).filter(is_ahead).count() < self.k
        };
        Ok(((0..n).filter(is_right).count() as u64, n as u64))
    }

    fn add(&self, total: &mut Mean, parts: &[Self::Part]) {
        parts.iter().for_each(|(right, all)| total.add(*right as f64, *all as f64));
    }

    fn value(&self, total: &Mean) -> f64 {
        total.value()
    }
}
