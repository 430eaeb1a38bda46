//! Loss of sequences whose labels come without timing.

use super::{Weights, one};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result};

/// Minus the logarithm of the probability that a sequence says its label, whatever its timing (connectionist temporal
/// classification): the operator `CTCLoss`, with the last class for the blank, as in Gluon.
#[derive(Clone, Copy, Debug, Default)]
pub struct CtcLoss {
    /// Whether predictions are (time, batch, classes), Gluon's layout `TNC`; no, for (batch, time, classes), `NTC`.
    pub time_major: bool,
    /// Whether labels are (places, batch), Gluon's layout `TN`; no, for (batch, places), `NT`.
    pub label_time_major: bool,
}

/// How much of each sequence, and of each label, counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lengths<'a> {
    /// Times of each sequence; all without.
    pub sequences: Option<&'a NdArray>,
    /// Places of each label; those before the first -1 without.
    pub labels: Option<&'a NdArray>,
}

impl CtcLoss {
    /// The loss of each example. Predictions are activations: the softmax is part of the loss. Labels are classes from 0 on,
    /// with -1 behind those that are shorter.
    ///
    /// # Errors
    /// Predictions without three axes, labels without two; labels that are no classes, lengths that are none; what operators
    /// report.
    pub fn call(
        &self,
        nd: &Imperative,
        pred: &NdArray,
        label: &NdArray,
        lengths: Lengths<'_>,
        weights: Weights<'_>,
    ) -> Result<NdArray> {
        for (what, array, ndim) in [("prediction", pred, 3), ("label", label, 2)] {
            if array.shape().ndim() != ndim {
                return Err(Error::shape("CTC loss", what, format!("{ndim} axes"), array.shape()));
            }
        }
        let pred = if self.time_major { pred.clone() } else { nd.transpose(pred, &[1, 0, 2])? };
        let label = if self.label_time_major { nd.transpose(label, &[1, 0])? } else { label.clone() };
        let given = |lengths: Option<&NdArray>| if lengths.is_some() { "True" } else { "False" };
        let attrs = [
            ("blank_label", "last"),
            ("use_data_lengths", given(lengths.sequences)),
            ("use_label_lengths", given(lengths.labels)),
        ];
        let mut inputs = vec![&pred, &label];
        inputs.extend(lengths.sequences.iter().chain(&lengths.labels));
        weights.weigh(nd, one(nd, "CTCLoss", &attrs, &inputs)?)
    }
}
