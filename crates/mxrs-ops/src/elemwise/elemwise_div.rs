//! `out = lhs / rhs`, elementwise over equal shapes. Integer division truncates; division by zero gives 0.
//!
//! Gradient: `ograd / rhs` and `-ograd · lhs / rhs²`.
//!
//! MXNet: `elemwise_div`, also `_Div`, `_div`, `_sparse_elemwise_div`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; both
//! inputs have the same dtype.

use crate::families::gradients::{Answers, if_wanted};
use crate::families::pairwise;
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, GradientScope, OpDef, Precision};

/// Defines the operator `elemwise_div`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_Div", "_div", "_sparse_elemwise_div"],
        summary: "out = lhs / rhs",
        precision: Precision::widest,
        gradient: Gradient::By(|_, scope| gradient(scope)),
        reference: reference!(numeric::zip, |a, b| a / b, numeric::divide_integers),
        ..pairwise::define("elemwise_div")
    }
}

fn gradient(scope: &mut dyn GradientScope) -> Answers {
    let (head, lhs, rhs) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let by_lhs = scope.call_one("elemwise_div", &[head, rhs])?;
    let by_rhs = if_wanted(scope, 1, |scope| {
        let product = scope.call_one("elemwise_mul", &[by_lhs, lhs])?;
        let quotient = scope.call_one("elemwise_div", &[product, rhs])?;
        scope.call_one("negative", &[quotient])
    })?;
    Ok(vec![Some(by_lhs), by_rhs])
}
