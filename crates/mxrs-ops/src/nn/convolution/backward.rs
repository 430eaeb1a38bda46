//! Gradients of convolution. Each output element is a sum of products of a data element and a weight element; the
//! gradient of each product adds to the gradients of both elements.

use super::{ConvolutionParams, for_each_product};
use crate::families::products::Product;
use crate::families::window::channel_axis;
use crate::numeric;
use mxrs_op::{OpDef, OpParams, RefInput, RefOutput, ReferenceFn, RunMode};
use mxrs_types::{PartialShape, Result, Shape};

/// The convolution as a [`Product`].
pub struct Convolution;

impl Product for Convolution {
    type Params = ConvolutionParams;
    const FORWARD: &'static str = "Convolution";
    const TO_DATA: &'static str = "_backward_Convolution_data";
    const TO_WEIGHT: &'static str = "_backward_Convolution_weight";
    const TO_BIAS: &'static str = "_backward_Convolution_bias";
    const FROM_BIAS: &'static str = "_backward_backward_Convolution_bias";
    const DATA_KERNEL: ReferenceFn = to_data;
    const WEIGHT_KERNEL: ReferenceFn = to_weight;

    fn define() -> OpDef {
        super::define()
    }

    fn no_bias(params: &ConvolutionParams) -> bool {
        params.no_bias
    }

    fn infer_shape(
        params: &ConvolutionParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        super::infer_shape(params, inputs, outputs)
    }

    fn values(params: &ConvolutionParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<f64>> {
        super::values(params, inputs, out)
    }

    fn bias_axis(params: &ConvolutionParams, ndim: usize) -> usize {
        channel_axis(ndim, params.is_channels_last())
    }
}

fn to_data(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let shapes = [&outputs[0].desc.shape, &inputs[1].desc.shape, &inputs[0].desc.shape];
    let (g, w) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    let mut dx = vec![0.0; shapes[0].n_elements()];
    for_each_product(params.get(), shapes, |data, weight, out| dx[data] += g[out] * w[weight])?;
    numeric::write(&mut outputs[0], &dx);
    Ok(())
}

fn to_weight(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let shapes = [&inputs[1].desc.shape, &outputs[0].desc.shape, &inputs[0].desc.shape];
    let (g, x) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    let mut dw = vec![0.0; shapes[1].n_elements()];
    for_each_product(params.get(), shapes, |data, weight, out| dw[weight] += g[out] * x[data])?;
    numeric::write(&mut outputs[0], &dw);
    Ok(())
}
