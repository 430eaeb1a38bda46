//! Helpers for declaring gradients: answers that many operators share, and inference and samples of backward operators
//! that need a forward tensor only for its shape or type.

use crate::inference::unify;
use mxrs_op::{Attrs, GradValue, GradientScope, InferShape, OpDef, OpParams, Sample, SampleInput, is_annotation_key};
use mxrs_types::{PartialShape, Result};

/// The gradient of each input, or `None` for an input without gradient.
pub type Answers = Result<Vec<Option<GradValue>>>;

/// Answers that every input has the gradient of the output. True for sums, and for views that keep the shape.
pub fn pass_to_all(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let head = scope.out_grad(0)?;
    Ok(vec![Some(head); scope.n_inputs()])
}

/// Calls an operator of a tensor and a scalar.
pub fn call_scalar(scope: &mut dyn GradientScope, op: &str, data: GradValue, scalar: f64) -> Result<GradValue> {
    Ok(scope.call(op, Attrs::from([("scalar", scalar.to_string())]), &[data])?[0])
}

/// The parameters of the differentiated call, without the annotations of its node.
pub fn params_of(scope: &dyn GradientScope) -> Attrs {
    scope.attrs().iter().filter(|(key, _)| !is_annotation_key(key)).collect()
}

/// Calls a backward operator with the parameters of the call, on the gradient of the first output and `saved`.
pub fn call_with_params(scope: &mut dyn GradientScope, op: &str, saved: &[GradValue]) -> Result<GradValue> {
    let mut inputs = vec![scope.out_grad(0)?];
    inputs.extend_from_slice(saved);
    Ok(scope.call(op, params_of(scope), &inputs)?[0])
}

/// The answer for an operator with one input: `op(head, input)`, with the call's parameters.
pub fn from_input(scope: &mut dyn GradientScope, op: &str) -> Answers {
    let data = scope.input(0);
    Ok(vec![Some(call_with_params(scope, op, &[data])?)])
}

/// The answer for an operator with one input: `op(head, output)`, with the call's parameters.
pub fn from_output(scope: &mut dyn GradientScope, op: &str) -> Answers {
    let out = scope.output(0);
    Ok(vec![Some(call_with_params(scope, op, &[out])?)])
}

/// Calls `make` if the gradient of this input is wanted.
pub fn if_wanted(
    scope: &mut dyn GradientScope,
    input: usize,
    make: impl FnOnce(&mut dyn GradientScope) -> Result<GradValue>,
) -> Result<Option<GradValue>> {
    if scope.wants(input) { make(scope).map(Some) } else { Ok(None) }
}

/// The answer of a backward operator `out = f(ograd, saved)` that is linear in `ograd` and whose derivative by `saved`
/// is zero almost everywhere, such as a mask.
pub fn linear_in_ograd(scope: &mut dyn GradientScope, op: &str) -> Answers {
    let saved = scope.input(1);
    Ok(vec![Some(call_with_params(scope, op, &[saved])?), None])
}

/// Infers shapes of a backward operator (ograd, data) → gradient of data, if `forward` infers ograd's shape from
/// data's.
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

/// The samples of `forward` as samples of its backward operator: a gradient of its first output is inserted before its
/// inputs.
pub fn samples_after(forward: &OpDef) -> Vec<Sample> {
    (forward.samples)().into_iter().filter_map(|sample| with_ograd(forward, sample)).collect()
}

fn with_ograd(forward: &OpDef, mut sample: Sample) -> Option<Sample> {
    let params = forward.parse(&sample.attrs).ok()?;
    let mut inputs: Vec<PartialShape> = sample.inputs.iter().map(|i| PartialShape::from(&i.shape)).collect();
    let mut outputs = vec![PartialShape::unknown(); forward.n_outputs.get(&params)];
    forward.infer_shapes(&params, &mut inputs, &mut outputs).ok()?;
    let ograd = SampleInput { shape: outputs[0].known()?, fill: mxrs_op::Fill::Uniform(-1.0, 1.0), dtype: None };
    sample.inputs.insert(0, ograd);
    Some(sample)
}
