//! `out = lhs + rhs`, elementwise over equal shapes: the sum of two gradients, computed in the memory of the first.
//! Integers wrap.
//!
//! Gradient: `ograd` for both inputs.
//!
//! MXNet: `_grad_add`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; both inputs have the same dtype.

use crate::families::{gradients, pairwise};
use crate::numeric::{self, reference};
use mxrs_op::{Combines, Gradient, OpDef, Precision};

/// Defines the operator `_grad_add`.
pub fn define() -> OpDef {
    OpDef {
        summary: "out = lhs + rhs, of gradients",
        combines: Combines::GradientSum,
        inplace: &[(0, 0)],
        gradient: Gradient::By(gradients::pass_to_all),
        reference: reference!(numeric::zip, |a, b| a + b, i64::wrapping_add),
        precision_float16: Some(Precision::follows),
        ..pairwise::define("_grad_add")
    }
}
