//! `out = scalar / data`, elementwise; `out` has the shape and dtype of `data`. The scalar is first converted to that dtype.
//!
//! Gradient: `-ograd · scalar / data²`.
//!
//! MXNet: `_rdiv_scalar`, also `_RDivScalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::{gradients, with_scalar};
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, GradientScope, OpDef};

/// Defines the operator `_rdiv_scalar`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_RDivScalar"],
        summary: "out = scalar / data",
        gradient: Gradient::By(|_, scope| gradients::from_input(scope, BACKWARD)),
        companions: || vec![backward()],
        reference: reference!(with_scalar::apply, params, |x, s| s / x, |x, s| numeric::divide_integers(s, x)),
        ..with_scalar::define("_rdiv_scalar")
    }
}

const BACKWARD: &str = "_backward_rdiv_scalar";

fn backward() -> OpDef {
    OpDef {
        summary: "out = -ograd * scalar / (data * data)",
        gradient: Gradient::By(|_, scope| second(scope)),
        reference: reference!(with_scalar::apply_backward, params, |g, x, s| -g * s / (x * x)),
        ..with_scalar::define_backward(BACKWARD)
    }
}

/// The gradient of the backward operator. With respect to data, it is `2 · head · ograd · scalar / data³`, where `head`
/// is the gradient of the backward operator's result.
fn second(scope: &mut dyn GradientScope) -> gradients::Answers {
    let (head, ograd, data) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let by_ograd = gradients::if_wanted(scope, 0, |scope| gradients::call_with_params(scope, BACKWARD, &[data]))?;
    let by_data = gradients::if_wanted(scope, 1, |scope| {
        let both = scope.call_one("elemwise_mul", &[head, ograd])?;
        let params = gradients::params_of(scope);
        let first = scope.call(BACKWARD, params, &[both, data])?[0];
        let quotient = scope.call_one("elemwise_div", &[first, data])?;
        gradients::call_scalar(scope, "_mul_scalar", quotient, -2.0)
    })?;
    Ok(vec![by_ograd, by_data])
}
