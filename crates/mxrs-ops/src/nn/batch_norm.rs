//! Batch normalization: `out = gamma · (data - mean) / sqrt(var + eps) + beta`, per channel along `axis`.
//! Ioffe and Szegedy, arXiv:1502.03167.
//!
//! Shapes: data [N, C, …]; gamma, beta, moving_mean and moving_var `[C]`. The last two are auxiliary states. At inference,
//! and with `use_global_stats`, mean and var are the moving statistics. Otherwise, they are the mean and the biased variance
//! of the batch. Outputs: out, shaped like data; mean `[C]`; inverse standard deviation `[C]` under the name `var`. Mean and
//! deviation are hidden unless `output_mean_var`. With `fix_gamma`, gamma is taken as 1.
//!
//! In training a call rewrites the moving statistics, `moving = momentum · moving + (1 - momentum) · batch`, unless
//! `use_global_stats`. With `fix_gamma` it also sets gamma to ones.
//!
//! `_backward_BatchNorm` computes the gradients of data, gamma and beta from the gradient of out and from the second and
//! third output. Gradients of the outputs mean and var are ignored. Statistics of the batch depend on data; moving
//! statistics are constants. A fixed gamma has gradient 0.
//!
//! MXNet: `BatchNorm`, also `_npx_batch_norm`. Dtypes: data f32 f64 f16 bf16; statistics and parameters are f32 if data
//! is f16 or bf16.

mod samples;

use crate::dtypes::FLOATS;
use crate::families::gradients::{Answers, params_of};
use crate::families::indexing::around_axis;
use crate::families::products::Product;
use crate::fused;
use crate::inference::{learn, learn_dim, learn_dtype, resolve_axis, unify};
use crate::nn::convolution::{Convolution, offset};
use crate::numeric;
use mxrs_op::{
    Accuracy, GradValue, Gradient, GradientScope, InputNames, OpDef, OpParams, OutputCount, Precision, RefInput,
    RefOutput, RunMode, op_params,
};
use mxrs_types::{DType, PartialShape, Result, Shape};

use samples::{backward_samples, samples};

pub(crate) use samples::sample;

op_params! {
    /// Parameters of `BatchNorm`.
    pub struct BatchNormParams for "BatchNorm" {
        /// Added to the variance.
        eps: f64 = f64::from(1e-3f32),
        /// Weight of the old value when moving statistics are updated.
        momentum: f32 = 0.9,
        /// Whether gamma is taken as 1.
        fix_gamma: bool = true,
        /// Whether training uses the moving statistics too.
        use_global_stats: bool = false,
        /// Whether mean and inverse standard deviation are visible outputs.
        output_mean_var: bool = false,
        /// Axis of the channels; a negative axis counts from the end.
        axis: i32 = 1,
        /// Read and ignored.
        cudnn_off: bool = false,
        /// Read and ignored (quantization).
        min_calib_range: Option<f32> = None,
        /// Read and ignored (quantization).
        max_calib_range: Option<f32> = None,
    }
}

impl BatchNormParams {
    /// Whether a call uses the statistics of its batch.
    pub fn uses_batch(&self, is_train: bool) -> bool {
        is_train && !self.use_global_stats
    }

    /// `1 / sqrt(var + eps)` of each channel.
    pub(crate) fn inverse_deviation(&self, var: &[f64]) -> Vec<f64> {
        var.iter().map(|v| 1.0 / (v + self.eps).sqrt()).collect()
    }

    /// Positions of the inputs that a call rewrites.
    pub(crate) fn rewrites(&self, is_train: bool) -> &'static [usize] {
        match (is_train && self.fix_gamma, self.uses_batch(is_train)) {
            (true, true) => &[1, 3, 4],
            (true, false) => &[1],
            (false, true) => &[3, 4],
            (false, false) => &[],
        }
    }
}

/// Names of the inputs, the moving statistics last.
pub(crate) const INPUTS: &[&str] = &["data", "gamma", "beta", "moving_mean", "moving_var"];

/// Defines the operator `BatchNorm`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_batch_norm"],
        summary: "batch normalization",
        inputs: InputNames::Fixed(INPUTS),
        n_aux: 2,
        n_outputs: OutputCount::Fixed(3),
        n_visible: OutputCount::ByParams(|params| if params.get::<BatchNormParams>().output_mean_var { 3 } else { 1 }),
        output_names: &["output", "mean", "var"],
        infer_shape,
        infer_dtype,
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        rewrites: |params, is_train| params.get::<BatchNormParams>().rewrites(is_train),
        init_hints: &[("moving_mean", r#"["zero", {}]"#), ("moving_var", r#"["one", {}]"#)],
        accuracy: Accuracy::Reduction,
        precision: Precision::follows,
        gradient: Gradient::By(gradient),
        companions: || {
            let relu = [fused::bn_relu::define(), fused::bn_relu_quantize::define()];
            let fold = [fused::fold_weight::define(), fused::fold_bias::define()];
            let training = fused::bn_relu_training::define();
            std::iter::once(define_backward()).chain(relu).chain(fold).chain(training).collect()
        },
        reference: Some(normalize),
        samples,
        ..OpDef::new("BatchNorm").params::<BatchNormParams>()
    }
}

fn define_backward() -> OpDef {
    OpDef {
        summary: "gradient of BatchNorm",
        inputs: InputNames::Fixed(&["ograd", "data", "gamma", "mean", "inv_std"]),
        n_outputs: OutputCount::Fixed(3),
        n_visible: OutputCount::Fixed(3),
        output_names: &["data", "gamma", "beta"],
        infer_shape: infer_backward_shape,
        infer_dtype: infer_backward_dtype,
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        accuracy: Accuracy::Reduction,
        reference: Some(backward),
        samples: backward_samples,
        ..OpDef::new("_backward_BatchNorm").params::<BatchNormParams>()
    }
}

fn gradient(params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let mut gradients = vec![None; scope.n_inputs()];
    if scope.has_out_grad(0) {
        let ograd = scope.out_grad(0)?;
        if let Some(to_beta) = gradient_behind_convolution(params.get(), scope, ograd)? {
            gradients[2] = Some(to_beta);
            return Ok(gradients);
        }
        let inputs = [ograd, scope.input(0), scope.input(1), scope.output(1), scope.output(2)];
        let attrs = params_of(scope);
        let made = scope.call("_backward_BatchNorm", attrs, &inputs)?;
        gradients.iter_mut().zip(made).for_each(|(to, value)| *to = Some(value));
    }
    Ok(gradients)
}

/// The gradient of β, if it is the only gradient needed and the output is the input of a single convolution. It is computed
/// without the gradient of the output.
fn gradient_behind_convolution(
    params: &BatchNormParams,
    scope: &mut dyn GradientScope,
    ograd: GradValue,
) -> Result<Option<GradValue>> {
    // Of the three gradients, only that of β is wanted here: data needs none, and a fixed gamma has gradient 0. The gradient
    // of β is the gradient of the output, summed over all axes but the channels.
    if scope.wants(0) || !params.fix_gamma || params.axis != 1 {
        return Ok(None);
    }
    let Some(made) = scope.made_by(ograd).filter(|made| made.op == <Convolution as Product>::TO_DATA) else {
        return Ok(None);
    };
    let is_channels_last = made.attrs.get("layout").is_some_and(|layout| layout.ends_with('C'));
    if is_channels_last {
        return Ok(None);
    }
    Ok(scope.call(offset::NAME, made.attrs, &made.inputs)?.first().copied())
}

pub(crate) fn infer_backward_shape(
    params: &OpParams,
    inputs: &mut [PartialShape],
    outputs: &mut [PartialShape],
) -> Result<()> {
    let ([ograd, data, gamma, mean, inv_std], [to_data, to_gamma, to_beta]) = (inputs, outputs) else { return Ok(()) };
    unify(ograd, data, "data")?;
    unify(data, to_data, "output")?;
    let mut forward_inputs = [&mut *data, gamma, to_gamma, to_beta].map(std::mem::take);
    let mut forward_outputs = [&mut *ograd, mean, inv_std].map(std::mem::take);
    let result = infer_shape(params, &mut forward_inputs, &mut forward_outputs);
    [*data, *gamma, *to_gamma, *to_beta] = forward_inputs;
    [*ograd, *mean, *inv_std] = forward_outputs;
    result?;
    learn(to_data, data, "output")
}

pub(crate) fn infer_backward_dtype(
    _: &OpParams,
    inputs: &mut [Option<DType>],
    outputs: &mut [Option<DType>],
) -> Result<()> {
    let ([ograd, data, per_channel @ ..], [to_data, others @ ..]) = (inputs, outputs) else { return Ok(()) };
    let Some(known) = ograd.or(*data).or(*to_data) else { return Ok(()) };
    for (dtype, name) in [(ograd, "ograd"), (data, "data"), (to_data, "output")] {
        learn_dtype(dtype, known, name)?;
    }
    let mut rest = per_channel.iter_mut().chain(others);
    rest.try_for_each(|dtype| learn_dtype(dtype, statistics_of(known), "gamma"))
}

pub(crate) fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    infer_shape_along(params.get::<BatchNormParams>().axis, inputs, outputs)
}

/// Does the same as [`infer_shape`], with the channels along `axis`.
pub(crate) fn infer_shape_along(axis: i32, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [data, per_channel @ ..] = inputs else { return Ok(()) };
    let [out, statistics @ ..] = outputs else { return Ok(()) };
    unify(data, out, "output")?;
    let axis = match data.ndim() {
        Some(ndim) => Some(resolve_axis(i64::from(axis), ndim, "data")?),
        None => None,
    };
    let mut channels = PartialShape::new([axis.and_then(|axis| data.dim(axis))]);
    for (shape, name) in per_channel.iter_mut().zip(&INPUTS[1..]).chain(statistics.iter_mut().zip(&["mean", "var"])) {
        unify(&mut channels, shape, name)?;
    }
    if let Some(axis) = axis {
        learn_dim(data, axis, channels.dim(0), "data")?;
        learn_dim(out, axis, channels.dim(0), "output")?;
    }
    per_channel.iter_mut().chain(statistics).try_for_each(|shape| learn(shape, &channels, "gamma"))
}

pub(crate) fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let Some(data) = inputs[0].or(outputs[0]) else { return Ok(()) };
    learn_dtype(&mut inputs[0], data, "data")?;
    learn_dtype(&mut outputs[0], data, "output")?;
    let statistics = statistics_of(data);
    for (dtype, name) in inputs[1..].iter_mut().zip(&INPUTS[1..]) {
        learn_dtype(dtype, statistics, name)?;
    }
    outputs[1..].iter_mut().try_for_each(|dtype| learn_dtype(dtype, statistics, "mean"))
}

/// Dtype of parameters and statistics if data has this type.
pub(crate) fn statistics_of(data: DType) -> DType {
    if data == DType::F64 { DType::F64 } else { DType::F32 }
}

fn normalize(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    normalize_and(params, inputs, outputs, mode, |y| y)
}

/// Computes the outputs of `BatchNorm` and applies `act` to the first.
pub(crate) fn normalize_and(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    mode: RunMode,
    act: impl Fn(f64) -> f64,
) -> Result<()> {
    let params = params.get::<BatchNormParams>();
    let shape = &inputs[0].desc.shape;
    let axis = resolve_axis(i64::from(params.axis), shape.ndim(), "data")?;
    let (outer, channels, inner) = around_axis(shape, axis);
    let [x, gamma, beta, mut mean, mut var] = [0, 1, 2, 3, 4].map(|i| numeric::read(&inputs[i]));
    // Flat positions of the elements of channel `c`.
    let elements = |c: usize| (0..outer).flat_map(move |o| (0..inner).map(move |i| (o * channels + c) * inner + i));
    if params.uses_batch(mode.is_train) {
        let count = (outer * inner) as f64;
        for c in 0..channels {
            mean[c] = elements(c).map(|i| x[i]).sum::<f64>() / count;
            var[c] = elements(c).map(|i| (x[i] - mean[c]).powi(2)).sum::<f64>() / count;
        }
    }
    let y: Vec<f64> = scaled(params, shape, &x, [&gamma, &beta, &mean, &var])?.into_iter().map(act).collect();
    let inverse_deviation = params.inverse_deviation(&var);
    numeric::write(&mut outputs[0], &y);
    numeric::write(&mut outputs[1], &mean);
    numeric::write(&mut outputs[2], &inverse_deviation);
    let momentum = f64::from(params.momentum);
    for (input, output) in params.rewrites(mode.is_train).iter().zip(&mut outputs[3..]) {
        let batch = match input {
            3 => &mean,
            4 => &var,
            _ => {
                numeric::write(output, &vec![1.0; channels]);
                continue;
            }
        };
        let old = numeric::read(&inputs[*input]);
        let moved: Vec<f64> = old.iter().zip(batch).map(|(o, b)| momentum * o + (1.0 - momentum) * b).collect();
        numeric::write(output, &moved);
    }
    Ok(())
}

/// Computes `gamma · (x - mean) / sqrt(var + eps) + beta` with the given statistics, not yet rounded.
pub(crate) fn scaled(
    params: &BatchNormParams,
    shape: &Shape,
    x: &[f64],
    [gamma, beta, mean, var]: [&[f64]; 4],
) -> Result<Vec<f64>> {
    scaled_by(params, shape, x, [gamma, beta, mean, &params.inverse_deviation(var)])
}

/// Computes `gamma · (x - mean) · inverse_deviation + beta`, not yet rounded.
pub(crate) fn scaled_by(
    params: &BatchNormParams,
    shape: &Shape,
    x: &[f64],
    [gamma, beta, mean, inverse_deviation]: [&[f64]; 4],
) -> Result<Vec<f64>> {
    let axis = resolve_axis(i64::from(params.axis), shape.ndim(), "data")?;
    let (_, channels, inner) = around_axis(shape, axis);
    let value = |(i, x): (usize, &f64)| {
        let c = i / inner % channels;
        let gamma = if params.fix_gamma { 1.0 } else { gamma[c] };
        (x - mean[c]) * inverse_deviation[c] * gamma + beta[c]
    };
    Ok(x.iter().enumerate().map(value).collect())
}

fn backward(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    let values = [0, 1, 2, 3, 4].map(|i| numeric::read(&inputs[i]));
    gradients(params, &inputs[1].desc.shape, values, outputs, mode)
}

/// The gradients of data, gamma and beta, from the output's gradient, data, gamma, mean and inverse standard deviation.
pub(crate) fn gradients(
    params: &OpParams,
    shape: &Shape,
    [g, x, gamma, mean, inv_std]: [Vec<f64>; 5],
    outputs: &mut [RefOutput<'_>],
    mode: RunMode,
) -> Result<()> {
    let params = params.get::<BatchNormParams>();
    let axis = resolve_axis(i64::from(params.axis), shape.ndim(), "data")?;
    let (outer, channels, inner) = around_axis(shape, axis);
    let count = (outer * inner) as f64;
    let (mut to_data, mut to_gamma, mut to_beta) = (vec![0.0; x.len()], vec![0.0; channels], vec![0.0; channels]);
    for c in 0..channels {
        let elements = || (0..outer).flat_map(|o| (0..inner).map(move |i| (o * channels + c) * inner + i));
        let normalized = |i: usize| (x[i] - mean[c]) * inv_std[c];
        let sum: f64 = elements().map(|i| g[i]).sum();
        let sum_of_products: f64 = elements().map(|i| g[i] * normalized(i)).sum();
        let scale = inv_std[c] * if params.fix_gamma { 1.0 } else { gamma[c] };
        for i in elements() {
            // The gradient that flows through mean and variance, if these are statistics of the batch.
            let through_statistics = match params.uses_batch(mode.is_train) {
                true => (sum + normalized(i) * sum_of_products) / count,
                false => 0.0,
            };
            to_data[i] = scale * (g[i] - through_statistics);
        }
        to_beta[c] = sum;
        to_gamma[c] = if params.fix_gamma { 0.0 } else { sum_of_products };
    }
    for (output, values) in outputs.iter_mut().zip([to_data, to_gamma, to_beta]) {
        numeric::write(output, &values);
    }
    Ok(())
}
