//! Removes axes of size 1: the listed ones, or all. [a, 1, b] gives [a, b]; if no axis would be left, the result is
//! `[1]`. The output is a view of data.
//!
//! Gradient: `ograd` in the shape of data, a view.
//!
//! MXNet: `squeeze`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::reshape_back;
use crate::inference::{OP, learn, learn_dim, resolve_axis};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, OpParams, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `squeeze`.
    pub struct SqueezeParams for "squeeze" {
        /// Axes to remove, each of size 1; every axis of size 1 if absent.
        axis: Option<ShapeAttr> = None,
    }
}

/// Defines the operator `squeeze`.
pub fn define() -> OpDef {
    OpDef {
        summary: "removes axes of size 1",
        infer_shape,
        samples,
        ..reshape_back::define_view("squeeze").params::<SqueezeParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let Some(dims) = inputs[0].dims().map(<[_]>::to_vec) else { return Ok(()) };
    let mut is_removed = vec![false; dims.len()];
    match &params.get::<SqueezeParams>().axis {
        Some(axes) => {
            for axis in axes.iter() {
                let axis = resolve_axis(*axis, dims.len(), "data")?;
                if dims[axis].is_some_and(|size| size != 1) {
                    return Err(Error::shape(OP, "data", format!("size 1 on axis {axis}"), &inputs[0]));
                }
                learn_dim(&mut inputs[0], axis, Some(1), "data")?;
                is_removed[axis] = true;
            }
        }
        // An unknown size may or may not be 1, so even the rank stays unknown.
        None if dims.contains(&None) => return Ok(()),
        None => is_removed = dims.iter().map(|d| *d == Some(1)).collect(),
    }
    let kept: Vec<usize> = (0..dims.len()).filter(|axis| !is_removed[*axis]).collect();
    if kept.is_empty() {
        return learn(&mut outputs[0], &PartialShape::new([Some(1)]), "output");
    }
    learn(&mut outputs[0], &PartialShape::new(kept.iter().map(|axis| dims[*axis])), "output")?;
    for (position, axis) in kept.into_iter().enumerate() {
        learn_dim(&mut inputs[0], axis, outputs[0].dim(position), "data")?;
    }
    Ok(())
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("all", &[&[1, 3, 1, 5]]),
        Sample::new("listed", [("axis", "(0, -2)")], &[&[1, 3, 1, 5]]),
        Sample::plain("to_nothing", &[&[1, 1]]),
        Sample::plain("empty", &[&[1, 0, 3]]),
    ]
}
