//! `f1`: the harmonic mean of precision and recall of a binary classification; 0 if there are no true positives.

use super::View;
use super::binary::{Average, BinaryTotal, Counts};
use super::deferred::Measure;
use mxrs_types::Result;

/// MXNet's metric `F1`.
pub(super) struct F1(pub Average);

/// `part / (part + rest)`, or 0 if both are 0.
fn share(part: u64, rest: u64) -> f64 {
    if part + rest == 0 { 0.0 } else { part as f64 / (part + rest) as f64 }
}

fn score(counts: &Counts) -> f64 {
    let (precision, recall) = (share(counts.tp, counts.fp), share(counts.tp, counts.fn_));
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

impl Measure for F1 {
    type Part = Counts;
    type Total = BinaryTotal;

    fn default_name(&self) -> String {
        "f1".into()
    }

    fn measure(&self, label: &View<'_>, pred: &View<'_>) -> Result<Counts> {
        Counts::of("f1", label, pred)
    }

    fn add(&self, total: &mut BinaryTotal, parts: &[Counts]) {
        total.add(parts, score);
    }

    fn value(&self, total: &BinaryTotal) -> f64 {
        total.value(self.0, score)
    }
}
