//! `out = |data|`, elementwise; `out` has the shape and dtype of `data`. Integers wrap: the result for the smallest integer
//! is that integer.
//!
//! Gradient: `ograd · sign(data)`, 0 at 0 and where data is NaN.
//!
//! MXNet: `abs`, also `_sparse_abs`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::{gradients, unary};
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, OpDef, Precision};

const BACKWARD: &str = "_backward_abs";

/// Defines the operator `abs`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_abs"],
        summary: "out = |data|",
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| gradients::from_input(scope, BACKWARD)),
        companions: || vec![backward()],
        reference: reference!(numeric::map, f64::abs, i64::wrapping_abs),
        ..unary::define("abs")
    }
}

fn backward() -> OpDef {
    OpDef {
        summary: "out = ograd * sign(data)",
        gradient: Gradient::By(|_, scope| gradients::linear_in_ograd(scope, BACKWARD)),
        reference: reference!(unary::apply_backward, |g, x| g * numeric::sign(x)),
        ..unary::define_backward(BACKWARD)
    }
}
