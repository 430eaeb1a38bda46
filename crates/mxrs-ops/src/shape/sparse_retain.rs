//! Keeps rows: `out[i, …] = data[i, …]` for each `i` in indices, and 0 for the other rows. Fractions of indices are truncated;
//! an index outside data keeps no row.
//!
//! Gradient: `ograd` in the rows that were kept, 0 elsewhere; indices have no gradient.
//!
//! MXNet: `_sparse_retain`, of row-sparse tensors only; here data and out are dense tensors with the same content. Dtypes:
//! f32 f64 f16 bf16 u8 i8 i32 i64; indices any of these.

use crate::dtypes::NUMBERS;
use crate::families::indices;
use crate::families::moved::{self, Move};
use crate::inference::{OP, require_ndim, unify};
use crate::numeric;
use mxrs_op::param::NoParams;
use mxrs_op::{Fill, MovedRows, OpDef, Precision, RefInput, Sample};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

struct Retain;

impl Move for Retain {
    type Params = NoParams;
    const NAME: &'static str = "_sparse_retain";
    const SUMMARY: &'static str = "rows of a list; the others become 0";
    const BACKWARD: &'static str = "_backward_sparse_retain";
    const INPUTS: &'static [&'static str] = &["data", "indices"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "indices"];
    const DTYPES: &'static [DType] = NUMBERS;
    const BY_CONTENT: bool = true;

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let [data, indices] = inputs else { return Ok(()) };
        if data.ndim().or(outputs[0].ndim()) == Some(0) {
            return Err(Error::shape(OP, "data", "at least one axis", &*data));
        }
        require_ndim(indices, 1, "indices")?;
        unify(data, &mut outputs[0], "output")
    }

    fn infer_dtype(_: &NoParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        let [data, indices] = inputs else { return Ok(()) };
        indices::infer_dtype(data, indices, &mut outputs[0])
    }

    fn rows(_: &NoParams, inputs: &[RefInput<'_>], _: &Shape) -> Result<MovedRows> {
        let shape = &inputs[0].desc.shape;
        let len: usize = shape[1..].iter().product();
        if len == 0 {
            // There may be many rows without elements, and nothing moves.
            return Ok(MovedRows { outer: 1, n_rows: shape[0], len, rows: Vec::new(), constant: 0.0 });
        }
        let mut rows = vec![None; shape[0]];
        for index in numeric::read(&inputs[1]) {
            // A negative number or NaN must not become row 0.
            let row = if index > -1.0 { index as usize } else { usize::MAX };
            if let Some(kept) = rows.get_mut(row) {
                *kept = Some(row);
            }
        }
        Ok(MovedRows { outer: 1, n_rows: shape[0], len, rows, constant: 0.0 })
    }

    fn samples() -> Vec<Sample> {
        let of = |name, data: &[usize], indices: &[f64]| {
            Sample::plain(name, &[data, &[indices.len()]]).fill(1, Fill::Values(indices.to_vec()))
        };
        vec![
            of("rows", &[4, 3], &[0.0, 2.0]),
            of("unordered", &[4, 2, 2], &[3.0, 0.0, 3.0]).dtype(1, DType::I64),
            of("outside", &[3, 2], &[-2.0, 1.0, 7.0]).dtype(1, DType::I32),
            of("vector", &[5], &[4.0]).dtype(1, DType::I32),
            of("nothing", &[3, 2], &[]).dtype(1, DType::I32),
            of("no_rows", &[0, 2], &[]),
            of("no_columns", &[3, 0], &[1.0]),
        ]
    }
}

/// Defines the operator `_sparse_retain`.
pub fn define() -> OpDef {
    OpDef { precision: Precision::float32, precision_float16: Some(Precision::follows), ..moved::define::<Retain>() }
}
