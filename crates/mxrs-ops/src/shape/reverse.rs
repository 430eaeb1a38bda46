//! Reverses the order of elements along axes: `out[…, i, …] = data[…, size - 1 - i, …]`.
//!
//! Gradient: `ograd`, reversed along the same axes.
//!
//! MXNet: `reverse`, also `flip`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::along::{self, Along};
use crate::families::moved::{self, Move, by_index};
use crate::inference::{resolve_axis, unify};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{MovedParts, OpDef, RefInput, Sample, op_params};
use mxrs_types::{PartialShape, Result, Shape};

op_params! {
    /// Parameters of `reverse`.
    pub struct ReverseParams for "reverse" {
        /// Axes along which the order is reversed.
        axis: ShapeAttr,
    }
}

struct Reverse;

impl Move for Reverse {
    type Params = ReverseParams;
    const NAME: &'static str = "reverse";
    const ALIASES: &'static [&'static str] = &["flip"];
    const SUMMARY: &'static str = "reverses the order along axes";
    const BACKWARD: &'static str = "_backward_reverse";

    fn infer_shape(params: &ReverseParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        unify(&mut inputs[0], &mut outputs[0], "output")?;
        let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
        params.axis.iter().try_for_each(|axis| resolve_axis(*axis, ndim, "data").map(drop))
    }

    fn parts(params: &ReverseParams, _: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
        let mut turned = vec![false; out.ndim()];
        for axis in params.axis.iter() {
            turned[resolve_axis(*axis, out.ndim(), "data")?] = true;
        }
        Ok(reversed(&turned, out))
    }

    fn sources(params: &ReverseParams, _: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        let mut turned = vec![false; out.ndim()];
        for axis in params.axis.iter() {
            turned[resolve_axis(*axis, out.ndim(), "data")?] = true;
        }
        let strides = out.strides();
        let place = |axis: usize, i: usize| if turned[axis] { out[axis] - 1 - i } else { i };
        let at = |axis: usize, i: usize| place(axis, i) * strides[axis];
        Ok(by_index(out, |index| Some(index.iter().enumerate().map(|(axis, i)| at(axis, *i)).sum())))
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::new("rows", [("axis", "0")], &[&[3, 5]]),
            Sample::new("both", [("axis", "(0, 1)")], &[&[3, 4]]),
            Sample::new("last", [("axis", "-1")], &[&[2, 3, 4]]),
            Sample::new("one", [("axis", "(0,)")], &[&[1]]),
            Sample::new("empty", [("axis", "1")], &[&[0, 3]]),
        ]
    }
}

/// The parts if the order along some axes is reversed.
pub fn reversed(turned: &[bool], out: &Shape) -> Option<MovedParts> {
    let axis = |((size, stride), turned): ((&usize, usize), &bool)| match turned {
        true => Along::new().then(size.saturating_sub(1) * stride, &[(*size, -(stride as isize))]),
        false => Along::whole(*size, stride),
    };
    let axes: Vec<Along> = out.iter().zip(out.strides()).zip(turned).map(axis).collect();
    along::parts(0, &axes, out, 0.0)
}

/// Defines the operator `reverse`.
pub fn define() -> OpDef {
    moved::define::<Reverse>()
}
