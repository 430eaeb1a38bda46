//! Export of `Activation`: each function (ReLU, tanh and so on) is an ONNX operator of its own.

use crate::export::call::{Answer, Call};
use crate::export::list::FLOATS;
use mxrs_ops::nn::activation::{ActType, ActivationParams};

/// Exports `Activation`.
pub(crate) fn activation(call: &mut Call<'_>) -> Answer {
    let op_type = match call.params::<ActivationParams>().act_type {
        ActType::Relu => "Relu",
        ActType::Sigmoid => "Sigmoid",
        ActType::Tanh => "Tanh",
        ActType::SoftRelu => "Softplus",
        ActType::SoftSign => "Softsign",
    };
    call.require_dtype(op_type, FLOATS)?;
    let data = call.input(0);
    Ok(call.step(op_type, &[data], Vec::new()))
}
