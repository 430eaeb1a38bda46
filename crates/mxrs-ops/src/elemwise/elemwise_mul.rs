//! `out = lhs * rhs`, elementwise over equal shapes. Integers wrap.
//!
//! MXNet: `elemwise_mul`, also `_Mul`, `_mul`, `_sparse_elemwise_mul`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; both
//! inputs have one.

use crate::{numeric, pairwise};
use mxrs_op::OpDef;

/// `elemwise_mul`.
pub fn define() -> OpDef {
    pairwise::define(
        "elemwise_mul",
        &["_Mul", "_mul", "_sparse_elemwise_mul"],
        "out = lhs * rhs",
        |_, inputs, outputs, _| {
            numeric::zip(inputs, outputs, |a, b| a * b, i64::wrapping_mul);
            Ok(())
        },
    )
}
