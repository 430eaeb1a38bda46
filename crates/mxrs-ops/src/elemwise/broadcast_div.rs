//! `out = lhs / rhs`, over shapes that broadcast: sizes of 1 stretch, missing leading axes count as 1.
//!
//! MXNet: `broadcast_div`, also `_sparse_broadcast_div`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; both inputs have one.

use crate::{broadcast, numeric};
use mxrs_op::OpDef;

/// `broadcast_div`.
pub fn define() -> OpDef {
    broadcast::define("broadcast_div", &["_sparse_broadcast_div"], "out = lhs / rhs", |_, inputs, outputs, _| {
        broadcast::zip(inputs, outputs, |a, b| a / b, numeric::divide_integers);
        Ok(())
    })
}
