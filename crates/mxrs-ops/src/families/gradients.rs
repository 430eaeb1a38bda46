//! Helpers for declaring gradients: gradient functions that many operators share; and, for backward operators, shape
//! inference and samples.

use crate::families::backward::samples_of;
use crate::inference::unify;
use mxrs_op::{Attrs, GradValue, GradientScope, InferShape, OpDef, OpParams, Sample, is_annotation_key};
use mxrs_types::{PartialShape, Result};

/// The gradient of each input, or `None` for an input without gradient.
pub type Answers = Result<Vec<Option<GradValue>>>;

/// Returns the gradient of the output for every input. This is right for sums, and for views that keep the shape.
pub fn pass_to_all(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let head = scope.out_grad(0)?;
    Ok(vec![Some(head); scope.n_inputs()])
}

/// Calls operator `op`, which has one input and the parameter `scalar`.
pub fn call_scalar(scope: &mut dyn GradientScope, op: &str, data: GradValue, scalar: f64) -> Result<GradValue> {
    Ok(scope.call(op, Attrs::from([("scalar", scalar.to_string())]), &[data])?[0])
}

/// The parameters of the differentiated call, without the annotations of its node.
pub fn params_of(scope: &dyn GradientScope) -> Attrs {
    scope.attrs().iter().filter(|(key, _)| !is_annotation_key(key)).collect()
}

/// Calls the backward operator `op` on the gradient of the first output and `saved`, with the parameters of the
/// differentiated call.
pub fn call_with_params(scope: &mut dyn GradientScope, op: &str, saved: &[GradValue]) -> Result<GradValue> {
    let mut inputs = vec![scope.out_grad(0)?];
    inputs.extend_from_slice(saved);
    Ok(scope.call(op, params_of(scope), &inputs)?[0])
}

/// Returns the gradient of a call with one input as `op(ograd, input)`, with the parameters of the differentiated call.
pub fn from_input(scope: &mut dyn GradientScope, op: &str) -> Answers {
    let data = scope.input(0);
    Ok(vec![Some(call_with_params(scope, op, &[data])?)])
}

/// Returns the gradient of a call with one input as `op(ograd, output)`, with the parameters of the differentiated call.
pub fn from_output(scope: &mut dyn GradientScope, op: &str) -> Answers {
    let out = scope.output(0);
    Ok(vec![Some(call_with_params(scope, op, &[out])?)])
}

/// Calls `make` if the gradient of input number `input` is needed; returns `None` otherwise.
pub fn if_wanted(
    scope: &mut dyn GradientScope,
    input: usize,
    make: impl FnOnce(&mut dyn GradientScope) -> Result<GradValue>,
) -> Result<Option<GradValue>> {
    if scope.wants(input) { make(scope).map(Some) } else { Ok(None) }
}

/// Returns the gradient of a backward operator `out = f(ograd, saved)` that is linear in `ograd`, and whose derivative
/// with respect to `saved` is zero almost everywhere. An example is the gradient of ReLU, which multiplies `ograd` by a
/// mask.
pub fn linear_in_ograd(scope: &mut dyn GradientScope, op: &str) -> Answers {
    let saved = scope.input(1);
    Ok(vec![Some(call_with_params(scope, op, &[saved])?), None])
}

/// Infers the shapes of a backward operator that takes (ograd, data) and returns the gradient of data. `forward` is the
/// shape inference of the forward operator, which relates data to ograd.
pub fn infer_shape_by(
    forward: InferShape,
    params: &OpParams,
    inputs: &mut [PartialShape],
    outputs: &mut [PartialShape],
) -> Result<()> {
    let Some((ograd, data)) = inputs.split_first_mut() else { return Ok(()) };
    unify(&mut data[0], &mut outputs[0], "data")?;
    forward(params, &mut data[..1], std::slice::from_mut(ograd))?;
    unify(&mut data[0], &mut outputs[0], "data")
}

/// Makes samples of the backward operator from the samples of `forward`: inserts a gradient of the first output before the
/// inputs.
pub fn samples_after(forward: &OpDef) -> Vec<Sample> {
    samples_of(forward, |sample, outputs| Some([&outputs[..1], &sample.inputs].concat()))
}
