//! `out = scalar / data`, elementwise; `out` has the shape and dtype of `data`. The scalar is first converted to that dtype.
//!
//! Gradient: `-ograd · scalar / data²`.
//!
//! MXNet: `_rdiv_scalar`, also `_RDivScalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::{gradients, with_scalar};
use crate::numeric;
use mxrs_op::{Gradient, GradientScope, OpDef};

/// Defines the operator `_rdiv_scalar`.
pub fn define() -> OpDef {
    let elementwise =
        with_scalar::define("_rdiv_scalar", &["_RDivScalar"], "out = scalar / data", |params, inputs, outputs, _| {
            with_scalar::apply(params, inputs, outputs, |x, s| s / x, |x, s| numeric::divide_integers(s, x));
            Ok(())
        });
    OpDef {
        gradient: Gradient::By(|_, scope| gradients::from_input(scope, BACKWARD)),
        companions: || vec![backward()],
        ..elementwise
    }
}

const BACKWARD: &str = "_backward_rdiv_scalar";

fn backward() -> OpDef {
    let elementwise = with_scalar::define_backward(
        BACKWARD,
        "out = -ograd * scalar / (data * data)",
        |params, inputs, outputs, _| {
            with_scalar::apply_backward(params, inputs, outputs, |g, x, s| -g * s / (x * x));
            Ok(())
        },
    );
    OpDef { gradient: Gradient::By(|_, scope| second(scope)), ..elementwise }
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
