//! The sizes of a tensor, as a vector of int64: [a, b] gives `[2]` with the elements a and b. Only the shape of data is used.
//!
//! Gradient: zero.
//!
//! MXNet: `shape_array`, also `_npx_shape_array`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::dtypes::MOVABLE;
use crate::inference::{learn, learn_dtype};
use crate::numeric;
use mxrs_op::{Gradient, OpDef, Precision, Sample};
use mxrs_types::{DType, Shape};

/// Defines the operator `shape_array`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_shape_array"],
        summary: "the sizes of data",
        infer_shape: |_, inputs, outputs| {
            let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
            learn(&mut outputs[0], &Shape::from([ndim]).into(), "output")
        },
        infer_dtype: |_, _, outputs| learn_dtype(&mut outputs[0], DType::I64, "output"),
        dtypes: MOVABLE,
        ignored_inputs: &[0],
        gradient: Gradient::Zero,
        reference: Some(|_, inputs, outputs, _| {
            let sizes: Vec<i64> = inputs[0].desc.shape.iter().map(|size| *size as i64).collect();
            numeric::write_integers(&mut outputs[0], &sizes);
            Ok(())
        }),
        samples: || {
            vec![
                Sample::plain("matrix", &[&[3, 5]]),
                Sample::plain("more", &[&[2, 3, 4, 5]]),
                Sample::plain("one", &[&[1]]),
                Sample::plain("empty", &[&[0, 3]]),
            ]
        },
        precision_float16: Some(Precision::follows),
        ..OpDef::new("shape_array")
    }
}
