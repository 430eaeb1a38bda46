//! `out = lhs + rhs`, elementwise over equal shapes: the sum of two gradients, computed in the memory of the first.
//! Integers wrap.
//!
//! Gradient: `ograd` for both inputs.
//!
//! MXNet: `_grad_add`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; both inputs have the same dtype.

use crate::families::{gradients, pairwise};
use crate::numeric;
use mxrs_op::{Combines, Gradient, OpDef};

/// Defines the operator `_grad_add`.
pub fn define() -> OpDef {
    let elementwise = pairwise::define("_grad_add", &[], "out = lhs + rhs, of gradients", |_, inputs, outputs, _| {
        numeric::zip(inputs, outputs, |a, b| a + b, i64::wrapping_add);
        Ok(())
    });
    OpDef {
        combines: Combines::GradientSum,
        inplace: &[(0, 0)],
        gradient: Gradient::By(gradients::pass_to_all),
        ..elementwise
    }
}
