//! `out = tanh(data)`, elementwise; `out` has the shape and dtype of `data`.
//!
//! Gradient, from the output: `ograd · (1 - out²)`.
//!
//! MXNet: `tanh`, also `_sparse_tanh`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats and
//! truncated.

use crate::families::gradients::{Answers, call_scalar, call_with_params, from_output, if_wanted};
use crate::families::unary;
use crate::numeric;
use mxrs_op::{Gradient, GradientScope, OpDef, Precision};

const BACKWARD: &str = "_backward_tanh";

/// Defines the operator `tanh`.
pub fn define() -> OpDef {
    let elementwise = unary::define("tanh", &["_sparse_tanh"], "out = tanh(data)", |_, inputs, outputs, _| {
        numeric::map_float(inputs, outputs, f64::tanh);
        Ok(())
    });
    OpDef {
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| from_output(scope, BACKWARD)),
        companions: || vec![backward()],
        ..elementwise
    }
}

fn backward() -> OpDef {
    let elementwise =
        unary::define_backward_of_output(BACKWARD, "out = ograd * (1 - out * out)", |_, inputs, outputs, _| {
            unary::apply_backward(inputs, outputs, |g, y| g * (1.0 - y * y));
            Ok(())
        });
    OpDef { gradient: Gradient::By(|_, scope| second(scope)), ..elementwise }
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
