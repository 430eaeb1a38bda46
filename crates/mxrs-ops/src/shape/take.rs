//! Takes slices of an axis by index: for axis 0, `out[i, j, …] = a[indices[i, j], …]`. The axes of indices replace the axis.
//!
//! Indices outside the axis are moved to its ends (mode `clip`), wrapped around (`wrap`) or refused (`raise`); fractions are
//! truncated.
//!
//! Gradient: each slice of `a` gets the sum of the gradients of its copies; indices have no gradient.
//!
//! MXNet: `take`, also `_npi_take`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; indices any of these.

use crate::dtypes::NUMBERS;
use crate::families::indexing::around_axis;
use crate::families::indices::{self, IndexMode};
use crate::families::moved::{self, Move};
use crate::inference::{learn, resolve_axis};
use crate::numeric;
use mxrs_op::{Fill, MovedRows, OpDef, RefInput, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `take`.
    pub struct TakeParams for "take" {
        /// Axis to take slices of.
        axis: i32 = 0,
        /// How to treat indices outside the axis.
        mode: IndexMode = IndexMode::Clip,
    }
}

struct Take;

impl Move for Take {
    type Params = TakeParams;
    const NAME: &'static str = "take";
    const ALIASES: &'static [&'static str] = &["_npi_take"];
    const SUMMARY: &'static str = "slices of an axis, by index";
    const BACKWARD: &'static str = "_backward_take";
    const INPUTS: &'static [&'static str] = &["a", "indices"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "a", "indices"];
    const DTYPES: &'static [DType] = NUMBERS;
    const BY_CONTENT: bool = true;

    fn infer_shape(params: &TakeParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let (Some(a), Some(indices)) = (inputs[0].dims(), inputs[1].dims()) else { return Ok(()) };
        let axis = resolve_axis(i64::from(params.axis), a.len(), "a")?;
        learn(&mut outputs[0], &PartialShape::new([&a[..axis], indices, &a[axis + 1..]].concat()), "output")
    }

    fn infer_dtype(_: &TakeParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        let [a, index] = inputs else { return Ok(()) };
        indices::infer_dtype(a, index, &mut outputs[0])
    }

    fn rows(params: &TakeParams, inputs: &[RefInput<'_>], _: &Shape) -> Result<MovedRows> {
        let a = &inputs[0].desc.shape;
        let (outer, size, inner) = around_axis(a, resolve_axis(i64::from(params.axis), a.ndim(), "a")?);
        let mut moved = MovedRows { outer, n_rows: size, len: inner, rows: Vec::new(), constant: 0.0 };
        if outer * inner > 0 {
            let places = numeric::read(&inputs[1]).into_iter().map(|i| params.mode.place(i, size).map(Some));
            moved.rows = places.collect::<Result<_>>()?;
        }
        Ok(moved)
    }

    fn samples() -> Vec<Sample> {
        let index = |sample: Sample, values: &[f64]| sample.fill(1, Fill::Values(values.to_vec()));
        vec![
            index(Sample::plain("rows", &[&[4, 3], &[2, 2]]), &[0.0, 3.0, 3.0, 1.0]),
            index(Sample::new("columns", [("axis", "-1")], &[&[2, 3], &[4]]), &[2.0, 0.0, 1.0, 2.0]),
            index(Sample::plain("clipped", &[&[3, 2], &[3]]), &[-2.0, 7.0, 1.9]),
            index(Sample::new("wrapped", [("axis", "1"), ("mode", "wrap")], &[&[2, 3, 2], &[3]]), &[-1.0, 7.0, -4.0]),
            index(Sample::new("checked", [("mode", "raise")], &[&[3], &[2]]), &[2.0, 0.0]),
            Sample::plain("empty", &[&[3, 2], &[0]]),
        ]
    }
}

/// Defines the operator `take`.
pub fn define() -> OpDef {
    moved::define::<Take>()
}
