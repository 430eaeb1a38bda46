//! Repeats a tensor along its axes: `out[i] = data[i mod size]`. `reps` counts from the last axis; missing leading axes of
//! data or of `reps` count as 1. [a, b] with reps (2, 3) gives [2a, 3b].
//!
//! Gradient: the sum of `ograd` over all copies of an element.
//!
//! MXNet: `tile`, also `_npi_tile`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::along::{self, Along};
use crate::families::moved::{self, Move, by_index};
use crate::inference::{bad_attribute, learn};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{MovedParts, OpDef, RefInput, Sample, op_params};
use mxrs_types::{PartialShape, Result, Shape};

op_params! {
    /// Parameters of `tile`.
    pub struct TileParams for "tile" {
        /// Number of copies along each axis.
        reps: ShapeAttr,
    }
}

struct Tile;

impl Move for Tile {
    type Params = TileParams;
    const NAME: &'static str = "tile";
    const ALIASES: &'static [&'static str] = &["_npi_tile"];
    const SUMMARY: &'static str = "repeats a tensor along axes";
    const BACKWARD: &'static str = "_backward_tile";

    fn infer_shape(params: &TileParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        if let Some(negative) = params.reps.iter().find(|reps| **reps < 0) {
            return Err(bad_attribute("tile", "reps", "no negative number", negative));
        }
        let Some(dims) = inputs[0].dims() else { return Ok(()) };
        let ndim = dims.len().max(params.reps.len());
        let size = |axis: usize| {
            let data = (axis + dims.len()).checked_sub(ndim).map_or(Some(1), |at| dims[at]);
            let reps = (axis + params.reps.len()).checked_sub(ndim).map_or(1, |at| params.reps[at] as usize);
            // A product that overflows stays unknown, and the call is refused because its shape is unknown.
            data.and_then(|size| size.checked_mul(reps))
        };
        learn(&mut outputs[0], &PartialShape::new((0..ndim).map(size)), "output")
    }

    fn parts(_: &TileParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
        let data = inputs[0];
        let (strides, missing) = (data.strides(), out.ndim() - data.ndim());
        let axis = |axis: usize| match axis.checked_sub(missing) {
            Some(own) if data[own] > 0 => Along::nest(&[(out[axis] / data[own], 0), (data[own], strides[own])]),
            _ => Along::whole(out[axis], 0),
        };
        Ok(along::parts(0, &(0..out.ndim()).map(axis).collect::<Vec<_>>(), out, 0.0))
    }

    fn sources(_: &TileParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        let data = &inputs[0].desc.shape;
        let (strides, missing) = (data.strides(), out.ndim() - data.ndim());
        let at = |axis: usize, index: &[usize]| index[axis + missing] % data[axis] * strides[axis];
        Ok(by_index(out, |index| Some((0..data.ndim()).map(|axis| at(axis, index)).sum())))
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::new("both", [("reps", "(2, 3)")], &[&[2, 3]]),
            Sample::new("fewer", [("reps", "(2,)")], &[&[2, 3]]),
            Sample::new("more", [("reps", "(2, 1, 2)")], &[&[3, 2]]),
            Sample::new("once", [("reps", "(1,)")], &[&[1]]),
            Sample::new("empty", [("reps", "(2, 2)")], &[&[0, 3]]),
            Sample::new("never", [("reps", "(0, 2)")], &[&[2, 3]]),
        ]
    }
}

/// Defines the operator `tile`.
pub fn define() -> OpDef {
    moved::define::<Tile>()
}
