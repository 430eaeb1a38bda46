//! `mcc`: Matthews' correlation coefficient of a binary classification. Factors of its denominator that are 0 count as 1.

use super::binary::{Average, Binary, Counts};

/// MXNet's metric `MCC`.
pub(super) fn mcc(average: Average) -> Binary {
    Binary { name: "mcc", average, score }
}

fn score(counts: &Counts) -> f64 {
    let [tp, fp, fn_, tn] = [counts.tp, counts.fp, counts.fn_, counts.tn].map(|n| n as f64);
    let factors = [tp + fp, tp + fn_, tn + fp, tn + fn_];
    let denominator: f64 = factors.into_iter().filter(|factor| *factor != 0.0).product();
    (tp * tn - fp * fn_) / denominator.sqrt()
}
