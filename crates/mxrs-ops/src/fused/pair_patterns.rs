//! The chains of two convolutions, of which the second one is depthwise: `_sg_conv_depthwise`.
//!
//! Each convolution may be followed by `BatchNorm` of constants and by a function, as in `patterns.rs`. A backend decides
//! which first convolutions it takes; if none takes a chain, its convolutions are fused one by one.

use super::conv_depthwise::NAME;
use super::patterns::{Part, functions, normalized};
use crate::nn::convolution::ConvolutionParams;
use mxrs_op::{Member, NewCall, Pattern, Stage};

/// Name of the stage of the second convolution.
const DEPTHWISE: &str = "depthwise";

/// The pattern; with `is_normalized`, batch normalization may follow the convolutions.
pub(super) fn depthwise(is_normalized: bool) -> Pattern {
    let after = || is_normalized.then(normalized).into_iter().chain(functions());
    let second =
        Stage { accepts: |_, call| is_depthwise(call), is_required: true, ..Stage::of(DEPTHWISE, &["Convolution"]) };
    Pattern {
        name: "Convolution and depthwise",
        seed: Stage { accepts: |_, call| is_in_one_group(call), ..Stage::of("conv", &["Convolution"]) },
        then: after().chain([second]).chain(after()).collect(),
        replace,
    }
}

fn is_in_one_group(call: &Member<'_>) -> bool {
    let p = call.params.get::<ConvolutionParams>();
    p.num_group == 1 && !p.is_channels_last()
}

/// Whether a convolution has one filter per input channel.
fn is_depthwise(call: &Member<'_>) -> bool {
    let p = call.params.get::<ConvolutionParams>();
    let channels = call.inputs[0].shape.get(1).copied().unwrap_or_default();
    p.num_group == p.num_filter && p.num_filter as usize == channels && !p.is_channels_last()
}

fn replace(chain: &[Member<'_>]) -> Option<Vec<NewCall>> {
    let second = chain.iter().position(|call| call.stage == DEPTHWISE)?;
    let mut calls = Vec::new();
    let first = Part::of(&chain[..second], 0, &mut calls)?;
    let depthwise = Part::of(&chain[second..], second, &mut calls)?;
    let mut attrs = first.attrs;
    for (to, key) in [
        ("dw_kernel", "kernel"),
        ("dw_stride", "stride"),
        ("dw_dilate", "dilate"),
        ("dw_pad", "pad"),
        ("dw_no_bias", "no_bias"),
        ("dw_act", "act"),
        ("dw_a_min", "a_min"),
        ("dw_a_max", "a_max"),
        ("dw_slope", "slope"),
        ("dw_offset", "offset"),
    ] {
        if let Some(value) = depthwise.attrs.get(key) {
            attrs.set(to, value.to_owned());
        }
    }
    // The first input of the second convolution is the result of the first one, so it is not an input of the fused call.
    let inputs = first.inputs.into_iter().chain(depthwise.inputs.into_iter().skip(1)).collect();
    calls.push(NewCall { op: NAME, suffix: "", attrs, inputs });
    Some(calls)
}
