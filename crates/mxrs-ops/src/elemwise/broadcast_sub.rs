//! `out = lhs - rhs`, over shapes that broadcast: sizes of 1 stretch, missing leading axes count as 1.
//!
//! MXNet: `broadcast_sub`, also `_sparse_broadcast_minus`, `_sparse_broadcast_sub`, `broadcast_minus`. Dtypes: f32 f64
//! f16 bf16 u8 i8 i32 i64; both inputs have one.

use crate::broadcast;
use mxrs_op::OpDef;

/// `broadcast_sub`.
pub fn define() -> OpDef {
    broadcast::define(
        "broadcast_sub",
        &["_sparse_broadcast_minus", "_sparse_broadcast_sub", "broadcast_minus"],
        "out = lhs - rhs",
        |_, inputs, outputs, _| {
            broadcast::zip(inputs, outputs, |a, b| a - b, i64::wrapping_sub);
            Ok(())
        },
    )
}
