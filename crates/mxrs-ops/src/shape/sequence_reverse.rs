//! Reverses the steps of each sequence, and keeps those after its end. Data is [time, batch, …]; `sequence_length` is
//! `[batch]`. Without `use_sequence_length`, all sequences are whole.
//!
//! Gradient: `ograd`, reversed in the same way; lengths have no gradient.
//!
//! MXNet: `SequenceReverse`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; lengths any of these. As in MXNet, `axis` must be 0.

use crate::dtypes::NUMBERS;
use crate::families::moved::{self, Move};
use crate::families::sequences;
use crate::inference::{bad_attribute, unify};
use crate::shape::sequence_last::SequenceParams;
use mxrs_op::{Fill, MovedRows, OpDef, RefInput, Sample};
use mxrs_types::{DType, PartialShape, Result, Shape};

struct SequenceReverse;

impl Move for SequenceReverse {
    type Params = SequenceParams;
    const NAME: &'static str = "SequenceReverse";
    const SUMMARY: &'static str = "reverses the steps of each sequence";
    const BACKWARD: &'static str = "_backward_SequenceReverse";
    const INPUTS: &'static [&'static str] = sequences::INPUTS;
    const BACKWARD_INPUTS: &'static [&'static str] = sequences::BACKWARD_INPUTS;
    const DTYPES: &'static [DType] = NUMBERS;
    const BY_CONTENT: bool = true;

    fn n_inputs(params: &SequenceParams) -> usize {
        1 + usize::from(params.use_sequence_length)
    }

    fn infer_shape(params: &SequenceParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        if params.axis != 0 {
            return Err(bad_attribute("SequenceReverse", "axis", "0", params.axis));
        }
        unify(&mut inputs[0], &mut outputs[0], "output")?;
        sequences::learn_lengths(params.axis, inputs, 2).map(drop)
    }

    fn infer_dtype(_: &SequenceParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        sequences::infer_dtype(inputs, outputs)
    }

    fn rows(params: &SequenceParams, inputs: &[RefInput<'_>], _: &Shape) -> Result<MovedRows> {
        let (data, lengths) = (&inputs[0].desc.shape, sequences::lengths(params.axis, inputs)?);
        let row = |row: usize| {
            let (step, sequence) = (row / data[1], row % data[1]);
            let length = lengths[sequence];
            Some(if step < length { (length - 1 - step) * data[1] + sequence } else { row })
        };
        Ok(sequences::rows(data, (0..data[0] * data[1]).map(row).collect(), 0.0))
    }

    fn samples() -> Vec<Sample> {
        let used = [("use_sequence_length", "True")];
        let lengths = |sample: Sample, values: &[f64]| sample.fill(1, Fill::Values(values.to_vec()));
        vec![
            Sample::plain("whole", &[&[3, 2]]),
            lengths(Sample::new("lengths", used, &[&[4, 3, 2], &[3]]), &[4.0, 1.0, 3.0]),
            lengths(Sample::new("one", used, &[&[1, 1], &[1]]), &[1.0]),
            lengths(Sample::new("empty", used, &[&[0, 2, 3], &[2]]), &[0.0, 0.0]),
        ]
    }
}

/// Defines the operator `SequenceReverse`.
pub fn define() -> OpDef {
    moved::define::<SequenceReverse>()
}
