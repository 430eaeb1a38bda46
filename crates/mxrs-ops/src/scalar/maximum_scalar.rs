//! `out = max(data, scalar)`, elementwise; `out` has the shape and dtype of `data`. The scalar is first converted to that
//! dtype. NaN stays NaN.
//!
//! Gradient: `ograd` where data is at least the scalar, else 0; 0 where data is NaN.
//!
//! MXNet: `_maximum_scalar`, also `_MaximumScalar`, `_npi_maximum_scalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::{gradients, with_scalar};
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, OpDef};

/// Defines the operator `_maximum_scalar`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_MaximumScalar", "_npi_maximum_scalar"],
        summary: "out = max(data, scalar)",
        gradient: Gradient::By(|_, scope| gradients::from_input(scope, BACKWARD)),
        companions: || vec![backward()],
        reference: reference!(with_scalar::apply, params, numeric::max_nan, i64::max),
        ..with_scalar::define("_maximum_scalar")
    }
}

const BACKWARD: &str = "_backward_maximum_scalar";

fn backward() -> OpDef {
    OpDef {
        summary: "out = ograd where data >= scalar",
        gradient: Gradient::By(|_, scope| gradients::linear_in_ograd(scope, BACKWARD)),
        reference: reference!(with_scalar::apply_backward, params, |g, x, s| if x >= s { g } else { 0.0 }),
        ..with_scalar::define_backward(BACKWARD)
    }
}
