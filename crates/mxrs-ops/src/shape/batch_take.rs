//! Takes one element of each row: `out[i] = a[i, indices[i]]`. Indices outside a row are moved to its ends.
//!
//! Gradient: `ograd` at the elements that were taken, 0 elsewhere; indices have no gradient.
//!
//! MXNet: `batch_take`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; indices are int32.

use crate::dtypes::NUMBERS;
use crate::families::indices::IndexMode;
use crate::families::moved::{self, Move};
use crate::inference::{learn_dim, learn_dtype, require_ndim, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::param::NoParams;
use mxrs_op::{Fill, MovedRows, OpDef, RefInput, Sample};
use mxrs_types::{DType, PartialShape, Result, Shape};

struct BatchTake;

impl Move for BatchTake {
    type Params = NoParams;
    const NAME: &'static str = "batch_take";
    const SUMMARY: &'static str = "one element of each row, by index";
    const BACKWARD: &'static str = "_backward_batch_take";
    const INPUTS: &'static [&'static str] = &["a", "indices"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "a", "indices"];
    const DTYPES: &'static [DType] = NUMBERS;
    const BY_CONTENT: bool = true;

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let [a, indices] = inputs else { return Ok(()) };
        unify(indices, &mut outputs[0], "output")?;
        if a.ndim().is_none() {
            return Ok(());
        }
        require_ndim(a, 2, "a")?;
        require_ndim(indices, 1, "indices")?;
        learn_dim(indices, 0, a.dim(0), "indices")?;
        learn_dim(a, 0, indices.dim(0), "a")?;
        unify(indices, &mut outputs[0], "output")
    }

    fn infer_dtype(_: &NoParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        let [a, indices] = inputs else { return Ok(()) };
        learn_dtype(indices, DType::I32, "indices")?;
        unify_dtypes([a, &mut outputs[0]], "output")
    }

    fn rows(_: &NoParams, inputs: &[RefInput<'_>], _: &Shape) -> Result<MovedRows> {
        let size = inputs[0].desc.shape[1];
        let indices = numeric::read(&inputs[1]).into_iter().enumerate();
        let places = indices.map(|(row, i)| Ok(Some(row * size + IndexMode::Clip.place(i, size)?)));
        let rows = places.collect::<Result<_>>()?;
        Ok(MovedRows { outer: 1, n_rows: inputs[0].desc.shape.n_elements(), len: 1, rows, constant: 0.0 })
    }

    fn samples() -> Vec<Sample> {
        let index = |sample: Sample, values: &[f64]| sample.fill(1, Fill::Values(values.to_vec())).dtype(1, DType::I32);
        vec![
            index(Sample::plain("rows", &[&[3, 4], &[3]]), &[3.0, 0.0, 1.0]),
            index(Sample::plain("clipped", &[&[3, 2], &[3]]), &[-2.0, 7.0, 1.0]),
            index(Sample::plain("one", &[&[1, 1], &[1]]), &[0.0]),
            index(Sample::plain("empty", &[&[0, 3], &[0]]), &[]),
        ]
    }
}

/// Defines the operator `batch_take`.
pub fn define() -> OpDef {
    moved::define::<BatchTake>()
}
