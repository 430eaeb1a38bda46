//! `out = min(data, scalar)`, elementwise; out has the shape and dtype of data, to which the scalar is converted.
//! NaN wins.
//!
//! MXNet: `_minimum_scalar`, also `_MinimumScalar`, `_npi_minimum_scalar`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::{numeric, with_scalar};
use mxrs_op::OpDef;

/// `_minimum_scalar`.
pub fn define() -> OpDef {
    with_scalar::define(
        "_minimum_scalar",
        &["_MinimumScalar", "_npi_minimum_scalar"],
        "out = min(data, scalar)",
        |params, inputs, outputs, _| {
            with_scalar::apply(params, inputs, outputs, numeric::min_nan, i64::min);
            Ok(())
        },
    )
}
