//! Stretches a tensor to a shape: sizes of 1 become those of the shape. A 0 in the shape keeps the size.
//!
//! Gradient: `ograd`, summed over the stretched axes.
//!
//! MXNet: `broadcast_to`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::stretch;
use crate::inference::{OP, bad_attribute, learn};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, Sample, op_params};
use mxrs_types::{Error, PartialShape};

op_params! {
    /// Parameters of `broadcast_to`.
    pub struct BroadcastToParams for "broadcast_to" {
        /// The shape; 0 keeps a size.
        shape: ShapeAttr = ShapeAttr::default(),
    }
}

/// Defines the operator `broadcast_to`.
pub fn define() -> OpDef {
    OpDef {
        summary: "stretches data to a shape",
        infer_shape: |params, inputs, outputs| {
            let shape = &params.get::<BroadcastToParams>().shape;
            if let Some(negative) = shape.iter().find(|size| **size < 0) {
                return Err(bad_attribute("broadcast_to", "shape", "no negative size", negative));
            }
            let Some(dims) = inputs[0].dims() else { return Ok(()) };
            if dims.len() != shape.len() {
                return Err(Error::shape(OP, "data", format!("{} axes, as the shape", shape.len()), &inputs[0]));
            }
            let mut out = Vec::new();
            for (size, to) in dims.iter().zip(shape.iter()) {
                out.push(match (*size, *to as usize) {
                    (size, 0) => size,
                    (Some(size), to) if size != 1 && size != to => {
                        return Err(Error::shape(
                            OP,
                            "data",
                            format!("1 or the sizes {}", shape.to_text()),
                            &inputs[0],
                        ));
                    }
                    (_, to) => Some(to),
                });
            }
            learn(&mut outputs[0], &PartialShape::new(out), "output")
        },
        samples: || {
            vec![
                Sample::new("row", [("shape", "(3, 5)")], &[&[1, 5]]),
                Sample::new("kept", [("shape", "(0, 4, 0)")], &[&[2, 1, 3]]),
                Sample::new("all", [("shape", "(2, 3, 4)")], &[&[1, 1, 1]]),
                Sample::new("one", [("shape", "(1,)")], &[&[1]]),
                Sample::new("empty", [("shape", "(0, 3)")], &[&[0, 1]]),
            ]
        },
        ..stretch::define("broadcast_to").params::<BroadcastToParams>()
    }
}
