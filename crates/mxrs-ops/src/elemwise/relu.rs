//! `out = max(data, 0)`, elementwise; `out` has the shape and dtype of `data`. NaN stays NaN.
//!
//! Gradient: `ograd` where out is positive, else 0; NaN where out is NaN.
//!
//! MXNet: `relu`, also `_sparse_relu`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::{gradients, unary};
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, OpDef, Precision};

const BACKWARD: &str = "_backward_relu";

/// Defines the operator `relu`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_relu"],
        summary: "out = max(data, 0)",
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| gradients::from_output(scope, BACKWARD)),
        companions: || vec![backward()],
        reference: reference!(numeric::map, numeric::relu, |x| x.max(0)),
        ..unary::define("relu")
    }
}

fn backward() -> OpDef {
    OpDef {
        summary: "out = ograd where out > 0",
        gradient: Gradient::By(|_, scope| gradients::linear_in_ograd(scope, BACKWARD)),
        reference: reference!(unary::apply_backward, |g, y| match y {
            y if y > 0.0 => g,
            y if y.is_nan() => y,
            _ => 0.0,
        }),
        ..unary::define_backward_of_output(BACKWARD)
    }
}
