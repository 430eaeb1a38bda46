//! `out = e^data`, elementwise; out has the shape and dtype of data.
//!
//! MXNet: `exp`, also `_sparse_exp`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats and
//! truncated.

use crate::{numeric, unary};
use mxrs_op::OpDef;

/// `exp`.
pub fn define() -> OpDef {
    unary::define("exp", &["_sparse_exp"], "out = e^data", |_, inputs, outputs, _| {
        numeric::map_float(inputs, outputs, f64::exp);
        Ok(())
    })
}
