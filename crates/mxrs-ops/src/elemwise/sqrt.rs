//! `out = data^(1/2)`, elementwise; `out` has the shape and dtype of `data`. Negative numbers give NaN.
//!
//! Gradient, from the output: `ograd / (2 · out)`.
//!
//! MXNet: `sqrt`, also `_sparse_sqrt`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats and
//! truncated.

use crate::families::gradients::{Answers, call_with_params, from_output, if_wanted};
use crate::families::unary;
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, GradientScope, OpDef, Precision};

const BACKWARD: &str = "_backward_sqrt";

/// Defines the operator `sqrt`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_sqrt"],
        summary: "out = data^(1/2)",
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| from_output(scope, BACKWARD)),
        companions: || vec![backward()],
        reference: reference!(numeric::map_float, f64::sqrt),
        ..unary::define_on_positive("sqrt")
    }
}

fn backward() -> OpDef {
    OpDef {
        summary: "out = ograd / (2 * out)",
        gradient: Gradient::By(|_, scope| second(scope)),
        reference: reference!(unary::apply_backward, |g, y| g * 0.5 / y),
        ..unary::define_backward_of_output(BACKWARD)
    }
}

fn second(scope: &mut dyn GradientScope) -> Answers {
    let (head, ograd, y) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let by_ograd = if_wanted(scope, 0, |scope| call_with_params(scope, BACKWARD, &[y]))?;
    let by_out = if_wanted(scope, 1, |scope| {
        // The gradient with respect to `y` is `-head · ograd / (2 y²)`, where `head` is the gradient of this backward
        // operator's result.
        let both = scope.call_one("elemwise_mul", &[head, ograd])?;
        let halved = scope.call_one(BACKWARD, &[both, y])?;
        let quotient = scope.call_one("elemwise_div", &[halved, y])?;
        scope.call_one("negative", &[quotient])
    })?;
    Ok(vec![by_ograd, by_out])
}
