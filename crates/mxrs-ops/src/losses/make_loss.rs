//! `out = data`, as a loss: the gradient does not depend on `ograd`.
//!
//! Gradient: 1.
//!
//! MXNet: `make_loss`, also `_sparse_make_loss`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::elemwise::copy;
use mxrs_op::{Gradient, OpDef, View};

/// Defines the operator `make_loss`.
pub fn define() -> OpDef {
    OpDef {
        name: "make_loss",
        aliases: &["_sparse_make_loss"],
        summary: "out = data, with a gradient of 1",
        gradient: Gradient::By(|_, scope| {
            let data = scope.input(0);
            Ok(vec![Some(scope.call_one("ones_like", &[data])?)])
        }),
        // The gradient of a view is that of a copy, `ograd`, but here it must be 1. So the output is not a view.
        view: |_, _| View::No,
        is_loss: |_| true,
        ..copy::define()
    }
}
