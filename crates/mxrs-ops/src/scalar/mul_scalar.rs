//! `out = data * scalar`, elementwise; `out` has the shape and dtype of `data`. The scalar is first converted to that dtype.
//!
//! Gradient: `ograd · scalar`.
//!
//! MXNet: `_mul_scalar`, also `_MulScalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::{gradients, with_scalar};
use crate::numeric::reference;
use mxrs_op::{Gradient, OpDef};

/// Defines the operator `_mul_scalar`.
pub fn define() -> OpDef {
    let gradient = Gradient::By(|_, scope| Ok(vec![Some(gradients::call_with_params(scope, "_mul_scalar", &[])?)]));
    OpDef {
        aliases: &["_MulScalar"],
        summary: "out = data * scalar",
        gradient,
        reference: reference!(with_scalar::apply, params, |x, s| x * s, i64::wrapping_mul),
        ..with_scalar::define("_mul_scalar")
    }
}
