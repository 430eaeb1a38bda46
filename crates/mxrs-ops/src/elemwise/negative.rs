//! `out = -data`, elementwise; out has the shape and dtype of data. Integers wrap.
//!
//! MXNet: `negative`, also `_sparse_negative`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::{numeric, unary};
use mxrs_op::OpDef;

/// `negative`.
pub fn define() -> OpDef {
    unary::define("negative", &["_sparse_negative"], "out = -data", |_, inputs, outputs, _| {
        numeric::map(inputs, outputs, |x| -x, i64::wrapping_neg);
        Ok(())
    })
}
