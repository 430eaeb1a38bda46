//! `out = lhs + rhs`, elementwise over equal shapes. Integers wrap.
//!
//! MXNet: `elemwise_add`, also `_Plus`, `_add`, `_plus`, `_sparse_elemwise_add`. Dtypes: f32 f64 f16 bf16 u8 i8 i32
//! i64; both inputs have one.

use crate::{numeric, pairwise};
use mxrs_op::OpDef;

/// `elemwise_add`.
pub fn define() -> OpDef {
    pairwise::define(
        "elemwise_add",
        &["_Plus", "_add", "_plus", "_sparse_elemwise_add"],
        "out = lhs + rhs",
        |_, inputs, outputs, _| {
            numeric::zip(inputs, outputs, |a, b| a + b, i64::wrapping_add);
            Ok(())
        },
    )
}
