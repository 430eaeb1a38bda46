//! The parameters of quantized products: convolutions and fully-connected layers.

use mxrs_op::OpCall;
use mxrs_ops::fused_quantized::{Requantized, WithRequantized};
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_ops::nn::fully_connected::FullyConnectedParams;

/// The parameters of the product: a convolution or a fully-connected layer.
pub(super) enum Params {
    Convolution(ConvolutionParams),
    FullyConnected(FullyConnectedParams),
}

/// Splits a call into the parameters of the product and the epilogue. `None` means that there is no epilogue and that the
/// output is i32.
pub(super) fn split(call: &OpCall<'_>) -> std::result::Result<(Params, Option<Requantized>), String> {
    let p = call.params;
    Ok(match call.op.name {
        "_contrib_quantized_conv" => (Params::Convolution(p.get::<ConvolutionParams>().clone()), None),
        "_contrib_quantized_fully_connected" => (Params::FullyConnected(p.get::<FullyConnectedParams>().clone()), None),
        "_sg_quantized_conv" => {
            let both = p.get::<WithRequantized<ConvolutionParams>>();
            (Params::Convolution(both.product.clone()), Some(both.epilogue.clone()))
        }
        "_sg_quantized_fully_connected" => {
            let both = p.get::<WithRequantized<FullyConnectedParams>>();
            (Params::FullyConnected(both.product.clone()), Some(both.epilogue.clone()))
        }
        name => return Err(format!("{name} is not a quantized product")),
    })
}
