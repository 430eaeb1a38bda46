//! `out = ln(data)`, elementwise; `out` has the shape and dtype of `data`. Negative numbers give NaN, zero -inf.
//!
//! Gradient: `ograd / data`.
//!
//! MXNet: `log`, also `_sparse_log`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64. Integers are computed in floats and
//! truncated.

use crate::families::unary;
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, OpDef};

/// Defines the operator `log`.
pub fn define() -> OpDef {
    let gradient = Gradient::By(|_, scope| {
        let (head, data) = (scope.out_grad(0)?, scope.input(0));
        Ok(vec![Some(scope.call_one("elemwise_div", &[head, data])?)])
    });
    OpDef {
        aliases: &["_sparse_log"],
        summary: "out = ln(data)",
        gradient,
        reference: reference!(numeric::map_float, f64::ln),
        ..unary::define_on_positive("log")
    }
}
