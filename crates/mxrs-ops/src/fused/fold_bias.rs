//! `out = beta + gamma / sqrt(moving_var + eps) · (bias - moving_mean)`, per channel: folds the shift of batch
//! normalization into the bias of the product before it.
//!
//! Shapes: weight [O, …]; bias, gamma, beta, moving_mean, moving_var and out `[O]`. Only shape and type of the weight are
//! used. With `no_bias`, there is no input bias, and its value is 0. With `fix_gamma`, gamma is taken as 1.
//!
//! Dtypes: f32 f64 f16 bf16. If the weight is f16 or bf16, so are bias and out, and all other inputs are f32.

use super::fold_weight::{FoldParams, infer_dtypes};
use crate::dtypes::FLOATS;
use crate::inference::{learn, learn_dim, unify};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result};

op_params! {
    /// Parameters of `_bn_fold_bias`.
    pub struct FoldBiasParams for "_bn_fold_bias" {
        /// Added to the variance.
        eps: f64 = f64::from(1e-3f32),
        /// Whether gamma is taken as 1.
        fix_gamma: bool = true,
        /// Whether there is no bias input.
        no_bias: bool = false,
    }
}

/// Name of the operator.
pub const NAME: &str = "_bn_fold_bias";

/// Defines the operator `_bn_fold_bias`.
pub fn define() -> OpDef {
    OpDef {
        summary: "a bias, scaled and shifted as batch normalization does each output channel",
        inputs: InputNames::ByParams {
            all: &["weight", "bias", "gamma", "beta", "moving_mean", "moving_var"],
            chosen: |params| match params.get::<FoldBiasParams>().no_bias {
                true => vec!["weight", "gamma", "beta", "moving_mean", "moving_var"],
                false => vec!["weight", "bias", "gamma", "beta", "moving_mean", "moving_var"],
            },
        },
        n_aux: 2,
        ignored_inputs: &[0],
        infer_shape,
        infer_dtype,
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        reference: Some(run),
        samples,
        ..OpDef::new(NAME).params::<FoldBiasParams>()
    }
}

fn infer_shape(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [weight, per_channel @ ..] = inputs else { return Ok(()) };
    let mut channels = PartialShape::new([weight.dim(0)]);
    for shape in per_channel.iter_mut().chain(outputs.iter_mut()) {
        unify(&mut channels, shape, "gamma")?;
    }
    learn_dim(weight, 0, channels.dim(0), "weight")?;
    per_channel.iter_mut().chain(outputs).try_for_each(|shape| learn(shape, &channels, "gamma"))
}

fn infer_dtype(params: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    infer_dtypes(if params.get::<FoldBiasParams>().no_bias { 1 } else { 2 }, inputs, outputs)
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let FoldBiasParams { eps, fix_gamma, no_bias } = *params.get();
    let scale = FoldParams { eps, fix_gamma };
    let values: Vec<Vec<f64>> = inputs[1..].iter().map(numeric::read).collect();
    let (bias, others) = if no_bias { (None, &values[..]) } else { (values.first(), &values[1..]) };
    let [gamma, beta, mean, var] = others else { return Ok(()) };
    let folded: Vec<f64> =
        (0..var.len()).map(|c| beta[c] + scale.scale(gamma, var, c) * (bias.map_or(0.0, |b| b[c]) - mean[c])).collect();
    numeric::write(&mut outputs[0], &folded);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let free = ("fix_gamma", "False");
    let of = |name, attrs: [(&str, &str); 3], weight: &[usize]| {
        let c = &weight[..1];
        let has_bias = attrs[2].1 == "False";
        let shapes: &[&[usize]] = if has_bias { &[weight, c, c, c, c, c] } else { &[weight, c, c, c, c] };
        let first = shapes.len() - 4;
        Sample::new(name, attrs, shapes).fill(first, Fill::Uniform(0.5, 2.0)).fill(first + 3, Fill::Uniform(0.1, 2.0))
    };
    let (bias, bare) = (("no_bias", "False"), ("no_bias", "True"));
    vec![
        of("square", [free, ("eps", "2e-05"), bias], &[8, 3, 3, 3]),
        of("without_bias", [free, ("eps", "2e-05"), bare], &[8, 3, 3, 3]),
        of("fixed_gamma", [("fix_gamma", "True"), ("eps", "0.1"), bias], &[8, 3, 3, 3]),
        of("matrix", [free, ("eps", "1e-3"), bias], &[5, 7]),
        of("one_element", [free, ("eps", "1e-3"), bias], &[1, 1]),
        of("no_channels", [free, ("eps", "1e-3"), bias], &[0, 3]),
    ]
}
