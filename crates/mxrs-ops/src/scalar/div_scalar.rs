//! `out = data / scalar`, elementwise; `out` has the shape and dtype of `data`. The scalar is first converted to that dtype.
//!
//! Gradient: `ograd / scalar`.
//!
//! MXNet: `_div_scalar`, also `_DivScalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::{gradients, with_scalar};
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, OpDef};

/// Defines the operator `_div_scalar`.
pub fn define() -> OpDef {
    let gradient = Gradient::By(|_, scope| Ok(vec![Some(gradients::call_with_params(scope, "_div_scalar", &[])?)]));
    OpDef {
        aliases: &["_DivScalar"],
        summary: "out = data / scalar",
        gradient,
        reference: reference!(with_scalar::apply, params, |x, s| x / s, numeric::divide_integers),
        ..with_scalar::define("_div_scalar")
    }
}
