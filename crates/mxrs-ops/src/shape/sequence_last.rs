//! The last step of each sequence: [time, batch, …] gives [batch, …]. Data is [batch, time, …] with `axis` 1;
//! `sequence_length` is `[batch]`, and is at least 1. Without `use_sequence_length`, all sequences are whole.
//!
//! Gradient: `ograd` at the steps that were taken, 0 elsewhere; lengths have no gradient.
//!
//! MXNet: `SequenceLast`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; lengths any of these.

use crate::dtypes::NUMBERS;
use crate::families::moved::{self, Move};
use crate::families::sequences;
use crate::inference::learn;
use mxrs_op::{Fill, MovedRows, OpDef, RefInput, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `SequenceLast` and `SequenceReverse`.
    pub struct SequenceParams for "SequenceLast" {
        /// Whether lengths are given.
        use_sequence_length: bool = false,
        /// The axis of time.
        axis: i32 = 0,
    }
}

struct SequenceLast;

impl Move for SequenceLast {
    type Params = SequenceParams;
    const NAME: &'static str = "SequenceLast";
    const SUMMARY: &'static str = "the last step of each sequence";
    const BACKWARD: &'static str = "_backward_SequenceLast";
    const INPUTS: &'static [&'static str] = sequences::INPUTS;
    const BACKWARD_INPUTS: &'static [&'static str] = sequences::BACKWARD_INPUTS;
    const DTYPES: &'static [DType] = NUMBERS;
    const BY_CONTENT: bool = true;

    fn n_inputs(params: &SequenceParams) -> usize {
        1 + usize::from(params.use_sequence_length)
    }

    fn infer_shape(params: &SequenceParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        if !sequences::learn_lengths(params.axis, inputs, 2)? {
            return Ok(());
        }
        let mut dims = inputs[0].dims().unwrap_or_default().to_vec();
        dims.remove(params.axis as usize);
        learn(&mut outputs[0], &PartialShape::new(dims), "output")
    }

    fn infer_dtype(_: &SequenceParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        sequences::infer_dtype(inputs, outputs)
    }

    fn rows(params: &SequenceParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<MovedRows> {
        let data = &inputs[0].desc.shape;
        let lengths = sequences::lengths(params.axis, inputs)?;
        if lengths.contains(&0) && out.n_elements() > 0 {
            return Err(Error::invalid("a sequence length", 0, "at least one step, of which the last is taken"));
        }
        let row = |(sequence, length): (usize, usize)| {
            let last = length.checked_sub(1)?;
            Some(if params.axis == 0 { last * data[1] + sequence } else { sequence * data[1] + last })
        };
        let rows = lengths.into_iter().enumerate().map(row).collect();
        Ok(sequences::rows(data, rows, 0.0))
    }

    fn samples() -> Vec<Sample> {
        let used = [("use_sequence_length", "True")];
        let batch_first = [("use_sequence_length", "True"), ("axis", "1")];
        let lengths = |sample: Sample, values: &[f64]| sample.fill(1, Fill::Values(values.to_vec()));
        vec![
            Sample::plain("whole", &[&[3, 2]]),
            lengths(Sample::new("lengths", used, &[&[4, 3, 2], &[3]]), &[4.0, 2.0, 3.0]),
            lengths(Sample::new("batch_first", batch_first, &[&[2, 4, 3], &[2]]), &[3.0, 2.0]),
            Sample::plain("one", &[&[1, 1]]),
            lengths(Sample::new("empty", used, &[&[2, 0, 3], &[0]]), &[]),
        ]
    }
}

/// Defines the operator `SequenceLast`.
pub fn define() -> OpDef {
    moved::define::<SequenceLast>()
}
