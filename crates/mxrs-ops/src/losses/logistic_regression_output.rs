//! `out = 1 / (1 + e^-data)`. The gradient of data is `grad_scale / m · (out - label)`: that of the cross-entropy.
//! Data and label are [n, …], and `m` is the number of elements of an example. The gradient does not depend on `ograd`.
//!
//! MXNet: `LogisticRegressionOutput`, also `_sparse_LogisticRegressionOutput`.
//! Dtypes: f32 f64 f16 bf16. Label may also be `[n]` if data is `[n, 1]`.

use crate::families::regression::{self, Regression};
use crate::numeric;
use mxrs_op::OpDef;

struct LogisticRegressionOutput;

impl Regression for LogisticRegressionOutput {
    const NAME: &'static str = "LogisticRegressionOutput";
    const ALIASES: &'static [&'static str] = &["_sparse_LogisticRegressionOutput"];
    const SUMMARY: &'static str = "out = sigmoid(data); cross-entropy";
    const BACKWARD: &'static str = "_backward_LogisticRegressionOutput";

    fn value(data: f64) -> f64 {
        numeric::sigmoid(data)
    }

    fn slope(out: f64, label: f64) -> f64 {
        out - label
    }
}

/// Defines the operator `LogisticRegressionOutput`.
pub fn define() -> OpDef {
    regression::define::<LogisticRegressionOutput>()
}
