//! `Convolution`, exported as `Conv`, with a `Transpose` before and after it if the channels are last.

use super::layout::{channels_first, channels_last};
use crate::export::call::{Answer, Call, sizes};
use mxrs_format::onnx::AttributeProto;
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_types::DType::{F16, F32, F64};

/// Exports `Convolution`.
pub(crate) fn convolution(call: &mut Call<'_>) -> Answer {
    call.require_dtype("Conv", &[F16, F32, F64])?;
    let params = call.params::<ConvolutionParams>();
    let window = params.window()?;
    let ndim = window.ndim() + 2;
    let mut inputs = call.inputs();
    if params.is_channels_last() {
        for input in &mut inputs[..2] {
            *input = channels_first(call, input, ndim);
        }
    }
    let attributes = vec![
        AttributeProto::ints("dilations", sizes(&window.dilate)),
        AttributeProto::int("group", i64::from(params.num_group)),
        AttributeProto::ints("kernel_shape", sizes(&window.kernel)),
        AttributeProto::ints("pads", sizes(&window.pad).chain(sizes(&window.pad))),
        AttributeProto::ints("strides", sizes(&window.stride)),
    ];
    let out = call.step("Conv", &inputs, attributes);
    Ok(if params.is_channels_last() { channels_last(call, &out, ndim) } else { out })
}
