//! `out = data ^ scalar`, elementwise; `out` has the shape and dtype of `data`. The scalar is first converted to that dtype.
//! Integers are computed in floats and truncated.
//!
//! Gradient: `ograd · scalar · data ^ (scalar - 1)`.
//!
//! MXNet: `_power_scalar`, also `_PowerScalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::gradients;
use crate::families::with_scalar::{self, ScalarParams};
use crate::numeric::reference;
use mxrs_op::{Attrs, Gradient, GradientScope, OpDef, OpParams};

/// Defines the operator `_power_scalar`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_PowerScalar"],
        summary: "out = data ^ scalar",
        gradient: Gradient::By(|_, scope| gradients::from_input(scope, BACKWARD)),
        companions: || vec![backward()],
        reference: reference!(with_scalar::apply, params, f64::powf, |x, s| (x as f64).powf(s as f64) as i64),
        ..with_scalar::define("_power_scalar")
    }
}

const BACKWARD: &str = "_backward_power_scalar";

fn backward() -> OpDef {
    OpDef {
        summary: "out = ograd * scalar * data ^ (scalar - 1)",
        gradient: Gradient::By(second),
        reference: reference!(with_scalar::apply_backward, params, |g, x, s| g * s * x.powf(s - 1.0)),
        ..with_scalar::define_backward(BACKWARD)
    }
}

/// The gradient of the backward operator. With respect to data, it is `scalar` times the result of the backward
/// operator for `head · ograd` and the scalar `scalar - 1`; `head` is the gradient of the backward operator's result.
fn second(params: &OpParams, scope: &mut dyn GradientScope) -> gradients::Answers {
    let (head, ograd, data) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let scalar = params.get::<ScalarParams>().scalar;
    let by_ograd = gradients::if_wanted(scope, 0, |scope| gradients::call_with_params(scope, BACKWARD, &[data]))?;
    let by_data = gradients::if_wanted(scope, 1, |scope| {
        let both = scope.call_one("elemwise_mul", &[head, ograd])?;
        let less = Attrs::from([("scalar", (scalar - 1.0).to_string())]);
        let first = scope.call(BACKWARD, less, &[both, data])?[0];
        gradients::call_scalar(scope, "_mul_scalar", first, scalar)
    })?;
    Ok(vec![by_ograd, by_data])
}
