//! `out = data * data`, elementwise; `out` has the shape and dtype of `data`. Integers wrap.
//!
//! Gradient: `2 · ograd · data`.
//!
//! MXNet: `square`, also `_sparse_square`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::gradients::{Answers, from_input, if_wanted};
use crate::families::unary;
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, GradientScope, OpDef, Precision};

const BACKWARD: &str = "_backward_square";

/// Defines the operator `square`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_square"],
        summary: "out = data * data",
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| from_input(scope, BACKWARD)),
        companions: || vec![backward()],
        reference: reference!(numeric::map, |x| x * x, |x| x.wrapping_mul(x)),
        ..unary::define("square")
    }
}

fn backward() -> OpDef {
    OpDef {
        summary: "out = 2 * ograd * data",
        gradient: Gradient::By(|_, scope| second(scope)),
        reference: reference!(numeric::zip, |g, x| 2.0 * g * x, |g, x| g.wrapping_mul(x).wrapping_mul(2)),
        ..unary::define_backward(BACKWARD)
    }
}

/// The gradient of the backward operator, which is symmetric in its two inputs and linear in each of them.
fn second(scope: &mut dyn GradientScope) -> Answers {
    let (head, ograd, data) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let by_ograd = if_wanted(scope, 0, |scope| scope.call_one(BACKWARD, &[head, data]))?;
    let by_data = if_wanted(scope, 1, |scope| scope.call_one(BACKWARD, &[head, ograd]))?;
    Ok(vec![by_ograd, by_data])
}
