//! Puts slices at points of a tensor of zeros: `out[indices[0, j], …, indices[m - 1, j]] = data[j]`. It is the inverse of
//! `gather_nd`. Negative indices count from the end; others outside the shape are refused. If points repeat, the last slice
//! wins.
//!
//! Gradient: data gets the slices of `ograd` at the points; indices have no gradient.
//!
//! MXNet: `scatter_nd`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; indices any of these.

use crate::dtypes::NUMBERS;
use crate::families::indices;
use crate::inference::{OP, bad_attribute, learn};
use crate::shape::gather_nd::slices;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Fill, Gradient, InputNames, MovedRows, Moves, OpDef, OpParams, Precision, RefInput, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `scatter_nd`.
    pub struct ScatterNdParams for "scatter_nd" {
        /// Shape of the output.
        shape: ShapeAttr,
    }
}

/// Defines the operator `scatter_nd`.
pub fn define() -> OpDef {
    OpDef {
        summary: "slices at points of a tensor of zeros",
        inputs: InputNames::Fixed(&["data", "indices"]),
        infer_shape,
        infer_dtype: |_, inputs, outputs| {
            let [data, index] = inputs else { return Ok(()) };
            indices::infer_dtype(data, index, &mut outputs[0])
        },
        dtypes: NUMBERS,
        moves: Moves::Rows { rows, moved: 0, is_backward: false },
        gradient: Gradient::By(|_, scope| {
            let (head, indices) = (scope.out_grad(0)?, scope.input(1));
            Ok(vec![Some(scope.call_one("gather_nd", &[head, indices])?), None])
        }),
        reference: Some(|_, inputs, outputs, _| {
            let out = &mut outputs[0];
            out.bytes.fill(0);
            let (starts, slice) = slices(&out.desc.shape, &inputs[1])?;
            let size = out.desc.dtype.size_of();
            for (start, from) in starts.into_iter().zip(inputs[0].bytes.chunks_exact((slice * size).max(1))) {
                out.bytes[start * size..][..from.len()].copy_from_slice(from);
            }
            Ok(())
        }),
        samples,
        precision_float16: Some(Precision::follows),
        ..OpDef::new("scatter_nd").params::<ScatterNdParams>()
    }
}

/// The row of data that goes to each slice of the output: the last one of its point.
fn rows(_: &OpParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<MovedRows> {
    let (starts, len) = slices(out, &inputs[1])?;
    let n_rows = starts.len();
    let mut rows = vec![None; out.n_elements().checked_div(len).unwrap_or(0)];
    for (from, start) in starts.into_iter().enumerate() {
        if let Some(to) = start.checked_div(len) {
            rows[to] = Some(from);
        }
    }
    Ok(MovedRows { outer: 1, n_rows, len, rows, constant: 0.0 })
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let shape = &params.get::<ScatterNdParams>().shape;
    let sizes = shape.iter().map(|size| usize::try_from(*size).ok()).collect::<Option<Vec<usize>>>();
    let Some(sizes) = sizes else {
        return Err(bad_attribute("scatter_nd", "shape", "no negative size", shape.to_text()));
    };
    let out: Vec<Option<usize>> = sizes.into_iter().map(Some).collect();
    learn(&mut outputs[0], &PartialShape::new(out.clone()), "output")?;
    let Some(indices) = inputs[1].dims() else { return Ok(()) };
    let Some((n_axes, points)) = indices.split_first() else {
        return Err(Error::shape(OP, "indices", "at least one axis", &inputs[1]));
    };
    let Some(n_axes) = *n_axes else { return Ok(()) };
    if n_axes > out.len() {
        return Err(Error::shape(OP, "indices", format!("at most {} on axis 0", out.len()), &inputs[1]));
    }
    let data = PartialShape::new([points, &out[n_axes..]].concat());
    learn(&mut inputs[0], &data, "data")
}

fn samples() -> Vec<Sample> {
    let index = |sample: Sample, values: &[f64]| sample.fill(1, Fill::Values(values.to_vec()));
    let points = [0.0, 2.0, 1.0, 1.0, 3.0, 0.0];
    vec![
        index(Sample::new("elements", [("shape", "(3, 4)")], &[&[3], &[2, 3]]), &points),
        index(Sample::new("rows", [("shape", "(4, 2)")], &[&[3, 2], &[1, 3]]), &[2.0, 0.0, 3.0]),
        index(Sample::new("one", [("shape", "(1,)")], &[&[1], &[1, 1]]), &[0.0]),
        index(Sample::new("empty", [("shape", "(2, 3)")], &[&[0, 3], &[1, 0]]), &[]),
    ]
}
