//! `out = lhs - rhs`, elementwise over equal shapes. Integers wrap.
//!
//! MXNet: `elemwise_sub`, also `_Minus`, `_minus`, `_sparse_elemwise_sub`, `_sub`. Dtypes: f32 f64 f16 bf16 u8 i8 i32
//! i64; both inputs have one.

use crate::{numeric, pairwise};
use mxrs_op::OpDef;

/// `elemwise_sub`.
pub fn define() -> OpDef {
    pairwise::define(
        "elemwise_sub",
        &["_Minus", "_minus", "_sparse_elemwise_sub", "_sub"],
        "out = lhs - rhs",
        |_, inputs, outputs, _| {
            numeric::zip(inputs, outputs, |a, b| a - b, i64::wrapping_sub);
            Ok(())
        },
    )
}
