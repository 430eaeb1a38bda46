//! `out = lhs - rhs`, elementwise over equal shapes. Integers wrap.
//!
//! Gradient: `ograd` and `-ograd`.
//!
//! MXNet: `elemwise_sub`, also `_Minus`, `_minus`, `_sparse_elemwise_sub`, `_sub`. Dtypes: f32 f64 f16 bf16 u8 i8 i32
//! i64; both inputs have the same dtype.

use crate::families::gradients::{Answers, if_wanted};
use crate::families::pairwise;
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, GradientScope, OpDef, Precision};

/// Defines the operator `elemwise_sub`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_Minus", "_minus", "_sparse_elemwise_sub", "_sub"],
        summary: "out = lhs - rhs",
        precision: Precision::widest,
        gradient: Gradient::By(|_, scope| gradient(scope)),
        reference: reference!(numeric::zip, |a, b| a - b, i64::wrapping_sub),
        ..pairwise::define("elemwise_sub")
    }
}

fn gradient(scope: &mut dyn GradientScope) -> Answers {
    let head = scope.out_grad(0)?;
    let by_rhs = if_wanted(scope, 1, |scope| scope.call_one("negative", &[head]))?;
    Ok(vec![Some(head), by_rhs])
}
