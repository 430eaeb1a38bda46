//! `out = data`: the same elements under another name. The output is a view of the input's memory.
//!
//! Gradient: `ograd`.
//!
//! MXNet: `_copy`, also `identity`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::dtypes::MOVABLE;
use crate::families::{gradients, unary};
use crate::numeric::{self, reference};
use mxrs_op::{Accuracy, Gradient, OpDef, Precision, View};

/// Defines the operator `_copy`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["identity"],
        summary: "out = data",
        dtypes: MOVABLE,
        accuracy: Accuracy::Exact,
        view: |_, _| View::Identity,
        precision: Precision::follows,
        gradient: Gradient::By(gradients::pass_to_all),
        reference: reference!(numeric::copy_bytes),
        ..unary::define("_copy")
    }
}
