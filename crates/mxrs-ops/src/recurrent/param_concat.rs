//! Concatenates the parameters of a recurrent layer: as `Concat`, with inputs of one shape whose size along `dim` may be inferred
//! from the output. MXNet calls it with vectors and `dim` 0.
//!
//! Gradient: each input gets its part of `ograd`.
//!
//! MXNet: `_rnn_param_concat`, also `_npi_rnn_param_concat`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::shape::concat;
use mxrs_op::{OpDef, Precision};

/// Defines the operator `_rnn_param_concat`.
pub fn define() -> OpDef {
    OpDef {
        name: "_rnn_param_concat",
        aliases: &["_npi_rnn_param_concat"],
        summary: "joins the parameters of a recurrent layer",
        precision: Precision::float32,
        precision_float16: Some(Precision::follows),
        companions: Vec::new,
        ..concat::define()
    }
}
