//! `out = lhs + rhs`, over shapes that broadcast: sizes of 1 stretch, missing leading axes count as 1.
//!
//! Gradient: `ograd` for both inputs, summed over the axes that were broadcast.
//!
//! MXNet: `broadcast_add`, also `_sparse_broadcast_add`, `_sparse_broadcast_plus`, `broadcast_plus`. Dtypes: f32 f64
//! f16 bf16 u8 i8 i32 i64; both inputs have the same dtype.

use crate::families::broadcast;
use crate::families::broadcast_back::{self, SUM_LIKE};
use crate::families::gradients::{Answers, if_wanted};
use crate::numeric::reference;
use mxrs_op::{Gradient, GradientScope, OpDef, Precision};

/// Defines the operator `broadcast_add`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_broadcast_add", "_sparse_broadcast_plus", "broadcast_plus"],
        summary: "out = lhs + rhs",
        precision: Precision::widest,
        gradient: Gradient::By(|_, scope| gradient(scope)),
        // The backward operators that all broadcasting operators use.
        companions: || vec![broadcast_back::sum_like(), broadcast_back::stretch_like()],
        reference: reference!(broadcast::zip, |a, b| a + b, i64::wrapping_add),
        ..broadcast::define("broadcast_add")
    }
}

fn gradient(scope: &mut dyn GradientScope) -> Answers {
    let (head, lhs, rhs) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let by_lhs = if_wanted(scope, 0, |scope| scope.call_one(SUM_LIKE, &[head, lhs]))?;
    let by_rhs = if_wanted(scope, 1, |scope| scope.call_one(SUM_LIKE, &[head, rhs]))?;
    Ok(vec![by_lhs, by_rhs])
}
