//! `out = max(data, scalar)`, elementwise; out has the shape and dtype of data, to which the scalar is converted.
//! NaN wins.
//!
//! MXNet: `_maximum_scalar`, also `_MaximumScalar`, `_npi_maximum_scalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::{numeric, with_scalar};
use mxrs_op::OpDef;

/// `_maximum_scalar`.
pub fn define() -> OpDef {
    with_scalar::define(
        "_maximum_scalar",
        &["_MaximumScalar", "_npi_maximum_scalar"],
        "out = max(data, scalar)",
        |params, inputs, outputs, _| {
            with_scalar::apply(params, inputs, outputs, numeric::max_nan, i64::max);
            Ok(())
        },
    )
}
