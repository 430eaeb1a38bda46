//! `out = tanh(data)`, elementwise; out has the shape and dtype of data.
//!
//! MXNet: `tanh`, also `_sparse_tanh`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats and
//! truncated.

use crate::{numeric, unary};
use mxrs_op::OpDef;

/// `tanh`.
pub fn define() -> OpDef {
    unary::define("tanh", &["_sparse_tanh"], "out = tanh(data)", |_, inputs, outputs, _| {
        numeric::map_float(inputs, outputs, f64::tanh);
        Ok(())
    })
}
