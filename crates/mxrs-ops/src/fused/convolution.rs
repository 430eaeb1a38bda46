//! `out = act(Convolution(data, weight, bias) + sum)`: a convolution with an epilogue.
//!
//! data, weight and bias are those of [`Convolution`](crate::nn::convolution). There is no bias with `no_bias`. With
//! `with_sum`, sum is the last input and has out's shape. `act` is none, relu, sigmoid, tanh, softrelu, clip (to `a_min` and
//! `a_max`), square, sqrt, abs, exp, silu, hard_sigmoid or hard_swish (with `slope` and `offset`). Out may be written
//! in place of sum. Inference only.
//!
//! MXNet: `_sg_mkldnn_conv`, under another name. Dtypes: f32 f64 f16 bf16, the same for all tensors.

use super::epilogue::WithEpilogue;
use crate::families::fused_product::operator;
use crate::nn::convolution::{Convolution, ConvolutionParams};
use mxrs_op::{Fill, OpDef, Sample};

/// Parameters of `_sg_conv`: those of `Convolution` and of the epilogue.
pub type SgConvParams = WithEpilogue<ConvolutionParams>;

/// Name of the operator.
pub const NAME: &str = "_sg_conv";

/// Defines the operator `_sg_conv`.
pub fn define() -> OpDef {
    OpDef { summary: "convolution, a sum and a function in one call", samples, ..operator::<Convolution>(NAME) }
}

fn samples() -> Vec<Sample> {
    const CONV: [(&str, &str); 3] = [("kernel", "(3, 3)"), ("num_filter", "4"), ("pad", "(1, 1)")];
    const SHAPES: [&[usize]; 4] = [&[2, 3, 7, 9], &[4, 3, 3, 3], &[4], &[2, 4, 7, 9]];
    // A sample with the parameters `CONV`, further parameters and these input shapes.
    let of = |name, more: &[(&str, &str)], shapes: &[&[usize]]| {
        let attrs = CONV.iter().chain(more).copied().collect();
        Sample { attrs, ..Sample::new(name, CONV, shapes) }
    };
    let (sum, act) = (("with_sum", "True"), |act| ("act", act));
    let bare = ("no_bias", "True");
    let wide = [("kernel", "(1, 1)"), ("num_filter", "16"), bare, sum, act("relu")];
    let last = [("kernel", "(3, 3)"), ("num_filter", "4"), ("layout", "NHWC"), sum, act("relu")];
    let volume = [("kernel", "(2, 3, 3)"), ("num_filter", "4"), sum, act("relu")];
    let groups = [("kernel", "(3, 3)"), ("num_filter", "6"), ("num_group", "3"), act("relu")];
    let depthwise =
        [("kernel", "(5, 5)"), ("pad", "(2, 2)"), ("num_filter", "18"), ("num_group", "18"), act("sigmoid")];
    let pixel = [("kernel", "(1, 1)"), ("num_filter", "20"), act("hard_sigmoid")];
    vec![
        of("plain", &[], &SHAPES[..3]),
        of("relu", &[act("relu")], &SHAPES[..3]),
        of("sigmoid", &[act("sigmoid")], &SHAPES[..3]),
        of("tanh", &[act("tanh")], &SHAPES[..3]),
        of("softrelu", &[act("softrelu")], &SHAPES[..3]),
        of("clip", &[act("clip"), ("a_min", "0"), ("a_max", "1.5")], &SHAPES[..3]),
        of("square", &[act("square")], &SHAPES[..3]),
        of("sqrt", &[act("sqrt")], &SHAPES[..3])
            .fill(0, Fill::Uniform(0.0, 1.0))
            .fill(1, Fill::Uniform(0.0, 1.0))
            .fill(2, Fill::Uniform(0.1, 1.0)),
        of("abs", &[act("abs")], &SHAPES[..3]),
        of("exp", &[act("exp")], &SHAPES[..3]).fill(1, Fill::Uniform(-0.2, 0.2)),
        of("silu", &[act("silu")], &SHAPES[..3]),
        of("hard_sigmoid", &[act("hard_sigmoid")], &SHAPES[..3]),
        of("hard_swish", &[act("hard_swish"), ("slope", "0.16666667")], &SHAPES[..3]),
        of("sum_silu", &[sum, act("silu")], &SHAPES),
        of("sum", &[sum], &SHAPES),
        of("sum_relu", &[sum, act("relu")], &SHAPES),
        of("sum_clip", &[sum, act("clip"), ("a_min", "0"), ("a_max", "0.5")], &SHAPES),
        of("without_bias", &[bare, act("relu")], &SHAPES[..2]),
        of("sum_without_bias", &[bare, sum], &[SHAPES[0], SHAPES[1], SHAPES[3]]),
        Sample::new("one_by_one", wide, &[&[1, 16, 6, 6], &[16, 16, 1, 1], &[1, 16, 6, 6]]),
        Sample::new("channels_last", last, &[&[2, 5, 6, 3], &[4, 3, 3, 3], &[4], &[2, 3, 4, 4]]),
        Sample::new("three_axes", volume, &[&[1, 2, 4, 5, 5], &[4, 2, 2, 3, 3], &[4], &[1, 4, 3, 3, 3]]),
        Sample::new("groups", groups, &[&[1, 6, 5, 5], &[6, 2, 3, 3], &[6]]),
        Sample::new("depthwise", depthwise, &[&[1, 18, 9, 12], &[18, 1, 5, 5], &[18]]),
        Sample::new("one_pixel", pixel, &[&[2, 24, 1, 1], &[20, 24, 1, 1], &[20]]),
        of("no_images", &[sum, act("relu")], &[&[0, 3, 7, 9], SHAPES[1], SHAPES[2], &[0, 4, 7, 9]]),
    ]
}
