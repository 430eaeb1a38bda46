//! `out = scalar / data`, elementwise; out has the shape and dtype of data, to which the scalar is converted.
//!
//! MXNet: `_rdiv_scalar`, also `_RDivScalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::{numeric, with_scalar};
use mxrs_op::OpDef;

/// `_rdiv_scalar`.
pub fn define() -> OpDef {
    with_scalar::define("_rdiv_scalar", &["_RDivScalar"], "out = scalar / data", |params, inputs, outputs, _| {
        with_scalar::apply(params, inputs, outputs, |x, s| s / x, |x, s| numeric::divide_integers(s, x));
        Ok(())
    })
}
