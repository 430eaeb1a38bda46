//! BatchNorm over the second axis, in any layout: with its statistics, and at inference with what follows it. The former are
//! primitives of oneDNN, the latter loops of our own.

pub mod backward;
mod coefficients;
pub mod forward;
mod order;
pub mod quantize;
mod quantize_images;
pub mod relu;

use mxrs_op::{OpCall, TensorDesc};
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_types::DType;

/// Whether the call fits.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    check_axis(call.params.get::<BatchNormParams>(), &call.inputs[0])?;
    if call.inputs[1..].iter().any(|t| t.dtype != DType::F32) {
        return Err("statistics that are not float32".into());
    }
    Ok(())
}

/// Whether the channels are where oneDNN has them.
fn check_axis(p: &BatchNormParams, data: &TensorDesc) -> std::result::Result<(), String> {
    if p.axis != 1 || data.shape.ndim() < 2 {
        return Err(format!("axis {} of data of shape {}", p.axis, data.shape));
    }
    Ok(())
}
