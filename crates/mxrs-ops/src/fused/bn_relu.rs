//! `out = relu(BatchNorm(data))` with the moving statistics: batch normalization at inference followed by ReLU.
//!
//! Inputs and parameters are those of [`BatchNorm`](crate::nn::batch_norm). In training and at inference the operator
//! computes the same. It rewrites no input and has one output.
//!
//! MXNet: `_sg_onednn_batch_norm`, under another name. Dtypes: data f32 f64 f16 bf16; statistics and parameters are f32
//! if data is f16 or bf16.

use crate::dtypes::FLOATS;
use crate::nn::batch_norm::{self, BatchNormParams, sample};
use crate::numeric;
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::Result;

/// Name of the operator.
pub const NAME: &str = "_sg_bn_relu";

/// Defines the operator `_sg_bn_relu`.
pub fn define() -> OpDef {
    OpDef {
        summary: "batch normalization at inference and relu in one call",
        inputs: InputNames::Fixed(batch_norm::INPUTS),
        n_aux: 2,
        infer_shape: batch_norm::infer_shape,
        infer_dtype: batch_norm::infer_dtype,
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        accuracy: Accuracy::Reduction,
        reference: Some(run),
        samples,
        ..OpDef::new(NAME).params::<BatchNormParams>()
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let [x, gamma, beta, mean, var] = [0, 1, 2, 3, 4].map(|i| numeric::read(&inputs[i]));
    let mut y = batch_norm::scaled(params.get(), &inputs[0].desc.shape, &x, [&gamma, &beta, &mean, &var])?;
    y.iter_mut().for_each(|y| *y = numeric::relu(*y));
    numeric::write(&mut outputs[0], &y);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let free = [("fix_gamma", "False")];
    vec![
        sample("fixed_gamma", [("eps", "2e-05")], &[2, 5, 6, 7], 5),
        sample("free_gamma", free, &[2, 16, 5, 5], 16),
        sample("matrix", free, &[4, 7], 7),
        sample("last_axis", [("axis", "-1"), ("fix_gamma", "False")], &[2, 4, 5, 6], 6),
        sample("no_images", free, &[0, 3, 4, 4], 3),
    ]
}
