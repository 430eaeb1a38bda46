//! `out = lhs * rhs`, over shapes that broadcast: sizes of 1 stretch, missing leading axes count as 1.
//!
//! MXNet: `broadcast_mul`, also `_sparse_broadcast_mul`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; both inputs have one.

use crate::broadcast;
use mxrs_op::OpDef;

/// `broadcast_mul`.
pub fn define() -> OpDef {
    broadcast::define("broadcast_mul", &["_sparse_broadcast_mul"], "out = lhs * rhs", |_, inputs, outputs, _| {
        broadcast::zip(inputs, outputs, |a, b| a * b, i64::wrapping_mul);
        Ok(())
    })
}
