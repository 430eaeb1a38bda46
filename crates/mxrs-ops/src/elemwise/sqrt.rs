//! `out = data^(1/2)`, elementwise; out has the shape and dtype of data. Negative numbers give NaN.
//!
//! MXNet: `sqrt`, also `_sparse_sqrt`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats and
//! truncated.

use crate::{numeric, unary};
use mxrs_op::OpDef;

/// `sqrt`.
pub fn define() -> OpDef {
    unary::define_on_positive("sqrt", &["_sparse_sqrt"], "out = data^(1/2)", |_, inputs, outputs, _| {
        numeric::map_float(inputs, outputs, f64::sqrt);
        Ok(())
    })
}
