//! `out = data`: the copy that assigns one array to another.
//!
//! Gradient: `ograd`.
//!
//! MXNet: `_copyto`, also `_npi_copyto`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::elemwise::copy;
use mxrs_op::OpDef;

/// Defines the operator `_copyto`.
pub fn define() -> OpDef {
    OpDef { name: "_copyto", aliases: &["_npi_copyto"], summary: "out = data, in another array", ..copy::define() }
}
