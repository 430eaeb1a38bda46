//! One file per kind of primitive. Each has `check`, which checks whether it supports a call, and `prepare`, which makes the
//! kernel for the call. `loops`, `one_to_one` and `workspace` are shared by several files.

pub mod activation_grad;
pub mod arranged;
pub mod batch_norm;
pub mod binary;
pub mod channel_sum;
pub mod concat;
pub mod convolution;
pub mod eltwise;
pub mod inner_product;
pub mod loops;
pub mod lrn;
pub mod one_to_one;
pub mod pooling;
pub mod quantized;
pub mod relu;
pub mod reorder;
pub mod softmax;
pub mod sum;
pub mod workspace;

use crate::cache::Prepared;
use crate::library::Library;
use mxrs_op::OpCall;
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// A function that makes the kernel for a call that has passed `check`.
pub type Prepare = fn(&Arc<Library>, &OpCall<'_>) -> Result<Prepared>;

/// Returns the function that makes the kernel for this call.
///
/// # Errors
/// Returns the reason as text if there is no such function.
pub fn preparer(call: &OpCall<'_>) -> std::result::Result<Prepare, String> {
    match call.op.name {
        "Convolution" => convolution::check(call).map(|()| convolution::prepare as Prepare),
        "FullyConnected" => inner_product::check(call).map(|()| inner_product::prepare as Prepare),
        "_sg_conv" => convolution::check_fused(call).map(|()| convolution::prepare_fused as Prepare),
        "_sg_fully_connected" => inner_product::check_fused(call).map(|()| inner_product::prepare_fused as Prepare),
        "_backward_Convolution_data" => {
            convolution::check(call).map(|()| convolution::backward::prepare_data as Prepare)
        }
        "_backward_Convolution_weight" => {
            convolution::check(call).map(|()| convolution::backward::prepare_weight as Prepare)
        }
        "_backward_Convolution_bias" => convolution::check(call).map(|()| channel_sum::prepare_second_axis as Prepare),
        "_backward_FullyConnected_data" => {
            inner_product::backward::check(call, 1).map(|()| inner_product::backward::prepare_data as Prepare)
        }
        "_backward_FullyConnected_weight" => {
            inner_product::backward::check(call, 2).map(|()| inner_product::backward::prepare_weight as Prepare)
        }
        "_backward_FullyConnected_bias" => Ok(channel_sum::prepare_last_axis),
        "Pooling" => pooling::check(call).map(|()| pooling::prepare as Prepare),
        "BatchNorm" => batch_norm::check(call).map(|()| batch_norm::forward::prepare as Prepare),
        "_sg_bn_relu" => batch_norm::check(call).map(|()| batch_norm::relu::prepare as Prepare),
        "_sg_bn_relu_quantize" => batch_norm::quantize::check(call).map(|()| batch_norm::quantize::prepare as Prepare),
        "_backward_BatchNorm" => batch_norm::backward::check(call).map(|()| batch_norm::backward::prepare as Prepare),
        "LRN" => lrn::check(call).map(|()| lrn::prepare as Prepare),
        "Activation" | "relu" | "sigmoid" | "tanh" => eltwise::check(call),
        "softmax" | "SoftmaxOutput" => softmax::check(call).map(|()| softmax::prepare as Prepare),
        "_backward_Pooling" | "_backward_Pooling_average" => {
            pooling::backward::check(call).map(|()| pooling::backward::prepare as Prepare)
        }
        "_backward_LRN" => lrn::backward::check(call).map(|()| lrn::backward::prepare as Prepare),
        "_backward_Activation" | "_backward_relu" | "_backward_sigmoid" | "_backward_tanh" => {
            Ok(activation_grad::prepare)
        }
        "_backward_Dropout" => binary::check_mask(call).map(|()| binary::prepare as Prepare),
        "_backward_Concat" => concat::backward::check(call).map(|()| concat::backward::prepare as Prepare),
        "_backward_cast" => reorder::check_cast(call).map(|()| reorder::prepare_cast_back as Prepare),
        "_backward_softmax" => softmax::check(call).map(|()| softmax::backward::prepare as Prepare),
        "add_n" => Ok(sum::prepare),
        "_grad_add" | "elemwise_add" | "elemwise_sub" | "elemwise_mul" | "elemwise_div" => Ok(binary::prepare),
        "Concat" => concat::check(call).map(|()| concat::prepare as Prepare),
        "Cast" | "amp_cast" => reorder::check_cast(call).map(|()| reorder::prepare_cast as Prepare),
        name if is_quantized(name) => of_quantized(call),
        name => Err(format!("no oneDNN kernel for {name}")),
    }
}

/// Whether the operator reads or writes 8-bit integers with a range.
pub fn is_quantized(name: &str) -> bool {
    ["_contrib_quantize", "_contrib_dequantize", "_contrib_requantize", "_sg_quantized"]
        .iter()
        .any(|start| name.starts_with(start))
}

fn of_quantized(call: &OpCall<'_>) -> std::result::Result<Prepare, String> {
    use quantized::{add, bytes, concat, convert, product};
    match call.op.name {
        "_contrib_quantize_v2" => convert::check_quantize(call).map(|()| convert::prepare_quantize as Prepare),
        "_contrib_dequantize" => convert::check_dequantize(call).map(|()| convert::prepare_dequantize as Prepare),
        "_contrib_requantize" => convert::check_requantize(call).map(|()| convert::prepare_requantize as Prepare),
        "_contrib_quantized_conv"
        | "_contrib_quantized_fully_connected"
        | "_sg_quantized_conv"
        | "_sg_quantized_fully_connected" => product::check(call).map(|()| product::prepare as Prepare),
        "_contrib_quantized_elemwise_add" => add::check(call).map(|()| add::prepare as Prepare),
        "_contrib_quantized_act" => Ok(bytes::prepare_relu),
        "_contrib_quantized_flatten" => Ok(bytes::prepare_flatten),
        "_contrib_quantized_pooling" => pooling::check(call).map(|()| quantized::pooling::prepare as Prepare),
        "_contrib_quantized_concat" => concat::check(call).map(|()| concat::prepare as Prepare),
        name => Err(format!("no oneDNN kernel for {name}")),
    }
}

/// The error for a call with a wrong number of inputs. Shape inference rejects such calls earlier.
pub fn wrong_arity(call: &OpCall<'_>) -> Error {
    Error::not_built(call.op.name, format!("a call with {} inputs", call.inputs.len()))
}
