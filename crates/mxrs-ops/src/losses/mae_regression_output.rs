//! `out = data`. The gradient of data is `grad_scale / m · sign(out - label)`: that of the absolute error.
//! Data and label are [n, …], and `m` is the number of elements of an example. The gradient does not depend on `ograd`.
//!
//! MXNet: `MAERegressionOutput`, also `_sparse_MAERegressionOutput`.
//! Dtypes: f32 f64 f16 bf16. Label may also be `[n]` if data is `[n, 1]`.

use crate::families::regression::{self, Regression};
use crate::numeric;
use mxrs_op::OpDef;

struct MAERegressionOutput;

impl Regression for MAERegressionOutput {
    const NAME: &'static str = "MAERegressionOutput";
    const ALIASES: &'static [&'static str] = &["_sparse_MAERegressionOutput"];
    const SUMMARY: &'static str = "out = data; absolute error";
    const BACKWARD: &'static str = "_backward_MAERegressionOutput";

    fn value(data: f64) -> f64 {
        data
    }

    fn slope(out: f64, label: f64) -> f64 {
        numeric::sign(out - label)
    }
}

/// Defines the operator `MAERegressionOutput`.
pub fn define() -> OpDef {
    regression::define::<MAERegressionOutput>()
}
