//! Stretches axes of size 1: axis `axis[i]` gets the size `size[i]`.
//!
//! Gradient: `ograd`, summed over the stretched axes.
//!
//! MXNet: `broadcast_axis`, also `broadcast_axes`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::stretch;
use crate::inference::{OP, bad_attribute, learn, resolve_axis};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, Sample, op_params};
use mxrs_types::{Error, PartialShape};

op_params! {
    /// Parameters of `broadcast_axis`.
    pub struct BroadcastAxisParams for "broadcast_axis" {
        /// The axes to stretch.
        axis: ShapeAttr = ShapeAttr::default(),
        /// Their new sizes.
        size: ShapeAttr = ShapeAttr::default(),
    }
}

/// Defines the operator `broadcast_axis`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["broadcast_axes"],
        summary: "stretches axes of size 1",
        infer_shape: |params, inputs, outputs| {
            let BroadcastAxisParams { axis, size } = params.get();
            if axis.len() != size.len() || size.iter().any(|size| *size < 0) {
                return Err(bad_attribute("broadcast_axis", "size", "one non-negative size per axis", size.to_text()));
            }
            let Some(mut dims) = inputs[0].dims().map(<[_]>::to_vec) else { return Ok(()) };
            for (axis, size) in axis.iter().zip(size.iter()) {
                let at = resolve_axis(*axis, dims.len(), "data")?;
                if dims[at].is_some_and(|size| size != 1) {
                    return Err(Error::shape(OP, "data", format!("size 1 on axis {axis}"), &inputs[0]));
                }
                dims[at] = Some(*size as usize);
            }
            learn(&mut outputs[0], &PartialShape::new(dims), "output")
        },
        samples: || {
            vec![
                Sample::new("row", [("axis", "(0,)"), ("size", "(3,)")], &[&[1, 5]]),
                Sample::new("two", [("axis", "(0, 2)"), ("size", "(2, 3)")], &[&[1, 2, 1]]),
                Sample::new("last", [("axis", "-1"), ("size", "4")], &[&[2, 1]]),
                Sample::new("one", [("axis", "0"), ("size", "1")], &[&[1]]),
                Sample::new("empty", [("axis", "1"), ("size", "3")], &[&[0, 1]]),
            ]
        },
        ..stretch::define("broadcast_axis").params::<BroadcastAxisParams>()
    }
}
