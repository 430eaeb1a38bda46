//! The gradient of an operator that the program defines.

use super::CustomGradient;
use super::registry::CustomParams;
use super::square;
use crate::dtypes::MOVABLE;
use crate::inference::{unify, unify_dtypes};
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{DType, PartialShape, Result};

/// The operator. Its inputs are the gradients of the outputs, the inputs, and the outputs of a call of `Custom`.
pub const NAME: &str = "_backward_Custom";

/// Defines the operator.
pub fn define() -> OpDef {
    OpDef {
        summary: "gradient of an operator that the program defines",
        is_custom: true,
        inputs: InputNames::Listed { listed: "data", names },
        n_outputs: OutputCount::ByParams(|params| params.get::<CustomParams>().inputs.len()),
        n_visible: OutputCount::ByParams(|params| params.get::<CustomParams>().inputs.len()),
        infer_shape,
        infer_dtype,
        dtypes: MOVABLE,
        accuracy: Accuracy::Elementwise,
        reference: Some(run),
        samples: || {
            let square = |name, shape| Sample::new(name, [("op_type", square::NAME)], &[shape; 3]);
            vec![square("matrix", &[2, 3]), square("more", &[2, 3, 4]), square("one", &[1]), square("empty", &[0, 3])]
        },
        ..OpDef::new(NAME).params::<CustomParams>()
    }
}

fn names(params: &OpParams) -> Vec<String> {
    let params: &CustomParams = params.get();
    let numbered = |prefix: &'static str| (0..params.n_outputs).map(move |i| format!("{prefix}{i}"));
    numbered("ograd").chain(params.inputs.iter().cloned()).chain(numbered("out")).collect()
}

/// The gradients of the outputs, the inputs and the outputs among the inputs of this operator.
fn split<'a, T>(params: &CustomParams, inputs: &'a mut [T]) -> [&'a mut [T]; 3] {
    let (out_grads, others) = inputs.split_at_mut(params.n_outputs);
    let (inputs, outputs) = others.split_at_mut(params.inputs.len());
    [out_grads, inputs, outputs]
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], gradients: &mut [PartialShape]) -> Result<()> {
    let params: &CustomParams = params.get();
    let [out_grads, inputs, outputs] = split(params, inputs);
    out_grads.iter_mut().zip(&mut *outputs).try_for_each(|(grad, output)| unify(output, grad, "ograd"))?;
    params.op.infer_shape(inputs, outputs)?;
    out_grads.iter_mut().zip(outputs).try_for_each(|(grad, output)| unify(output, grad, "ograd"))?;
    inputs.iter_mut().zip(gradients).try_for_each(|(input, grad)| unify(input, grad, "gradient"))
}

fn infer_dtype(params: &OpParams, inputs: &mut [Option<DType>], gradients: &mut [Option<DType>]) -> Result<()> {
    let params: &CustomParams = params.get();
    let [out_grads, inputs, outputs] = split(params, inputs);
    out_grads.iter_mut().zip(&mut *outputs).try_for_each(|(grad, output)| unify_dtypes([output, grad], "ograd"))?;
    params.op.infer_dtype(inputs, outputs)?;
    out_grads.iter_mut().zip(outputs).try_for_each(|(grad, output)| unify_dtypes([output, grad], "ograd"))?;
    inputs.iter_mut().zip(gradients).try_for_each(|(input, grad)| unify_dtypes([input, grad], "gradient"))
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], gradients: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params: &CustomParams = params.get();
    let (out_grads, others) = inputs.split_at(params.n_outputs);
    let (inputs, outputs) = others.split_at(params.inputs.len());
    params.op.backward(&CustomGradient { out_grads, inputs, outputs }, gradients)
}
