//! `out = ln(data)`, elementwise; out has the shape and dtype of data. Negative numbers give NaN, zero -inf.
//!
//! MXNet: `log`, also `_sparse_log`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats and
//! truncated.

use crate::{numeric, unary};
use mxrs_op::OpDef;

/// `log`.
pub fn define() -> OpDef {
    unary::define_on_positive("log", &["_sparse_log"], "out = ln(data)", |_, inputs, outputs, _| {
        numeric::map_float(inputs, outputs, f64::ln);
        Ok(())
    })
}
