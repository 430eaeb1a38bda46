//! `out = lhs - rhs`, elementwise over equal shapes. Integers wrap.
//!
//! Gradient: `ograd` and `-ograd`.
//!
//! MXNet: `elemwise_sub`, also `_Minus`, `_minus`, `_sparse_elemwise_sub`, `_sub`. Dtypes: f32 f64 f16 bf16 u8 i8 i32
//! i64; both inputs have the same dtype.

use crate::families::gradients::{Answers, if_wanted};
use crate::families::pairwise;
use crate::numeric;
use mxrs_op::{Gradient, GradientScope, OpDef, Precision};

/// Defines the operator `elemwise_sub`.
pub fn define() -> OpDef {
    let elementwise = pairwise::define(
        "elemwise_sub",
        &["_Minus", "_minus", "_sparse_elemwise_sub", "_sub"],
        "out = lhs - rhs",
        |_, inputs, outputs, _| {
            numeric::zip(inputs, outputs, |a, b| a - b, i64::wrapping_sub);
            Ok(())
        },
    );
    OpDef { precision: Precision::widest, gradient: Gradient::By(|_, scope| gradient(scope)), ..elementwise }
}

fn gradient(scope: &mut dyn GradientScope) -> Answers {
    let head = scope.out_grad(0)?;
    let by_rhs = if_wanted(scope, 1, |scope| scope.call_one("negative", &[head]))?;
    Ok(vec![Some(head), by_rhs])
}
