//! Batch normalization followed by ReLU in a training step, as one call forward and one backward. A graph pass replaces
//! each pair of `BatchNorm` and ReLU in a training graph, and the pair of their gradients. The gradient needs only the
//! data, not the output of the ReLU.
//!
//! `_bn_relu`: inputs, parameters, outputs and rewritten inputs are those of [`BatchNorm`](crate::nn::batch_norm), with
//! `out = relu(BatchNorm(data))`.
//!
//! `_bn_relu_recompute(data, gamma, beta, mean, inv_std)`: computes the first output again from the statistics that the
//! forward call returned, with the same bits.
//!
//! `_backward_bn_relu(ograd, data, gamma, beta, mean, inv_std)`: the gradients of data, gamma and beta. ograd counts only
//! for elements whose ReLU input is above 0 or NaN.
//!
//! Dtypes: those of BatchNorm.

use crate::dtypes::FLOATS;
use crate::inference::{learn, unify};
use crate::nn::batch_norm::{self, BatchNormParams, normalize_and, sample};
use crate::numeric;
use mxrs_op::{
    Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, OutputCount, Pair, RefInput, RefOutput, RunMode, Sample,
};
use mxrs_types::{PartialShape, Result, Shape};

/// Name of the forward operator.
pub const FORWARD: &str = "_bn_relu";
/// Name of the operator that recomputes the first output.
pub const RECOMPUTE: &str = "_bn_relu_recompute";
/// Name of the backward operator.
pub const BACKWARD: &str = "_backward_bn_relu";

/// Defines the three operators: forward, recomputation and backward.
pub fn define() -> [OpDef; 3] {
    [define_forward(), define_recompute(), define_backward()]
}

/// The calls that `_bn_relu` replaces.
const PAIR: Pair = Pair {
    first: "BatchNorm",
    is_second: |name, attrs| match name {
        "relu" => true,
        "Activation" => attrs.get("act_type") == Some("relu"),
        _ => false,
    },
    second_gradients: &["_backward_relu", "_backward_Activation"],
    first_gradient: "_backward_BatchNorm",
    gradient: BACKWARD,
    kept_inputs: &[0, 1, 2],
    // The inputs of the backward call are the output's gradient, data, gamma, beta, mean and inverse standard
    // deviation.
    gradient_inputs: &[0, 0, 1, 2, 1, 1],
    gradient_outputs: &[0, 1, 2],
};

fn define_forward() -> OpDef {
    let normalization = batch_norm::define();
    OpDef {
        name: FORWARD,
        aliases: &[],
        summary: "batch normalization and relu in one call, in training",
        n_visible: OutputCount::Fixed(1),
        inplace: &[],
        gradient: Gradient::Undefined,
        companions: Vec::new,
        recompute: Some(define_recompute),
        pair: Some(&PAIR),
        reference: Some(|params, inputs, outputs, mode| normalize_and(params, inputs, outputs, mode, numeric::relu)),
        samples,
        ..normalization
    }
}

fn define_recompute() -> OpDef {
    OpDef {
        summary: "batch normalization with given statistics, and relu",
        inputs: InputNames::Fixed(&["data", "gamma", "beta", "mean", "inv_std"]),
        infer_shape: batch_norm::infer_shape,
        infer_dtype: batch_norm::infer_dtype,
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        reference: Some(recompute),
        samples: again_samples,
        ..OpDef::new(RECOMPUTE).params::<BatchNormParams>()
    }
}

fn define_backward() -> OpDef {
    OpDef {
        summary: "gradient of batch normalization and relu",
        inputs: InputNames::Fixed(&["ograd", "data", "gamma", "beta", "mean", "inv_std"]),
        n_outputs: OutputCount::Fixed(3),
        n_visible: OutputCount::Fixed(3),
        output_names: &["data", "gamma", "beta"],
        infer_shape: infer_backward_shape,
        infer_dtype: batch_norm::infer_backward_dtype,
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        accuracy: Accuracy::Reduction,
        reference: Some(backward),
        samples: backward_samples,
        ..OpDef::new(BACKWARD).params::<BatchNormParams>()
    }
}

fn infer_backward_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [ograd, data, gamma, beta, mean, inv_std] = inputs else { return Ok(()) };
    let [to_data, to_gamma, to_beta] = outputs else { return Ok(()) };
    unify(ograd, data, "data")?;
    unify(data, to_data, "output")?;
    // The gradients of gamma and beta take the place of the moving statistics, because these have the same shape, `[C]`.
    let mut forward_inputs = [&mut *data, gamma, beta, to_gamma, to_beta].map(std::mem::take);
    let mut forward_outputs = [&mut *ograd, mean, inv_std].map(std::mem::take);
    let result = batch_norm::infer_shape(params, &mut forward_inputs, &mut forward_outputs);
    [*data, *gamma, *beta, *to_gamma, *to_beta] = forward_inputs;
    [*ograd, *mean, *inv_std] = forward_outputs;
    result?;
    learn(to_data, data, "output")
}

fn recompute(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let [x, gamma, beta, mean, inv_std] = [0, 1, 2, 3, 4].map(|i| numeric::read(&inputs[i]));
    let factors: [&[f64]; 4] = [&gamma, &beta, &mean, &inv_std];
    let y = batch_norm::scaled_by(params.get(), &inputs[0].desc.shape, &x, factors)?;
    numeric::write(&mut outputs[0], &y.into_iter().map(numeric::relu).collect::<Vec<_>>());
    Ok(())
}

fn backward(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    let [mut g, x, gamma, beta, mean, inv_std] = [0, 1, 2, 3, 4, 5].map(|i| numeric::read(&inputs[i]));
    let shape: &Shape = &inputs[1].desc.shape;
    let y = batch_norm::scaled_by(params.get(), shape, &x, [&gamma, &beta, &mean, &inv_std])?;
    g.iter_mut().zip(&y).filter(|(_, y)| **y <= 0.0).for_each(|(g, _)| *g = 0.0);
    batch_norm::gradients(params, shape, [g, x, gamma, mean, inv_std], outputs, mode)
}

fn samples() -> Vec<Sample> {
    let free = [("fix_gamma", "False"), ("eps", "2e-05")];
    let training = |sample: Sample| Sample { is_train: true, ..sample };
    vec![
        training(sample("free_gamma", free, &[2, 16, 5, 5], 16)),
        training(sample("fixed_gamma", [("momentum", "0.5")], &[3, 20, 4, 7], 20)),
        training(sample("blocks", free, &[2, 48, 6, 6], 48)),
        training(sample("global", [("use_global_stats", "True"), ("fix_gamma", "False")], &[2, 16, 4, 4], 16)),
        training(sample("few_channels", free, &[2, 3, 4, 4], 3)),
        training(sample("matrix", free, &[4, 7], 7)),
        training(sample("no_images", free, &[0, 16, 4, 4], 16)),
    ]
}

fn again_samples() -> Vec<Sample> {
    let free = [("fix_gamma", "False")];
    vec![
        sample("free_gamma", free, &[2, 16, 5, 5], 16),
        sample("fixed_gamma", [], &[3, 20, 4, 7], 20),
        sample("matrix", free, &[4, 7], 7),
        sample("no_images", free, &[0, 16, 4, 4], 16),
    ]
}

fn backward_samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], data: &[usize], channels: usize| {
        let c: &[usize] = &[channels];
        let attrs = attrs.iter().copied().collect();
        let sample = Sample { attrs, is_train: true, ..Sample::plain(name, &[data, data, c, c, c, c]) };
        sample.fill(2, Fill::Uniform(0.5, 2.0)).fill(4, Fill::Uniform(-0.1, 0.1)).fill(5, Fill::Uniform(1.0, 2.0))
    };
    let free = [("fix_gamma", "False")];
    vec![
        of("free_gamma", &free, &[2, 16, 5, 5], 16),
        of("fixed_gamma", &[], &[3, 20, 4, 7], 20),
        of("blocks", &free, &[2, 48, 6, 6], 48),
        of("global", &[("use_global_stats", "True"), ("fix_gamma", "False")], &[2, 16, 4, 4], 16),
        of("matrix", &free, &[4, 7], 7),
        of("no_images", &free, &[0, 16, 4, 4], 16),
    ]
}
