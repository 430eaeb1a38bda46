//! The number of elements of a tensor, as `[1]` of int64. Only the shape of data is used.
//!
//! Gradient: zero.
//!
//! MXNet: `size_array`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::inference::learn;
use crate::numeric;
use crate::shape::shape_array;
use mxrs_op::OpDef;
use mxrs_types::Shape;

/// Defines the operator `size_array`.
pub fn define() -> OpDef {
    OpDef {
        name: "size_array",
        aliases: &[],
        summary: "the number of elements of data",
        infer_shape: |_, _, outputs| learn(&mut outputs[0], &Shape::from([1]).into(), "output"),
        reference: Some(|_, inputs, outputs, _| {
            numeric::write_integers(&mut outputs[0], &[inputs[0].desc.shape.n_elements() as i64]);
            Ok(())
        }),
        ..shape_array::define()
    }
}
