//! `out = data * data`, elementwise; out has the shape and dtype of data. Integers wrap.
//!
//! MXNet: `square`, also `_sparse_square`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::{numeric, unary};
use mxrs_op::OpDef;

/// `square`.
pub fn define() -> OpDef {
    unary::define("square", &["_sparse_square"], "out = data * data", |_, inputs, outputs, _| {
        numeric::map(inputs, outputs, |x| x * x, |x| x.wrapping_mul(x));
        Ok(())
    })
}
