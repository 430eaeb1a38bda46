//! `out = e^data`, elementwise; `out` has the shape and dtype of `data`.
//!
//! Gradient, from the output: `ograd · out`.
//!
//! MXNet: `exp`, also `_sparse_exp`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats and
//! truncated.

use crate::families::unary;
use crate::numeric;
use mxrs_op::{Gradient, OpDef};

/// Defines the operator `exp`.
pub fn define() -> OpDef {
    let elementwise = unary::define("exp", &["_sparse_exp"], "out = e^data", |_, inputs, outputs, _| {
        numeric::map_float(inputs, outputs, f64::exp);
        Ok(())
    });
    let gradient = Gradient::By(|_, scope| {
        let (head, out) = (scope.out_grad(0)?, scope.output(0));
        Ok(vec![Some(scope.call_one("elemwise_mul", &[head, out])?)])
    });
    OpDef { gradient, ..elementwise }
}
