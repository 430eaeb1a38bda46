//! Position of the smallest element along an axis; the first, if there are several. NaN counts as smallest.
//!
//! [a, b] over axis 1 gives `[a]`. Without an axis, the result is a position in the flattened tensor, and its shape is
//! `[1]`. The result has the dtype of data, so positions are exact up to 2^24 in f32, and up to 2048 in f16.
//!
//! Gradient: 0.
//!
//! MXNet: `argmin`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::reduce::argmax;
use mxrs_op::OpDef;

/// Defines the operator `argmin`.
pub fn define() -> OpDef {
    OpDef { summary: "position of the minimum", ..argmax::define_as::<true>("argmin") }
}
