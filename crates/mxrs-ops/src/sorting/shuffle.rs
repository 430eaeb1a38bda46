//! The slices of the first axis in a random order, each order with equal probability (Fisher and Yates).
//!
//! Gradient: 0.
//!
//! MXNet: `_shuffle`, also `_npi_shuffle`, `shuffle`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool. The orders differ from
//! MXNet's.

use crate::dtypes::MOVABLE;
use crate::families::random::uniform;
use mxrs_op::{Gradient, OpDef, Precision, Sample};
use mxrs_types::Error;

/// Defines the operator `_shuffle`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_shuffle", "shuffle"],
        summary: "slices of the first axis in random order",
        dtypes: MOVABLE,
        precision: Precision::follows,
        is_random: |_, _| true,
        gradient: Gradient::Zero,
        reference: Some(|_, inputs, outputs, mode| {
            let random = mode.random.ok_or_else(|| Error::invalid("random numbers", "none", "a seed and a number"))?;
            let n = inputs[0].desc.shape.first().copied().unwrap_or(1);
            let mut order: Vec<usize> = (0..n).collect();
            for i in (1..n).rev() {
                let [a, b, ..] = random.block(i as u64);
                order.swap(i, (uniform([a, b]) * (i + 1) as f64) as usize);
            }
            let row = inputs[0].bytes.len().checked_div(n).unwrap_or(0);
            for (to, from) in order.into_iter().enumerate() {
                outputs[0].bytes[to * row..][..row].copy_from_slice(&inputs[0].bytes[from * row..][..row]);
            }
            Ok(())
        }),
        samples: || {
            vec![
                Sample::plain("vector", &[&[7]]),
                Sample::plain("rows", &[&[5, 3]]),
                Sample::plain("one", &[&[1, 2]]),
                Sample::plain("empty", &[&[0, 3]]),
            ]
        },
        ..OpDef::new("_shuffle")
    }
}
