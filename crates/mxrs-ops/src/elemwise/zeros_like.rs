//! `out = 0` with the shape and dtype of data. The content of data is not read.
//!
//! MXNet: `zeros_like`, also `_sparse_zeros_like`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::unary;
use crate::{dtypes::MOVABLE, numeric};
use mxrs_op::{Accuracy, Gradient, OpDef, Precision};

/// Defines the operator `zeros_like`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_zeros_like"],
        summary: "out = 0, shaped like data",
        dtypes: MOVABLE,
        accuracy: Accuracy::Exact,
        gradient: Gradient::Zero,
        ignored_inputs: &[0],
        reference: Some(|_, _, outputs, _| {
            let n = outputs[0].desc.shape.n_elements();
            numeric::write_integers(&mut outputs[0], &vec![0; n]);
            Ok(())
        }),
        precision_float16: Some(Precision::follows),
        ..unary::define("zeros_like")
    }
}
