//! `out = max(data, 0)`, elementwise; out has the shape and dtype of data. NaN stays NaN.
//!
//! MXNet: `relu`, also `_sparse_relu`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::{numeric, unary};
use mxrs_op::OpDef;

/// `relu`.
pub fn define() -> OpDef {
    unary::define("relu", &["_sparse_relu"], "out = max(data, 0)", |_, inputs, outputs, _| {
        numeric::map(inputs, outputs, numeric::relu, |x| x.max(0));
        Ok(())
    })
}
