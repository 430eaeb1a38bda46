//! `out = |data|`, elementwise; `out` has the shape and dtype of `data`. Integers wrap: the result for the smallest integer
//! is that integer.
//!
//! Gradient: `ograd · sign(data)`, 0 at 0 and where data is NaN.
//!
//! MXNet: `abs`, also `_sparse_abs`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::{gradients, unary};
use crate::numeric;
use mxrs_op::{Gradient, OpDef, Precision};

const BACKWARD: &str = "_backward_abs";

/// Defines the operator `abs`.
pub fn define() -> OpDef {
    let elementwise = unary::define("abs", &["_sparse_abs"], "out = |data|", |_, inputs, outputs, _| {
        numeric::map(inputs, outputs, f64::abs, i64::wrapping_abs);
        Ok(())
    });
    OpDef {
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| gradients::from_input(scope, BACKWARD)),
        companions: || vec![backward()],
        ..elementwise
    }
}

fn backward() -> OpDef {
    let elementwise = unary::define_backward(BACKWARD, "out = ograd * sign(data)", |_, inputs, outputs, _| {
        unary::apply_backward(inputs, outputs, |g, x| g * numeric::sign(x));
        Ok(())
    });
    OpDef { gradient: Gradient::By(|_, scope| gradients::linear_in_ograd(scope, BACKWARD)), ..elementwise }
}
