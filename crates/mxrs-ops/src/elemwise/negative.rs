//! `out = -data`, elementwise; `out` has the shape and dtype of `data`. Integers wrap.
//!
//! Gradient: `-ograd`.
//!
//! MXNet: `negative`, also `_sparse_negative`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::unary;
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, OpDef};

/// Defines the operator `negative`.
pub fn define() -> OpDef {
    let gradient = Gradient::By(|_, scope| {
        let head = scope.out_grad(0)?;
        Ok(vec![Some(scope.call_one("negative", &[head])?)])
    });
    OpDef {
        aliases: &["_sparse_negative"],
        summary: "out = -data",
        gradient,
        reference: reference!(numeric::map, |x| -x, i64::wrapping_neg),
        ..unary::define("negative")
    }
}
