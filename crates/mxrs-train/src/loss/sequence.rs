//! Loss of sequences whose labels are not aligned with time steps.

use super::{Weights, one};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result};

/// Connectionist temporal classification: minus the logarithm of the probability of the label sequence, summed over all
/// alignments. Calls the operator `CTCLoss` with the last class as blank, as in Gluon.
#[derive(Clone, Copy, Debug, Default)]
pub struct CtcLoss {
    /// Whether predictions are (time, batch, classes), Gluon's layout `TNC`. The default is (batch, time, classes), `NTC`.
    pub time_major: bool,
    /// Whether labels are (position, batch), Gluon's layout `TN`. The default is (batch, position), `NT`.
    pub label_time_major: bool,
}

/// Lengths of the sequences and of the labels of a batch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lengths<'a> {
    /// Number of time steps of each sequence; all if `None`.
    pub sequences: Option<&'a NdArray>,
    /// Number of classes in each label; if `None`, a label ends before its first -1.
    pub labels: Option<&'a NdArray>,
}

impl CtcLoss {
    /// The loss of each example. Predictions are activations: the softmax is part of the loss. Labels are classes from 0 on;
    /// shorter labels are padded with -1.
    ///
    /// # Errors
    /// Returns an error if predictions do not have three axes or labels do not have two, if a label is not a class or a length
    /// is not valid, or if an operator fails.
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
