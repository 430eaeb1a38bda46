//! `out[o, …] = weight[o, …] · gamma[o] / sqrt(moving_var[o] + eps)`: folds the scale of batch normalization into the
//! weight of the product before it, channel by channel.
//!
//! Shapes: weight and out [O, …], gamma and moving_var `[O]`. With `fix_gamma`, gamma is taken as 1. Together with
//! [`_bn_fold_bias`](super::fold_bias), this operator makes batch normalization at inference a part of the product before
//! it.
//!
//! Dtypes: f32 f64 f16 bf16. If weight and out are f16 or bf16, gamma and moving_var are f32.

use crate::dtypes::FLOATS;
use crate::inference::{learn_dim, learn_dtype, unify};
use crate::nn::batch_norm::statistics_of;
use crate::numeric;
use mxrs_op::{Accuracy, Fill, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result};

op_params! {
    /// Parameters of `_bn_fold_weight`.
    pub struct FoldParams for "_bn_fold_weight" {
        /// Added to the variance.
        eps: f64 = f64::from(1e-3f32),
        /// Whether gamma is taken as 1.
        fix_gamma: bool = true,
    }
}

/// Name of the operator.
pub const NAME: &str = "_bn_fold_weight";

/// Defines the operator `_bn_fold_weight`.
pub fn define() -> OpDef {
    OpDef {
        summary: "a weight, scaled as batch normalization scales each output channel",
        inputs: InputNames::Fixed(&["weight", "gamma", "moving_var"]),
        n_aux: 1,
        infer_shape,
        infer_dtype,
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        reference: Some(run),
        samples,
        ..OpDef::new(NAME).params::<FoldParams>()
    }
}

fn infer_shape(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [weight, gamma, var] = inputs else { return Ok(()) };
    unify(&mut outputs[0], weight, "weight")?;
    let mut channels = PartialShape::new([weight.dim(0)]);
    unify(&mut channels, gamma, "gamma")?;
    unify(&mut channels, var, "moving_var")?;
    unify(&mut channels, gamma, "gamma")?;
    learn_dim(weight, 0, channels.dim(0), "weight")?;
    unify(&mut outputs[0], weight, "weight")
}

fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    infer_dtypes(1, inputs, outputs)
}

/// Infers that out and the first `n_like_weight` inputs have the type of the weight, and that the other inputs have the type
/// of batch normalization's parameters.
pub(super) fn infer_dtypes(
    n_like_weight: usize,
    inputs: &mut [Option<DType>],
    outputs: &mut [Option<DType>],
) -> Result<()> {
    let (like_weight, others) = inputs.split_at_mut(n_like_weight);
    let Some(weight) = like_weight.iter().chain(outputs.iter()).flatten().next().copied() else { return Ok(()) };
    like_weight.iter_mut().chain(outputs).try_for_each(|dtype| learn_dtype(dtype, weight, "weight"))?;
    others.iter_mut().try_for_each(|dtype| learn_dtype(dtype, statistics_of(weight), "gamma"))
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<FoldParams>();
    let [weight, gamma, var] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
    let per_channel = (weight.len() / var.len().max(1)).max(1);
    let folded: Vec<f64> =
        weight.iter().enumerate().map(|(i, w)| w * params.scale(&gamma, &var, i / per_channel)).collect();
    numeric::write(&mut outputs[0], &folded);
    Ok(())
}

impl FoldParams {
    /// The number by which batch normalization multiplies channel `c`.
    pub(super) fn scale(&self, gamma: &[f64], var: &[f64], c: usize) -> f64 {
        let gamma = if self.fix_gamma { 1.0 } else { gamma[c] };
        gamma / (var[c] + self.eps).sqrt()
    }
}

fn samples() -> Vec<Sample> {
    let free = ("fix_gamma", "False");
    let of = |name, attrs, weight: &[usize]| {
        let channels = &weight[..1];
        Sample::new(name, attrs, &[weight, channels, channels])
            .fill(1, Fill::Uniform(0.5, 2.0))
            .fill(2, Fill::Uniform(0.1, 2.0))
    };
    vec![
        of("square", [free, ("eps", "2e-05")], &[8, 3, 3, 3]),
        of("fixed_gamma", [("fix_gamma", "True"), ("eps", "0.1")], &[8, 3, 3, 3]),
        of("matrix", [free, ("eps", "1e-3")], &[5, 7]),
        of("one_element", [free, ("eps", "1e-3")], &[1, 1, 1, 1]),
        of("no_inputs", [free, ("eps", "1e-3")], &[4, 0, 3, 3]),
    ]
}
