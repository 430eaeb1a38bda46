//! `out = data`. The gradient of data is `grad_scale / m · (out - label)`: that of half the squared error.
//! Data and label are [n, …], and `m` is the number of elements of an example. The gradient does not depend on `ograd`.
//!
//! MXNet: `LinearRegressionOutput`, also `_sparse_LinearRegressionOutput`.
//! Dtypes: f32 f64 f16 bf16. Label may also be `[n]` if data is `[n, 1]`.

use crate::families::regression::{self, Regression};
use mxrs_op::OpDef;

struct LinearRegressionOutput;

impl Regression for LinearRegressionOutput {
    const NAME: &'static str = "LinearRegressionOutput";
    const ALIASES: &'static [&'static str] = &["_sparse_LinearRegressionOutput"];
    const SUMMARY: &'static str = "out = data; squared error";
    const BACKWARD: &'static str = "_backward_LinearRegressionOutput";

    fn value(data: f64) -> f64 {
        data
    }

    fn slope(out: f64, label: f64) -> f64 {
        out - label
    }
}

/// Defines the operator `LinearRegressionOutput`.
pub fn define() -> OpDef {
    regression::define::<LinearRegressionOutput>()
}
