//! Batch normalization over the batches of several devices (Zhang et al., arXiv:1803.08904): `out = gamma · (data - mean) /
//! sqrt(var + eps) + beta` per channel, along axis 1, with the mean and the biased variance of the joint batch.
//!
//! Only `ndev` = 1 is built, with which the statistics are those of the batch of the call: one call sees one device. `key`, which in
//! MXNet names the statistics that devices share, is then not used.
//!
//! Shapes and moving statistics are those of `BatchNorm`. The second and third output are the mean and the variance that were used,
//! the latter without `eps`; they are hidden unless `output_mean_var`.
//!
//! Gradient: of data, gamma and beta; gradients of the mean and the variance are ignored. A fixed gamma has gradient 0.
//!
//! MXNet: `_contrib_SyncBatchNorm`. At inference its mean and variance are not set. Dtypes: data f32 f64 f16 bf16; statistics and
//! parameters are f32 if data is f16 or bf16.

use super::batch_norm::{self, BatchNormParams, INPUTS, sample};
use crate::dtypes::FLOATS;
use crate::families::gradients::params_of;
use crate::inference::learn_dtype;
use crate::numeric;
use mxrs_op::{
    Accuracy, Gradient, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode, Sample, op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_SyncBatchNorm`.
    pub struct SyncBatchNormParams for "_contrib_SyncBatchNorm" {
        /// Added to the variance.
        eps: f32 = 1e-3,
        /// Weight of the old value when moving statistics are updated.
        momentum: f32 = 0.9,
        /// Whether gamma is taken as 1.
        fix_gamma: bool = true,
        /// Whether training uses the moving statistics too.
        use_global_stats: bool = false,
        /// Whether mean and variance are visible outputs.
        output_mean_var: bool = false,
        /// Number of devices that share statistics.
        ndev: i32 = 1,
        /// Name of the shared statistics.
        key: String,
    }
}

impl SyncBatchNormParams {
    /// The parameters of the batch normalization of one device.
    fn of_one_device(&self) -> BatchNormParams {
        BatchNormParams {
            eps: f64::from(self.eps),
            momentum: self.momentum,
            fix_gamma: self.fix_gamma,
            use_global_stats: self.use_global_stats,
            output_mean_var: self.output_mean_var,
            axis: 1,
            cudnn_off: false,
            min_calib_range: None,
            max_calib_range: None,
        }
    }
}

fn inner(params: &OpParams) -> OpParams {
    OpParams::new(params.get::<SyncBatchNormParams>().of_one_device())
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let ndev = params.get::<SyncBatchNormParams>().ndev;
    if ndev != 1 {
        return Err(Error::not_built(
            format!("_contrib_SyncBatchNorm with ndev {ndev}"),
            "a call sees the batch of one device; with ndev 1 it normalizes that batch",
        ));
    }
    batch_norm::infer_shape_along(1, inputs, outputs)
}

const BACKWARD: &str = "_backward_SyncBatchNorm";

/// Defines the operator `_contrib_SyncBatchNorm`.
pub fn define() -> OpDef {
    let of_params = |params: &OpParams| if params.get::<SyncBatchNormParams>().output_mean_var { 3 } else { 1 };
    OpDef {
        summary: "batch normalization over the batches of several devices",
        inputs: InputNames::Fixed(INPUTS),
        n_aux: 2,
        n_outputs: OutputCount::Fixed(3),
        n_visible: OutputCount::ByParams(of_params),
        output_names: &["output", "mean", "var"],
        infer_shape,
        infer_dtype: |_, inputs, outputs| {
            let Some(data) = inputs[0].or(outputs[0]) else { return Ok(()) };
            let others = if matches!(data, DType::F16 | DType::BF16) { DType::F32 } else { data };
            let ([first, inputs @ ..], [out, outputs @ ..]) = (inputs, outputs) else { return Ok(()) };
            [first, out].into_iter().try_for_each(|dtype| learn_dtype(dtype, data, "data"))?;
            let mut rest = inputs.iter_mut().chain(outputs);
            rest.try_for_each(|dtype| learn_dtype(dtype, others, "gamma"))
        },
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        rewrites: |params, is_train| params.get::<SyncBatchNormParams>().of_one_device().rewrites(is_train),
        init_hints: &[("moving_mean", r#"["zero", {}]"#), ("moving_var", r#"["one", {}]"#)],
        accuracy: Accuracy::Reduction,
        gradient: Gradient::By(|_, scope| {
            let mut answers = vec![None; scope.n_inputs()];
            if scope.has_out_grad(0) {
                let ograd = scope.out_grad(0)?;
                let inputs = [ograd, scope.input(0), scope.input(1), scope.output(1), scope.output(2)];
                let attrs = params_of(scope);
                let made = scope.call(BACKWARD, attrs, &inputs)?;
                answers.iter_mut().zip(made).for_each(|(answer, made)| *answer = Some(made));
            }
            Ok(answers)
        }),
        companions: || vec![backward()],
        reference: Some(|params, inputs, outputs, mode| {
            let params = inner(params);
            batch_norm::normalize_and(&params, inputs, outputs, mode, |y| y)?;
            // `BatchNorm` gives the inverse deviation in place of the variance.
            let var = match params.get::<BatchNormParams>().uses_batch(mode.is_train) {
                true => variance(&inputs[0], &numeric::read(&inputs[0])),
                false => numeric::read(&inputs[4]),
            };
            numeric::write(&mut outputs[2], &var);
            Ok(())
        }),
        samples: || {
            let (key, free) = (("key", "bn"), ("fix_gamma", "False"));
            vec![
                sample("fixed_gamma", [key, ("eps", "2e-05")], &[2, 5, 6, 7], 5),
                sample("free_gamma", [key, free], &[2, 3, 5, 5], 3),
                sample("matrix", [key, free], &[4, 7], 7),
                sample("statistics", [key, free, ("output_mean_var", "True")], &[2, 3, 4, 4], 3),
                Sample { is_train: true, ..sample("training", [key, free], &[4, 3, 5, 5], 3) },
                sample("no_images", [key, free], &[0, 3, 4, 4], 3),
            ]
        },
        ..OpDef::new("_contrib_SyncBatchNorm").params::<SyncBatchNormParams>()
    }
}

/// The biased variance of each channel.
fn variance(data: &RefInput<'_>, x: &[f64]) -> Vec<f64> {
    let (outer, channels, inner) = crate::families::indexing::around_axis(&data.desc.shape, 1);
    let of_channel = |c: usize| {
        let values: Vec<f64> = (0..outer * inner).map(|i| x[(i / inner * channels + c) * inner + i % inner]).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n
    };
    (0..channels).map(of_channel).collect()
}

fn backward() -> OpDef {
    OpDef {
        summary: "gradient of _contrib_SyncBatchNorm",
        inputs: InputNames::Fixed(&["ograd", "data", "gamma", "mean", "var"]),
        n_outputs: OutputCount::Fixed(3),
        n_visible: OutputCount::Fixed(3),
        output_names: &["data", "gamma", "beta"],
        infer_shape: |params, inputs, outputs| batch_norm::infer_backward_shape(&inner(params), inputs, outputs),
        infer_dtype: batch_norm::infer_backward_dtype,
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        accuracy: Accuracy::Reduction,
        reference: Some(run_backward),
        samples: || {
            let of = |name, more: &[(&str, &str)], data: &[usize], channels: usize, is_train| {
                let sample = Sample::plain(name, &[data, data, &[channels], &[channels], &[channels]]);
                let attrs = [("key", "bn")].iter().chain(more).copied().collect();
                let sample = sample.fill(2, mxrs_op::Fill::Uniform(0.5, 2.0)).fill(4, mxrs_op::Fill::Uniform(0.5, 1.0));
                Sample { attrs, is_train, ..sample }
            };
            let free = [("fix_gamma", "False")];
            vec![
                of("training", &free, &[4, 3, 5, 5], 3, true),
                of("training_fixed_gamma", &[], &[2, 5, 6, 7], 5, true),
                of("inference", &free, &[2, 3, 4, 4], 3, false),
                of("no_images", &free, &[0, 3, 4, 4], 3, true),
            ]
        },
        ..OpDef::new(BACKWARD).params::<SyncBatchNormParams>()
    }
}

fn run_backward(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    mode: RunMode,
) -> Result<()> {
    let params = inner(params);
    let mut values = [0, 1, 2, 3, 4].map(|i| numeric::read(&inputs[i]));
    values[4] = params.get::<BatchNormParams>().inverse_deviation(&values[4]);
    batch_norm::gradients(&params, &inputs[1].desc.shape, values, outputs, mode)
}
