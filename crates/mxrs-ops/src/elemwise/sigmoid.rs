//! `out = 1 / (1 + e^-data)`, elementwise; out has the shape and dtype of data.
//!
//! MXNet: `sigmoid`, also `_sparse_sigmoid`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats
//! and truncated.

use crate::{numeric, unary};
use mxrs_op::OpDef;

/// `sigmoid`.
pub fn define() -> OpDef {
    unary::define("sigmoid", &["_sparse_sigmoid"], "out = 1 / (1 + e^-data)", |_, inputs, outputs, _| {
        numeric::map_float(inputs, outputs, numeric::sigmoid);
        Ok(())
    })
}
