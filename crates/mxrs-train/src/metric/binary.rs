//! Counts of a binary classification, from which `f1` and `mcc` are computed, and the two ways to combine batches:
//! macro and micro average.

use super::View;
use super::deferred::{Mean, Measure};
use mxrs_types::{Error, Result};

/// Whether the values of the batches are averaged, or their counts are summed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Average {
    /// The mean of the values of all batches: it depends on the batch size.
    Macro,
    /// One value, computed from the counts of all batches.
    Micro,
}

impl Average {
    /// The kind of average that `word` names.
    ///
    /// # Errors
    /// Returns an error if the word is neither `macro` nor `micro`.
    pub fn parse(word: &str) -> Result<Self> {
        match word {
            "macro" => Ok(Self::Macro),
            "micro" => Ok(Self::Micro),
            other => Err(Error::invalid("average", other, "macro or micro")),
        }
    }

    /// Logs a warning that a macro average depends on the batch size.
    pub fn warn(self, name: &str) {
        if self == Self::Macro {
            tracing::warn!("metric {name}: the average over batches depends on the batch size; average=micro does not");
        }
    }
}

/// Numbers of true and false positives and negatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub tp: u64,
    pub fp: u64,
    pub fn_: u64,
    pub tn: u64,
}

impl Counts {
    /// Counts predictions with two columns. The class is the column with the larger value; class 1 is positive.
    ///
    /// # Errors
    /// Returns an error if predictions are not rows of classes, if the number of labels differs from the number of rows, or
    /// if the labels have more than two classes.
    pub fn of(metric: &str, label: &View<'_>, pred: &View<'_>) -> Result<Self> {
        if pred.shape().ndim() != 2 || label.len() != pred.shape()[0] {
            let expected = format!("[{}, classes], a row for each label", label.len());
            return Err(Error::shape(metric, "prediction", expected, pred.shape()));
        }
        let mut counts = Self::default();
        let mut known: Vec<i64> = Vec::new();
        for (i, class) in pred.argmax(1)?.into_iter().enumerate() {
            let label = label.class(i);
            if !known.contains(&label) {
                known.push(label);
            }
            *match (class == 1, label == 1) {
                (true, true) => &mut counts.tp,
                (true, false) => &mut counts.fp,
                (false, true) => &mut counts.fn_,
                (false, false) => &mut counts.tn,
            } += 1;
        }
        if known.len() > 2 {
            let expected = "labels of at most two classes; pcc takes any number";
            return Err(Error::invalid(format!("metric {metric}: labels"), format!("{known:?}"), expected));
        }
        Ok(counts)
    }

    pub fn add(&mut self, other: &Self) {
        self.tp += other.tp;
        self.fp += other.fp;
        self.fn_ += other.fn_;
        self.tn += other.tn;
    }

    pub fn total(&self) -> u64 {
        self.tp + self.fp + self.fn_ + self.tn
    }
}

/// The sums that `f1` and `mcc` collect over batches.
#[derive(Default)]
pub(super) struct BinaryTotal {
    /// Mean of the batches' values.
    batches: Mean,
    /// Counts of all batches.
    counts: Counts,
}

/// A metric that is a function of the counts of a binary classification.
pub(super) struct Binary {
    /// MXNet's name of the metric.
    pub name: &'static str,
    /// How batches are combined.
    pub average: Average,
    /// The value of the metric for some counts.
    pub score: fn(&Counts) -> f64,
}

impl Measure for Binary {
    type Part = Counts;
    type Total = BinaryTotal;

    fn default_name(&self) -> String {
        self.name.into()
    }

    fn measure(&self, label: &View<'_>, pred: &View<'_>) -> Result<Counts> {
        Counts::of(self.name, label, pred)
    }

    fn add(&self, total: &mut BinaryTotal, parts: &[Counts]) {
        let mut batch = Counts::default();
        parts.iter().for_each(|part| batch.add(part));
        total.batches.add((self.score)(&batch), 1.0);
        total.counts.add(&batch);
    }

    fn value(&self, total: &BinaryTotal) -> f64 {
        match self.average {
            Average::Macro => total.batches.value(),
            Average::Micro if total.counts.total() == 0 => f64::NAN,
            Average::Micro => (self.score)(&total.counts),
        }
    }
}
