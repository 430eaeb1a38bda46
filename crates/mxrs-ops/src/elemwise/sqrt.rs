//! `out = data^(1/2)`, elementwise; `out` has the shape and dtype of `data`. Negative numbers give NaN.
//!
//! Gradient, from the output: `ograd / (2 · out)`.
//!
//! MXNet: `sqrt`, also `_sparse_sqrt`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats and
//! truncated.

use crate::families::gradients::{Answers, call_with_params, from_output, if_wanted};
use crate::families::unary;
use crate::numeric;
use mxrs_op::{Gradient, GradientScope, OpDef, Precision};

const BACKWARD: &str = "_backward_sqrt";

/// Defines the operator `sqrt`.
pub fn define() -> OpDef {
    let elementwise =
        unary::define_on_positive("sqrt", &["_sparse_sqrt"], "out = data^(1/2)", |_, inputs, outputs, _| {
            numeric::map_float(inputs, outputs, f64::sqrt);
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
    let elementwise = unary::define_backward_of_output(BACKWARD, "out = ograd / (2 * out)", |_, inputs, outputs, _| {
        unary::apply_backward(inputs, outputs, |g, y| g * 0.5 / y);
        Ok(())
    });
    OpDef { gradient: Gradient::By(|_, scope| second(scope)), ..elementwise }
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
