//! Convolution of integers: products of 8-bit integers, summed in 32 bits, and the range of the sums.
//!
//! data, weight, bias and parameters are those of [`Convolution`](crate::nn::convolution), with channels before space.
//! Shapes of the ranges: min_data, max_data, min_bias, max_bias `[1]`; min_weight, max_weight `[1]`, or `[O]` for a range
//! per output channel. out is i32; min_output and max_output have the shape of min_weight.
//!
//! MXNet: `_contrib_quantized_conv`. In MXNet, data is only u8, num_group is 1, and a weight has one range; the range of
//! out is nevertheless that of i8 data, and the integers of the bias are added regardless of its range. In this operator, a
//! bias represents real numbers, as in `_contrib_quantized_fully_connected`. Dtypes: data i8 u8, weight i8, bias i8 or,
//! beyond MXNet, f32; the range of an f32 bias is not read.

use crate::families::quantized::{floats, integers, sample};
use crate::families::quantized_product::{self, QuantizedProduct, channels_last};
use crate::nn::convolution::{Convolution, ConvolutionParams};
use mxrs_op::param::Choice;
use mxrs_op::{OpDef, Sample, SampleInput};
use mxrs_types::{DType, Result};

/// Name of the operator.
pub const NAME: &str = "_contrib_quantized_conv";

impl QuantizedProduct for Convolution {
    fn check(params: &ConvolutionParams) -> Result<()> {
        match params.layout.filter(|_| params.is_channels_last()) {
            Some(layout) => Err(channels_last(NAME, layout.to_word())),
            None => Ok(()),
        }
    }
}

/// Defines the operator `_contrib_quantized_conv`.
pub fn define() -> OpDef {
    OpDef {
        summary: "convolution of int8, summed up in int32",
        companions: || vec![crate::families::fused_quantized::define_conv()],
        samples,
        ..quantized_product::define::<Convolution>(NAME)
    }
}

/// Inputs of a sample: data of type `dtype`, weight, bias if its type is given, then ranges. The weight has one range, or
/// one per channel if `per_channel`.
pub(crate) fn inputs(
    data: &[usize],
    dtype: DType,
    weight: &[usize],
    bias: Option<DType>,
    per_channel: bool,
) -> Vec<SampleInput> {
    let n = if per_channel { weight[0] } else { 1 };
    let reach: Vec<f64> = (0..n).map(|c| 0.5 + 0.25 * c as f64).collect();
    let low: Vec<f64> = reach.iter().map(|r| -r).collect();
    let mut all = vec![integers(data, dtype), integers(weight, DType::I8)];
    all.extend(bias.map(|dtype| match dtype {
        DType::F32 => SampleInput {
            shape: [weight[0]].as_slice().into(),
            fill: mxrs_op::Fill::Uniform(-2.0, 2.0),
            dtype: Some(DType::F32),
        },
        _ => integers(&[weight[0]], DType::I8),
    }));
    let min = if dtype == DType::U8 { 0.0 } else { -1.5 };
    all.extend([floats(&[min]), floats(&[1.75]), floats(&low), floats(&reach)]);
    if bias.is_some() {
        all.extend([floats(&[-2.0]), floats(&[2.0])]);
    }
    all
}

fn samples() -> Vec<Sample> {
    const CONV: [(&str, &str); 3] = [("kernel", "(3, 3)"), ("num_filter", "4"), ("pad", "(1, 1)")];
    let bare = ("no_bias", "True");
    let (i8, u8) = (DType::I8, DType::U8);
    let of = |name, more: &[(&str, &str)], inputs: Vec<SampleInput>| {
        let attrs: Vec<(&str, &str)> = CONV.iter().chain(more).copied().collect();
        sample(name, &attrs, inputs)
    };
    let one = [("kernel", "(1, 1)"), ("num_filter", "16"), bare, ("stride", "(2, 2)")];
    let groups = [("kernel", "(3, 3)"), ("num_filter", "6"), ("num_group", "3")];
    let depthwise = [("kernel", "(3, 3)"), ("num_filter", "8"), ("num_group", "8"), ("pad", "(1, 1)"), bare];
    let volume = [("kernel", "(2, 3, 3)"), ("num_filter", "4"), bare];
    vec![
        of("unsigned", &[], inputs(&[2, 3, 7, 9], u8, &[4, 3, 3, 3], Some(i8), false)),
        of("signed", &[], inputs(&[2, 3, 7, 9], i8, &[4, 3, 3, 3], Some(i8), false)),
        of("real_bias", &[], inputs(&[2, 3, 7, 9], u8, &[4, 3, 3, 3], Some(DType::F32), false)),
        of("without_bias", &[bare], inputs(&[2, 3, 7, 9], u8, &[4, 3, 3, 3], None, false)),
        of("channels", &[], inputs(&[2, 3, 7, 9], i8, &[4, 3, 3, 3], Some(i8), true)),
        sample("one_by_one", &one, inputs(&[1, 16, 6, 6], u8, &[16, 16, 1, 1], None, true)),
        sample("groups", &groups, inputs(&[1, 6, 5, 5], i8, &[6, 2, 3, 3], Some(i8), false)),
        sample("depthwise", &depthwise, inputs(&[1, 8, 6, 6], u8, &[8, 1, 3, 3], None, true)),
        sample("three_axes", &volume, inputs(&[1, 2, 4, 5, 5], u8, &[4, 2, 2, 3, 3], None, false)),
        of("no_images", &[bare], inputs(&[0, 3, 7, 9], u8, &[4, 3, 3, 3], None, false)),
    ]
}
