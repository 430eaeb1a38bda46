//! `out = 0` everywhere, of the shape and dtype in the parameters. No inputs.
//!
//! MXNet: `_zeros`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::filled;
use mxrs_op::OpDef;

/// Defines the operator `_zeros`.
pub fn define() -> OpDef {
    OpDef {
        reference: Some(|_, _, outputs, _| {
            filled::fill(&mut outputs[0], 0.0);
            Ok(())
        }),
        ..filled::define("_zeros", "out = 0")
    }
}
