//! `out = lhs * rhs`, elementwise over equal shapes. Integers wrap.
//!
//! Gradient: `ograd · rhs` and `ograd · lhs`.
//!
//! MXNet: `elemwise_mul`, also `_Mul`, `_mul`, `_sparse_elemwise_mul`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; both
//! inputs have the same dtype.

use crate::families::gradients::{Answers, if_wanted};
use crate::families::pairwise;
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, GradientScope, OpDef, Precision};

/// Defines the operator `elemwise_mul`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_Mul", "_mul", "_sparse_elemwise_mul"],
        summary: "out = lhs * rhs",
        precision: Precision::widest,
        gradient: Gradient::By(|_, scope| gradient(scope)),
        reference: reference!(numeric::zip, |a, b| a * b, i64::wrapping_mul),
        ..pairwise::define("elemwise_mul")
    }
}

fn gradient(scope: &mut dyn GradientScope) -> Answers {
    let (head, lhs, rhs) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let by_lhs = if_wanted(scope, 0, |scope| scope.call_one("elemwise_mul", &[head, rhs]))?;
    let by_rhs = if_wanted(scope, 1, |scope| scope.call_one("elemwise_mul", &[head, lhs]))?;
    Ok(vec![by_lhs, by_rhs])
}
