//! `out = lhs / rhs`, elementwise over equal shapes. Integer division truncates; by
//! zero it gives 0.
//!
//! MXNet: `elemwise_div`, also `_Div`, `_div`, `_sparse_elemwise_div`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; both
//! inputs have one.

use crate::{numeric, pairwise};
use mxrs_op::OpDef;

/// `elemwise_div`.
pub fn define() -> OpDef {
    pairwise::define(
        "elemwise_div",
        &["_Div", "_div", "_sparse_elemwise_div"],
        "out = lhs / rhs",
        |_, inputs, outputs, _| {
            numeric::zip(inputs, outputs, |a, b| a / b, numeric::divide_integers);
            Ok(())
        },
    )
}
