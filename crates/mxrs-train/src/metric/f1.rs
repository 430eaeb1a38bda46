//! `f1`: the harmonic mean of precision and recall of a binary classification; 0 if there are no true positives.

use super::binary::{Average, Binary, Counts};

/// MXNet's metric `F1`.
pub(super) fn f1(average: Average) -> Binary {
    Binary { name: "f1", average, score }
}

/// `part / (part + rest)`, or 0 if both are 0.
fn share(part: u64, rest: u64) -> f64 {
    if part + rest == 0 { 0.0 } else { part as f64 / (part + rest) as f64 }
}

fn score(counts: &Counts) -> f64 {
    let (precision, recall) = (share(counts.tp, counts.fp), share(counts.tp, counts.fn_));
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}
