//! `out = min(max(data, a_min), a_max)`, elementwise; `out` has the shape and dtype of `data`. NaN stays NaN.
//!
//! Gradient: `ograd` where data is at least `a_min` and at most `a_max`, else 0. Where data is NaN, the gradient is `ograd`.
//!
//! MXNet: `clip`, also `_npi_clip`, `_sparse_clip`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; for integers the bounds are
//! truncated.

use crate::families::{gradients, unary};
use crate::numeric;
use mxrs_op::{Fill, Gradient, OpDef, Precision, Sample, op_params};

op_params! {
    /// Parameters of `clip`.
    pub struct ClipParams for "clip" {
        /// Smallest result.
        a_min: f32,
        /// Largest result.
        a_max: f32,
    }
}

/// Defines the operator `clip`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_clip", "_sparse_clip"],
        summary: "out = min(max(data, a_min), a_max)",
        samples,
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| gradients::from_input(scope, BACKWARD)),
        companions: || vec![backward()],
        reference: Some(|params, inputs, outputs, _| {
            let ClipParams { a_min, a_max } = params.get();
            let (low, high) = (f64::from(*a_min), f64::from(*a_max));
            let integer = |x: i64| match x {
                _ if x as f64 > high => high as i64,
                _ if (x as f64) < low => low as i64,
                x => x,
            };
            numeric::map(inputs, outputs, |x| numeric::clip(x, low, high), integer);
            Ok(())
        }),
        ..unary::define("clip").params::<ClipParams>()
    }
}

const BACKWARD: &str = "_backward_clip";

fn backward() -> OpDef {
    OpDef {
        summary: "out = ograd within the bounds",
        samples: || gradients::samples_after(&define()),
        gradient: Gradient::By(|_, scope| gradients::linear_in_ograd(scope, BACKWARD)),
        reference: Some(|params, inputs, outputs, _| {
            let ClipParams { a_min, a_max } = params.get();
            let (low, high) = (f64::from(*a_min), f64::from(*a_max));
            let is_out = |x: f64| x > high || x < low;
            unary::apply_backward(inputs, outputs, |g, x| if is_out(x) { 0.0 } else { g });
            Ok(())
        }),
        ..unary::define_backward(BACKWARD).params::<ClipParams>()
    }
}

fn samples() -> Vec<Sample> {
    let bounds = [("a_min", "-2"), ("a_max", "3")];
    vec![
        Sample::new("matrix", bounds, &[&[3, 5]]).fill(0, Fill::Uniform(-4.0, 4.0)),
        Sample::new("relu6", [("a_min", "0.0"), ("a_max", "6.0")], &[&[2, 3, 4, 5]]).fill(0, Fill::Uniform(-9.0, 9.0)),
        Sample::new("one", bounds, &[&[1]]),
        Sample::new("empty", bounds, &[&[0]]),
        Sample::new("special", bounds, &[&[8]]).fill(0, Fill::Values(unary::special_values())),
    ]
}
