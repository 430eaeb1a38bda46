//! `mcc`: Matthews' correlation coefficient of a binary classification. Factors of its denominator that are 0 count as 1.

use super::View;
use super::binary::{Average, BinaryTotal, Counts};
use super::deferred::Measure;
use mxrs_types::Result;

/// MXNet's metric `MCC`.
pub(super) struct Mcc(pub Average);

fn score(counts: &Counts) -> f64 {
    let [tp, fp, fn_, tn] = [counts.tp, counts.fp, counts.fn_, counts.tn].map(|n| n as f64);
    let factors = [tp + fp, tp + fn_, tn + fp, tn + fn_];
    let denominator: f64 = factors.into_iter().filter(|factor| *factor != 0.0).product();
    (tp * tn - fp * fn_) / denominator.sqrt()
}

impl Measure for Mcc {
    type Part = Counts;
    type Total = BinaryTotal;

    fn default_name(&self) -> String {
        "mcc".into()
    }

    fn measure(&self, label: &View<'_>, pred: &View<'_>) -> Result<Counts> {
        Counts::of("mcc", label, pred)
    }

    fn add(&self, total: &mut BinaryTotal, parts: &[Counts]) {
        total.add(parts, score);
    }

    fn value(&self, total: &BinaryTotal) -> f64 {
        total.value(self.0, score)
    }
}
