//! Ranges of axes: `out[i, …] = data[begin[0] + i · step[0], …]`. Axes after the last range are whole.
//!
//! Gradient: `ograd` at the elements that were taken, 0 elsewhere.
//!
//! MXNet: `slice`, also `_npi_slice`, `_npx_slice`, `_sparse_slice`, `crop`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::along::{self, Along};
use crate::families::moved::{self, Move, by_index};
use crate::families::ranges::{RangeParams, known, learn_part, position};
use mxrs_op::{MovedParts, OpDef, RefInput, Sample};
use mxrs_types::{PartialShape, Result, Shape};

struct Slice;

impl Move for Slice {
    type Params = RangeParams;
    const NAME: &'static str = "slice";
    const ALIASES: &'static [&'static str] = &["_npi_slice", "_npx_slice", "_sparse_slice", "crop"];
    const SUMMARY: &'static str = "ranges of axes, with steps";
    const BACKWARD: &'static str = "_backward_slice";

    fn infer_shape(params: &RangeParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        if inputs[0].ndim().is_none() {
            return Ok(());
        }
        let ranges = params.ranges(&inputs[0])?;
        learn_part(&ranges, &mut inputs[0], &mut outputs[0])
    }

    fn parts(params: &RangeParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
        let data = inputs[0];
        let ranges = known(params.ranges(&data.into()))?;
        let axis = |axis: usize, stride: usize| match ranges.get(axis) {
            Some(range) => {
                let start = usize::try_from(range.begin).unwrap_or(0) * stride;
                Along::new().then(start, &[(range.len, range.step.wrapping_mul(stride as i64) as isize)])
            }
            None => Along::whole(data[axis], stride),
        };
        let axes: Vec<Along> = data.strides().iter().enumerate().map(|(i, stride)| axis(i, *stride)).collect();
        Ok(along::parts(0, &axes, out, 0.0))
    }

    fn sources(params: &RangeParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        let data = &inputs[0].desc.shape;
        let ranges = known(params.ranges(&data.into()))?;
        Ok(by_index(out, |index| Some(position(&ranges, data, index))))
    }

    fn samples() -> Vec<Sample> {
        let of = |name, begin, end, step, shape| {
            Sample::new(name, [("begin", begin), ("end", end), ("step", step)], &[shape])
        };
        vec![
            of("rows", "(1,)", "(3,)", "()", &[4, 5]),
            of("block", "(0, 1)", "(2, -1)", "()", &[3, 5]),
            of("steps", "(None, 4)", "(None, 0)", "(2, -2)", &[5, 6]),
            of("backward", "(None,)", "(None,)", "(-1,)", &[7]),
            of("empty", "(0, 0)", "(None, 2)", "()", &[0, 3]),
        ]
    }
}

/// Defines the operator `slice`.
pub fn define() -> OpDef {
    moved::define::<Slice>()
}
