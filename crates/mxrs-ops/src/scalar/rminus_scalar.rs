//! `out = scalar - data`, elementwise; `out` has the shape and dtype of `data`. The scalar is first converted to that dtype.
//!
//! Gradient: `-ograd`.
//!
//! MXNet: `_rminus_scalar`, also `_RMinusScalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::with_scalar;
use crate::numeric::reference;
use mxrs_op::{Gradient, OpDef};

/// Defines the operator `_rminus_scalar`.
pub fn define() -> OpDef {
    let gradient = Gradient::By(|_, scope| {
        let head = scope.out_grad(0)?;
        Ok(vec![Some(scope.call_one("negative", &[head])?)])
    });
    OpDef {
        aliases: &["_RMinusScalar"],
        summary: "out = scalar - data",
        gradient,
        reference: reference!(with_scalar::apply, params, |x, s| s - x, |x, s| s.wrapping_sub(x)),
        ..with_scalar::define("_rminus_scalar")
    }
}
