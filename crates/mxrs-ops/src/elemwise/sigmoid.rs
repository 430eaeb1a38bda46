//! `out = 1 / (1 + e^-data)`, elementwise; `out` has the shape and dtype of `data`.
//!
//! Gradient, from the output: `ograd · out · (1 - out)`.
//!
//! MXNet: `sigmoid`, also `_sparse_sigmoid`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats
//! and truncated.

use crate::families::gradients::{Answers, call_scalar, call_with_params, from_output, if_wanted};
use crate::families::unary;
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, GradientScope, OpDef};

const BACKWARD: &str = "_backward_sigmoid";

/// Defines the operator `sigmoid`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_sigmoid"],
        summary: "out = 1 / (1 + e^-data)",
        gradient: Gradient::By(|_, scope| from_output(scope, BACKWARD)),
        companions: || vec![backward()],
        reference: reference!(numeric::map_float, numeric::sigmoid),
        ..unary::define("sigmoid")
    }
}

fn backward() -> OpDef {
    OpDef {
        summary: "out = ograd * out * (1 - out)",
        gradient: Gradient::By(|_, scope| second(scope)),
        reference: reference!(unary::apply_backward, |g, y| g * y * (1.0 - y)),
        ..unary::define_backward_of_output(BACKWARD)
    }
}

fn second(scope: &mut dyn GradientScope) -> Answers {
    let (head, ograd, y) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let by_ograd = if_wanted(scope, 0, |scope| call_with_params(scope, BACKWARD, &[y]))?;
    let by_out = if_wanted(scope, 1, |scope| {
        // The gradient with respect to `y` is `head · ograd · (1 - 2 y)`, where `head` is the gradient of this backward
        // operator's result.
        let both = scope.call_one("elemwise_mul", &[head, ograd])?;
        let twice = call_scalar(scope, "_mul_scalar", y, 2.0)?;
        let slope = call_scalar(scope, "_rminus_scalar", twice, 1.0)?;
        scope.call_one("elemwise_mul", &[both, slope])
    })?;
    Ok(vec![by_ograd, by_out])
}
