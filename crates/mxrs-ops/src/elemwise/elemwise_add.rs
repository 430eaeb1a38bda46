//! `out = lhs + rhs`, elementwise over equal shapes. Integers wrap.
//!
//! Gradient: `ograd` for both inputs.
//!
//! MXNet: `elemwise_add`, also `_Plus`, `_add`, `_plus`, `_sparse_elemwise_add`. Dtypes: f32 f64 f16 bf16 u8 i8 i32
//! i64; both inputs have the same dtype.

use crate::families::{gradients, pairwise};
use crate::numeric::{self, reference};
use mxrs_op::{Combines, Gradient, OpDef, Precision};

/// Defines the operator `elemwise_add`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_Plus", "_add", "_plus", "_sparse_elemwise_add"],
        summary: "out = lhs + rhs",
        combines: Combines::Sum,
        precision: Precision::widest,
        gradient: Gradient::By(gradients::pass_to_all),
        reference: reference!(numeric::zip, |a, b| a + b, i64::wrapping_add),
        ..pairwise::define("elemwise_add")
    }
}
