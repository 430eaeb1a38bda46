//! `out = tanh(data)`, elementwise; `out` has the shape and dtype of `data`.
//!
//! Gradient, from the output: `ograd · (1 - out²)`.
//!
//! MXNet: `tanh`, also `_sparse_tanh`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats and
//! truncated.

use crate::families::gradients::{Answers, call_scalar, call_with_params, from_output, if_wanted};
use crate::families::unary;
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, GradientScope, OpDef, Precision};

const BACKWARD: &str = "_backward_tanh";

/// Defines the operator `tanh`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_tanh"],
        summary: "out = tanh(data)",
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| from_output(scope, BACKWARD)),
        companions: || vec![backward()],
        reference: reference!(numeric::map_float, f64::tanh),
        ..unary::define("tanh")
    }
}

fn backward() -> OpDef {
    OpDef {
        summary: "out = ograd * (1 - out * out)",
        gradient: Gradient::By(|_, scope| second(scope)),
        reference: reference!(unary::apply_backward, |g, y| g * (1.0 - y * y)),
        ..unary::define_backward_of_output(BACKWARD)
    }
}

fn second(scope: &mut dyn GradientScope) -> Answers {
    let (head, ograd, y) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let by_ograd = if_wanted(scope, 0, |scope| call_with_params(scope, BACKWARD, &[y]))?;
    let by_out = if_wanted(scope, 1, |scope| {
        // The gradient with respect to `y` is `-2 · head · ograd · y`, where `head` is the gradient of this backward
        // operator's result.
        let both = scope.call_one("elemwise_mul", &[head, ograd])?;
        let product = scope.call_one("elemwise_mul", &[both, y])?;
        call_scalar(scope, "_mul_scalar", product, -2.0)
    })?;
    Ok(vec![by_ograd, by_out])
}
