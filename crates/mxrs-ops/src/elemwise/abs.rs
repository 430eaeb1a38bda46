//! `out = |data|`, elementwise; out has the shape and dtype of data. Integers wrap: the smallest one stays.
//!
//! MXNet: `abs`, also `_sparse_abs`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::{numeric, unary};
use mxrs_op::OpDef;

/// `abs`.
pub fn define() -> OpDef {
    unary::define("abs", &["_sparse_abs"], "out = |data|", |_, inputs, outputs, _| {
        numeric::map(inputs, outputs, f64::abs, i64::wrapping_abs);
        Ok(())
    })
}
