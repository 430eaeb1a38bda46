//! `out = data`: the same elements under another name. The output is a view of the input's memory.
//!
//! Gradient: `ograd`.
//!
//! MXNet: `_copy`, also `identity`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::{gradients, unary};
use crate::{dtypes::MOVABLE, numeric};
use mxrs_op::{Accuracy, Gradient, OpDef, Precision, View};

/// Defines the operator `_copy`.
pub fn define() -> OpDef {
    let elementwise = unary::define("_copy", &["identity"], "out = data", |_, inputs, outputs, _| {
        numeric::copy_bytes(inputs, outputs);
        Ok(())
    });
    OpDef {
        dtypes: MOVABLE,
        accuracy: Accuracy::Exact,
        view: |_, _| View::Identity,
        precision: Precision::follows,
        gradient: Gradient::By(gradients::pass_to_all),
        ..elementwise
    }
}
