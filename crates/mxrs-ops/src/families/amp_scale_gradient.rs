//! `out = data`, with a gradient that is multiplied by a number that may change between runs: the scale of a loss. Training in
//! float16 puts this operator before each loss, so that small gradients do not become 0 when they are rounded to float16.
//!
//! Mixed precision computes it in float32, because the scale may be too large for float16.
//!
//! data has any shape, and scale has as many axes, all of size 1. The output is a view of data's memory. scale is read by the
//! gradient only.
//!
//! Gradient: `ograd · scale` of data, none of scale.
//!
//! MXNet has no such operator: it multiplies the loss, or the parameter `grad_scale` of a loss that sets its gradient itself.
//! Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::families::gradients::Answers;
use crate::inference::{learn, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{Accuracy, Gradient, GradientScope, InputNames, OpDef, OpParams, Sample, View};
use mxrs_types::{PartialShape, Result};

/// The name of the operator.
const NAME: &str = "_amp_scale_gradient";

/// Defines the operator `_amp_scale_gradient`, a companion of `amp_cast`.
pub fn define() -> OpDef {
    OpDef {
        summary: "out = data; the gradient is multiplied by scale",
        inputs: InputNames::Fixed(&["data", "scale"]),
        infer_shape,
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "scale"),
        dtypes: FLOATS,
        view: |_, _| View::Identity,
        ignored_inputs: &[1],
        accuracy: Accuracy::Exact,
        gradient: Gradient::By(gradient),
        reference: Some(|_, inputs, outputs, _| {
            numeric::copy_bytes(inputs, outputs);
            Ok(())
        }),
        samples: || {
            vec![
                Sample::plain("matrix", &[&[3, 5], &[1, 1]]),
                Sample::plain("images", &[&[2, 3, 4, 5], &[1, 1, 1, 1]]),
                Sample::plain("vector", &[&[7], &[1]]),
                Sample::plain("empty", &[&[0, 3], &[1, 1]]),
            ]
        },
        ..OpDef::new(NAME)
    }
}

fn infer_shape(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [data, scale] = inputs else { return Ok(()) };
    unify(data, &mut outputs[0], "output")?;
    match data.ndim() {
        Some(ndim) => learn(scale, &PartialShape::new(vec![Some(1); ndim]), "scale"),
        None => Ok(()),
    }
}

fn gradient(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let (head, scale) = (scope.out_grad(0)?, scope.input(1));
    Ok(vec![Some(scope.call_one("broadcast_mul", &[head, scale])?), None])
}
