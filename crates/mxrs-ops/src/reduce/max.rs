//! `out = max data` over the reduced axes; [a, b] over axis 1 gives `[a]`. If one of the elements is NaN, the maximum
//! is NaN. The maximum of no elements is -inf, or the smallest integer.
//!
//! Gradient: every element equal to its maximum gets the whole `ograd`, the others 0. If the maximum is NaN, no element
//! is equal to it.
//!
//! MXNet: `max`, also `max_axis`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::extremes;
use mxrs_op::OpDef;

/// Defines the operator `max`.
pub fn define() -> OpDef {
    OpDef { aliases: &["max_axis"], summary: "maximum over axes", ..extremes::define::<false>() }
}
