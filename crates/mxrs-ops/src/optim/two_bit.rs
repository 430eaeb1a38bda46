//! Gradient compression to two bits per element, as in MXNet's key-value stores. The compressed value is -t, 0 or t,
//! where t is the threshold. The difference is kept as residual and added to the next gradient.
//!
//! `r = residual + grad`; out is t if `r >= t`, -t if `r <= -t`, else 0; `residual = r - out`, all in `f32`.

use crate::inference::bad_attribute;
use crate::numeric;
use mxrs_op::{InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{PartialShape, Result, two_bit};

op_params! {
    /// Parameters of `_two_bit_compression`.
    pub struct Params for "_two_bit_compression" {
        /// The threshold t.
        threshold: f32 = 0.5,
    }
}

/// Defines the operator `_two_bit_compression`.
pub fn define() -> OpDef {
    OpDef {
        summary: "gradient rounded to -threshold, 0 or threshold",
        inputs: InputNames::Fixed(&["grad", "residual"]),
        infer_shape,
        inplace: &[(0, 0)],
        rewrites: |_, _| &[1],
        reference: Some(compress),
        samples,
        ..OpDef::new("_two_bit_compression").params::<Params>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let threshold = params.get::<Params>().threshold;
    if !(threshold > 0.0 && threshold.is_finite()) {
        return Err(bad_attribute("_two_bit_compression", "threshold", "a positive number", threshold));
    }
    crate::inference::unify_all(inputs, outputs, "residual")
}

fn compress(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let threshold = params.get::<Params>().threshold;
    let [mut grad, mut residual] = [0, 1].map(|i| numeric::read(&inputs[i]));
    for (g, r) in grad.iter_mut().zip(&mut residual) {
        let sum = *r as f32 + *g as f32;
        let sent = two_bit::sent(sum, threshold);
        (*g, *r) = (f64::from(sent), f64::from(sum - sent));
    }
    numeric::write(&mut outputs[0], &grad);
    numeric::write(&mut outputs[1], &residual);
    Ok(())
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("default", &[&[3, 5, 7], &[3, 5, 7]]),
        Sample::new("fine", [("threshold", "0.01")], &[&[4099], &[4099]]),
        Sample::plain("scalar", &[&[], &[]]),
        Sample::plain("empty", &[&[3, 0], &[3, 0]]),
    ]
}
