//! Replaces the elements after the end of each sequence by a value. Data is [time, batch, …], or [batch, time, …] with `axis`
//! 1; `sequence_length` is `[batch]`. Without `use_sequence_length`, out is data.
//!
//! Gradient: `ograd` at the elements that were kept, 0 elsewhere; lengths have no gradient.
//!
//! MXNet: `SequenceMask`, also `_npx_sequence_mask`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; lengths any of these.

use crate::dtypes::NUMBERS;
use crate::families::moved::{self, Move};
use crate::families::sequences;
use crate::inference::unify;
use mxrs_op::{Fill, MovedRows, OpDef, RefInput, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `SequenceMask`.
    pub struct SequenceMaskParams for "SequenceMask" {
        /// Whether lengths are given.
        use_sequence_length: bool = false,
        /// The value after the end of a sequence.
        value: f32 = 0.0,
        /// The axis of time, 0 or 1.
        axis: i32 = 0,
    }
}

struct SequenceMask;

impl Move for SequenceMask {
    type Params = SequenceMaskParams;
    const NAME: &'static str = "SequenceMask";
    const ALIASES: &'static [&'static str] = &["_npx_sequence_mask"];
    const SUMMARY: &'static str = "a value after the end of each sequence";
    const BACKWARD: &'static str = "_backward_SequenceMask";
    const INPUTS: &'static [&'static str] = sequences::INPUTS;
    const BACKWARD_INPUTS: &'static [&'static str] = sequences::BACKWARD_INPUTS;
    const CONSTANT: Option<&'static str> = Some("value");
    const DTYPES: &'static [DType] = NUMBERS;
    const BY_CONTENT: bool = true;

    fn n_inputs(params: &SequenceMaskParams) -> usize {
        1 + usize::from(params.use_sequence_length)
    }

    fn infer_shape(
        params: &SequenceMaskParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        unify(&mut inputs[0], &mut outputs[0], "output")?;
        sequences::learn_lengths(params.axis, inputs, 2).map(drop)
    }

    fn infer_dtype(_: &SequenceMaskParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        sequences::infer_dtype(inputs, outputs)
    }

    fn rows(params: &SequenceMaskParams, inputs: &[RefInput<'_>], _: &Shape) -> Result<MovedRows> {
        let (data, lengths) = (&inputs[0].desc.shape, sequences::lengths(params.axis, inputs)?);
        let row = |row: usize| {
            let (first, second) = (row / data[1], row % data[1]);
            let (step, sequence) = if params.axis == 0 { (first, second) } else { (second, first) };
            (step < lengths[sequence]).then_some(row)
        };
        let rows = (0..data[0] * data[1]).map(row).collect();
        Ok(sequences::rows(data, rows, f64::from(params.value)))
    }

    fn constant(params: &SequenceMaskParams) -> f64 {
        f64::from(params.value)
    }

    fn samples() -> Vec<Sample> {
        let used = [("use_sequence_length", "True"), ("value", "-1")];
        let batch_first = [("use_sequence_length", "True"), ("axis", "1")];
        let lengths = |sample: Sample, values: &[f64]| sample.fill(1, Fill::Values(values.to_vec()));
        vec![
            Sample::plain("whole", &[&[3, 2]]),
            lengths(Sample::new("lengths", used, &[&[4, 3, 2], &[3]]), &[4.0, 1.0, 0.0]),
            lengths(Sample::new("batch_first", batch_first, &[&[2, 4], &[2]]), &[3.0, 2.0]),
            lengths(Sample::new("one", used, &[&[1, 1], &[1]]), &[1.0]),
            lengths(Sample::new("empty", used, &[&[0, 2, 3], &[2]]), &[0.0, 0.0]),
        ]
    }
}

/// Defines the operator `SequenceMask`.
pub fn define() -> OpDef {
    moved::define::<SequenceMask>()
}
