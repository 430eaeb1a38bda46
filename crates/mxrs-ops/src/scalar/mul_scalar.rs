//! `out = data * scalar`, elementwise; `out` has the shape and dtype of `data`. The scalar is first converted to that dtype.
//!
//! Gradient: `ograd · scalar`.
//!
//! MXNet: `_mul_scalar`, also `_MulScalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::{gradients, with_scalar};
use mxrs_op::{Gradient, OpDef};

/// Defines the operator `_mul_scalar`.
pub fn define() -> OpDef {
    let elementwise =
        with_scalar::define("_mul_scalar", &["_MulScalar"], "out = data * scalar", |params, inputs, outputs, _| {
            with_scalar::apply(params, inputs, outputs, |x, s| x * s, i64::wrapping_mul);
            Ok(())
        });
    let gradient = Gradient::By(|_, scope| Ok(vec![Some(gradients::call_with_params(scope, "_mul_scalar", &[])?)]));
    OpDef { gradient, ..elementwise }
}
