//! BatchNorm over the second axis, in any layout. Primitives of oneDNN compute BatchNorm with its statistics; loops of this
//! crate compute BatchNorm at inference, fused with the operators that follow it.

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

/// Checks that the backend takes the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    check_axis(call.params.get::<BatchNormParams>(), &call.inputs[0])?;
    if call.inputs[1..].iter().any(|t| t.dtype != DType::F32) {
        return Err("the statistics are not float32".into());
    }
    Ok(())
}

/// Checks that the channels are the second axis, as oneDNN requires.
fn check_axis(p: &BatchNormParams, data: &TensorDesc) -> std::result::Result<(), String> {
    if p.axis != 1 || data.shape.ndim() < 2 {
        return Err(format!("no kernel for axis {} of data of shape {}", p.axis, data.shape));
    }
    Ok(())
}
