//! `out = e^data`, elementwise; `out` has the shape and dtype of `data`.
//!
//! Gradient, from the output: `ograd · out`.
//!
//! MXNet: `exp`, also `_sparse_exp`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats and
//! truncated.

use crate::families::unary;
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, OpDef};

/// Defines the operator `exp`.
pub fn define() -> OpDef {
    let gradient = Gradient::By(|_, scope| {
        let (head, out) = (scope.out_grad(0)?, scope.output(0));
        Ok(vec![Some(scope.call_one("elemwise_mul", &[head, out])?)])
    });
    OpDef {
        aliases: &["_sparse_exp"],
        summary: "out = e^data",
        gradient,
        reference: reference!(numeric::map_float, f64::exp),
        ..unary::define("exp")
    }
}
