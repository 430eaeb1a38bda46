//! `out = data ^ scalar`, elementwise; out has the shape and dtype of data, to which the scalar is converted.
//! Integers are computed in floats and truncated.
//!
//! MXNet: `_power_scalar`, also `_PowerScalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::with_scalar;
use mxrs_op::OpDef;

/// `_power_scalar`.
pub fn define() -> OpDef {
    with_scalar::define("_power_scalar", &["_PowerScalar"], "out = data ^ scalar", |params, inputs, outputs, _| {
        with_scalar::apply(params, inputs, outputs, f64::powf, |x, s| (x as f64).powf(s as f64) as i64);
        Ok(())
    })
}
