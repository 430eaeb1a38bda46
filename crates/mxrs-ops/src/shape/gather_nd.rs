//! Takes slices at points: `out[j] = data[indices[0, j], …, indices[m - 1, j]]`. Indices [m, s…] of data with n axes give
//! `[s…]` followed by the last n - m axes of data. Negative indices count from the end; others outside data are refused.
//!
//! Gradient: each element of data gets the sum of the gradients of its copies; indices have no gradient.
//!
//! MXNet: `gather_nd`, also `_npi_gather_nd`, `_npx_gather_nd`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; indices any of these.

use crate::dtypes::NUMBERS;
use crate::families::indexing::around_axis;
use crate::families::indices;
use crate::families::moved::{self, Move};
use crate::inference::{OP, learn};
use crate::numeric;
use mxrs_op::param::NoParams;
use mxrs_op::{Fill, MovedRows, OpDef, RefInput, Sample};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

struct GatherNd;

/// Flat positions in `shape` of the slices at the points `indices`, and the number of elements of a slice.
pub fn slices(shape: &Shape, indices: &RefInput<'_>) -> Result<(Vec<usize>, usize)> {
    let n_axes = indices.desc.shape[0];
    let slice = if n_axes == 0 { shape.n_elements() } else { around_axis(shape, n_axes - 1).2 };
    if slice == 0 {
        // There may be more points than fit into memory, because they have no elements.
        return Ok((Vec::new(), 0));
    }
    let n_points = indices.desc.shape[1..].iter().product();
    let values = numeric::read(indices);
    let strides = shape.strides();
    let at = |point: usize| {
        (0..n_axes).try_fold(0, |sum, axis| {
            let (index, size) = (values[axis * n_points + point] as i64, shape[axis] as i64);
            let place = if index < 0 { index.saturating_add(size) } else { index };
            if !(0..size).contains(&place) {
                return Err(Error::invalid("an index", index, format!("a position on an axis of {size} elements")));
            }
            Ok(sum + place as usize * strides[axis])
        })
    };
    Ok(((0..n_points).map(at).collect::<Result<_>>()?, slice))
}

impl Move for GatherNd {
    type Params = NoParams;
    const NAME: &'static str = "gather_nd";
    const ALIASES: &'static [&'static str] = &["_npi_gather_nd", "_npx_gather_nd"];
    const SUMMARY: &'static str = "slices at points";
    const BACKWARD: &'static str = "_backward_gather_nd";
    const INPUTS: &'static [&'static str] = &["data", "indices"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "indices"];
    const DTYPES: &'static [DType] = NUMBERS;
    const BY_CONTENT: bool = true;

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let (Some(data), Some(indices)) = (inputs[0].dims(), inputs[1].dims()) else { return Ok(()) };
        let Some((n_axes, points)) = indices.split_first() else {
            return Err(Error::shape(OP, "indices", "at least one axis", &inputs[1]));
        };
        let Some(n_axes) = *n_axes else { return Ok(()) };
        if n_axes > data.len() {
            return Err(Error::shape(OP, "data", format!("{n_axes} axes or more, as indices"), &inputs[0]));
        }
        learn(&mut outputs[0], &PartialShape::new([points, &data[n_axes..]].concat()), "output")
    }

    fn infer_dtype(_: &NoParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        let [data, index] = inputs else { return Ok(()) };
        indices::infer_dtype(data, index, &mut outputs[0])
    }

    fn rows(_: &NoParams, inputs: &[RefInput<'_>], _: &Shape) -> Result<MovedRows> {
        let data = &inputs[0].desc.shape;
        let (starts, len) = slices(data, &inputs[1])?;
        let rows = starts.into_iter().map(|start| start.checked_div(len)).collect();
        let n_rows = data.n_elements().checked_div(len).unwrap_or(0);
        Ok(MovedRows { outer: 1, n_rows, len, rows, constant: 0.0 })
    }

    fn samples() -> Vec<Sample> {
        let index = |sample: Sample, values: &[f64]| sample.fill(1, Fill::Values(values.to_vec()));
        vec![
            index(Sample::plain("elements", &[&[3, 4], &[2, 3]]), &[0.0, 2.0, 2.0, 1.0, 3.0, 3.0]),
            index(Sample::plain("rows", &[&[3, 2], &[1, 4]]), &[2.0, 0.0, 1.0, 2.0]),
            index(Sample::plain("grid", &[&[2, 3, 2], &[2, 2, 2]]), &[0.0, 1.0, 1.0, 0.0, 2.0, 0.0, 1.0, 2.0]),
            index(Sample::plain("one", &[&[1], &[1, 1]]), &[0.0]),
            index(Sample::plain("empty", &[&[3, 2], &[1, 0]]), &[]),
            index(Sample::plain("a scalar", &[&[], &[0, 3]]), &[]),
        ]
    }
}

/// Defines the operator `gather_nd`.
pub fn define() -> OpDef {
    moved::define::<GatherNd>()
}
