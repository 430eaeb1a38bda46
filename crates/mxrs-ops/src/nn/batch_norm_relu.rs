//! Batch normalization followed by ReLU in one operator: `out = max(0, BatchNorm(data))`.
//!
//! Inputs, parameters, statistics and modes are those of [`BatchNorm`](super::batch_norm). A fourth, hidden output has
//! data's shape. It exists because MXNet's operator has it, and its content is unspecified.
//!
//! The gradient is that of [`_bn_relu`](crate::fused::bn_relu_training), the pair that a graph pass makes of `BatchNorm` and
//! ReLU: it needs data, gamma, beta and the statistics, but not the output.
//!
//! MXNet: `_contrib_BatchNormWithReLU`; it computes only images with the channels on axis 1, in float32, with oneDNN, and its
//! gradient at inference reads a mask that was not set. Dtypes: data f32 f64 f16 bf16; statistics and parameters are f32 if
//! data is f16 or bf16.

use super::batch_norm::{self, normalize_and, sample};
use crate::families::gradients::params_of;
use crate::fused::bn_relu_training;
use crate::inference::{learn, unify};
use crate::numeric;
use mxrs_op::{Gradient, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{PartialShape, Result};

/// Position of the hidden workspace among the outputs.
const WORKSPACE: usize = 3;

/// Defines the operator `_contrib_BatchNormWithReLU`.
pub fn define() -> OpDef {
    OpDef {
        name: "_contrib_BatchNormWithReLU",
        aliases: &[],
        summary: "batch normalization and relu",
        n_outputs: OutputCount::Fixed(WORKSPACE + 1),
        output_names: &["output", "mean", "var", "workspace"],
        infer_shape,
        precision: Precision::float32,
        gradient: Gradient::By(|_, scope| {
            let mut answers = vec![None; scope.n_inputs()];
            if scope.has_out_grad(0) {
                let ograd = scope.out_grad(0)?;
                let [data, gamma, beta] = [0, 1, 2].map(|i| scope.input(i));
                let inputs = [ograd, data, gamma, beta, scope.output(1), scope.output(2)];
                let attrs = params_of(scope);
                let made = scope.call(bn_relu_training::BACKWARD, attrs, &inputs)?;
                answers.iter_mut().zip(made).for_each(|(answer, made)| *answer = Some(made));
            }
            Ok(answers)
        }),
        companions: Vec::new,
        reference: Some(run),
        samples,
        ..batch_norm::define()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let Some((workspace, others)) = outputs.split_last_mut() else { return Ok(()) };
    unify(&mut others[0], workspace, "workspace")?;
    batch_norm::infer_shape(params, inputs, others)?;
    learn(workspace, &others[0], "workspace")
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    if let Some(workspace) = outputs.get_mut(WORKSPACE) {
        workspace.bytes.fill(0);
    }
    let others = outputs.iter_mut().enumerate().filter(|(i, _)| *i != WORKSPACE);
    let mut others: Vec<RefOutput<'_>> =
        others.map(|(_, output)| RefOutput { desc: output.desc, bytes: &mut *output.bytes }).collect();
    normalize_and(params, inputs, &mut others, mode, numeric::relu)
}

fn samples() -> Vec<Sample> {
    let free = [("fix_gamma", "False")];
    let training = |sample: Sample| Sample { is_train: true, ..sample };
    vec![
        sample("fixed_gamma", [("eps", "2e-05")], &[2, 5, 6, 7], 5),
        sample("free_gamma", free, &[2, 3, 5, 5], 3),
        sample("matrix", free, &[4, 7], 7),
        sample("last_axis", [("axis", "-1"), ("fix_gamma", "False")], &[2, 4, 5, 6], 6),
        sample("statistics", [("output_mean_var", "True"), ("fix_gamma", "False")], &[2, 3, 4, 4], 3),
        training(sample("training", free, &[4, 3, 5, 5], 3)),
        training(sample("training_fixed_gamma", [("momentum", "0.5")], &[3, 2, 4, 2], 2)),
        training(sample("training_global", [("use_global_stats", "True"), ("fix_gamma", "False")], &[2, 3, 4, 4], 3)),
        sample("no_images", free, &[0, 3, 4, 4], 3),
    ]
}
