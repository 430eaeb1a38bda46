//! The first batch normalization of MXNet: `out = gamma · (data - mean) / sqrt(var + eps) + beta`, per channel, along axis 1.
//!
//! Shapes, modes and moving statistics are those of [`BatchNorm`](super::batch_norm). It differs in its outputs: the third
//! is the variance that was used, without `eps`, and not the inverse deviation. In this it equals
//! [`_contrib_SyncBatchNorm`](super::sync_batch_norm) of one device, with which it shares all code.
//!
//! Gradient: of data, gamma and beta; gradients of the mean and the variance are ignored. A fixed gamma has gradient 0.
//!
//! MXNet: `BatchNorm_v1`; it lists only the first three of the five inputs. Files that name this operator are read as
//! `BatchNorm` ([`crate::legacy_name`]), also with `output_mean_var`, whose third output is then the inverse deviation.
//! Dtypes: data f32 f64 f16 bf16; statistics and parameters are f32 if data is f16 or bf16.

use super::batch_norm::{INPUTS, sample};
use super::sync_batch_norm::{self, SyncBatchNormParams};
use crate::families::gradients::params_of;
use mxrs_op::param::Parameters;
use mxrs_op::{Attrs, Gradient, InputNames, OpDef, OpParams, Precision, Sample, op_params};
use mxrs_types::Result;

op_params! {
    /// Parameters of `BatchNorm_v1`.
    pub struct BatchNormV1Params for "BatchNorm_v1" {
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
    }
}

/// Reads the parameters as those of the batch normalization of one device.
fn parse(attrs: &Attrs) -> Result<OpParams> {
    let params = BatchNormV1Params::parse(attrs)?;
    Ok(OpParams::new(SyncBatchNormParams {
        eps: params.eps,
        momentum: params.momentum,
        fix_gamma: params.fix_gamma,
        use_global_stats: params.use_global_stats,
        output_mean_var: params.output_mean_var,
        ndev: 1,
        key: String::new(),
    }))
}

/// Defines the operator `BatchNorm_v1`.
pub fn define() -> OpDef {
    OpDef {
        name: "BatchNorm_v1",
        summary: "batch normalization, first version",
        param_specs: BatchNormV1Params::specs(),
        parse_with: parse,
        inputs: InputNames::ByParams { all: &["data", "gamma", "beta"], chosen: |_| INPUTS.to_vec() },
        precision: Precision::float32,
        precision_float16: Some(Precision::follows),
        gradient: Gradient::By(|_, scope| {
            let mut answers = vec![None; scope.n_inputs()];
            if scope.has_out_grad(0) {
                let ograd = scope.out_grad(0)?;
                let inputs = [ograd, scope.input(0), scope.input(1), scope.output(1), scope.output(2)];
                let mut attrs = params_of(scope);
                attrs.set("key", "");
                let made = scope.call("_backward_SyncBatchNorm", attrs, &inputs)?;
                answers.iter_mut().zip(made).for_each(|(answer, made)| *answer = Some(made));
            }
            Ok(answers)
        }),
        companions: Vec::new,
        samples,
        ..sync_batch_norm::define()
    }
}

fn samples() -> Vec<Sample> {
    let free = ("fix_gamma", "False");
    vec![
        sample("fixed_gamma", [("eps", "2e-05")], &[2, 5, 6, 7], 5),
        sample("free_gamma", [free], &[2, 3, 5, 5], 3),
        sample("matrix", [free], &[4, 7], 7),
        sample("statistics", [free, ("output_mean_var", "True")], &[2, 3, 4, 4], 3),
        Sample { is_train: true, ..sample("training", [free], &[4, 3, 5, 5], 3) },
        Sample { is_train: true, ..sample("training_fixed_gamma", [("momentum", "0.5")], &[3, 2, 4, 2], 2) },
        Sample { is_train: true, ..sample("training_global", [free, ("use_global_stats", "True")], &[2, 3, 4, 4], 3) },
        sample("no_images", [free], &[0, 3, 4, 4], 3),
    ]
}
