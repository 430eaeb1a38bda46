//! `out = data`, without a gradient.
//!
//! Gradient: zero.
//!
//! MXNet: `BlockGrad`, also `_sparse_stop_gradient`, `stop_gradient`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::elemwise::copy;
use mxrs_op::{Gradient, OpDef, View};

/// Defines the operator `BlockGrad`.
pub fn define() -> OpDef {
    OpDef {
        name: "BlockGrad",
        aliases: &["_sparse_stop_gradient", "stop_gradient"],
        summary: "out = data, without a gradient",
        gradient: Gradient::Zero,
        // The gradient of a view is that of a copy, `ograd`, but here it must be 0. So the output is not a view.
        view: |_, _| View::No,
        ..copy::define()
    }
}
