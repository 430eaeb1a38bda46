//! `out = data + scalar`, elementwise; `out` has the shape and dtype of `data`. The scalar is first converted to that dtype.
//!
//! Gradient: `ograd`.
//!
//! MXNet: `_plus_scalar`, also `_PlusScalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::{gradients, with_scalar};
use crate::numeric::reference;
use mxrs_op::{Gradient, OpDef};

/// Defines the operator `_plus_scalar`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_PlusScalar"],
        summary: "out = data + scalar",
        gradient: Gradient::By(gradients::pass_to_all),
        reference: reference!(with_scalar::apply, params, |x, s| x + s, i64::wrapping_add),
        ..with_scalar::define("_plus_scalar")
    }
}
