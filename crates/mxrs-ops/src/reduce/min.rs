//! `out = min data` over the reduced axes; [a, b] over axis 1 gives `[a]`. If one of the elements is NaN, the minimum
//! is NaN. The minimum of no elements is inf, or the largest integer.
//!
//! Gradient: every element equal to its minimum gets the whole `ograd`, the others 0. If the minimum is NaN, no element
//! is equal to it.
//!
//! MXNet: `min`, also `min_axis`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::extremes;
use mxrs_op::OpDef;

/// Defines the operator `min`.
pub fn define() -> OpDef {
    OpDef { aliases: &["min_axis"], summary: "minimum over axes", ..extremes::define::<true>() }
}
