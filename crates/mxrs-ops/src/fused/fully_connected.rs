//! `out = act(FullyConnected(data, weight, bias) + sum)`: a matrix product with an epilogue.
//!
//! data, weight and bias are those of [`FullyConnected`](crate::nn::fully_connected). There is no bias with `no_bias`. With
//! `with_sum`, sum is the last input and has out's shape. `act` is none, relu, sigmoid, tanh, softrelu, clip (to
//! `a_min` and `a_max`), square, sqrt, abs or exp. Out may be written in place of sum. Inference only.
//!
//! MXNet: `_sg_mkldnn_fully_connected`, under another name. Dtypes: f32 f64 f16 bf16, the same for all tensors.

use super::epilogue::WithEpilogue;
use crate::families::fused_product::operator;
use crate::nn::fully_connected::{FullyConnected, FullyConnectedParams};
use mxrs_op::{Fill, OpDef, Sample};

/// Parameters of `_sg_fully_connected`: those of `FullyConnected` and of the epilogue.
pub type SgFullyConnectedParams = WithEpilogue<FullyConnectedParams>;

/// Name of the operator.
pub const NAME: &str = "_sg_fully_connected";

/// Defines the operator `_sg_fully_connected`.
pub fn define() -> OpDef {
    OpDef { summary: "matrix product, a sum and a function in one call", samples, ..operator::<FullyConnected>(NAME) }
}

fn samples() -> Vec<Sample> {
    const HIDDEN: [(&str, &str); 1] = [("num_hidden", "5")];
    const SHAPES: [&[usize]; 4] = [&[3, 7], &[5, 7], &[5], &[3, 5]];
    let of = |name, more: &[(&str, &str)], shapes: &[&[usize]]| {
        let attrs = HIDDEN.iter().chain(more).copied().collect();
        Sample { attrs, ..Sample::new(name, HIDDEN, shapes) }
    };
    let (sum, act) = (("with_sum", "True"), |act| ("act", act));
    let (bare, rows) = (("no_bias", "True"), ("flatten", "False"));
    let positive = Fill::Uniform(0.0, 1.0);
    vec![
        of("plain", &[], &SHAPES[..3]),
        of("relu", &[act("relu")], &SHAPES[..3]),
        of("sigmoid", &[act("sigmoid")], &SHAPES[..3]),
        of("tanh", &[act("tanh")], &SHAPES[..3]),
        of("softrelu", &[act("softrelu")], &SHAPES[..3]),
        of("clip", &[act("clip"), ("a_min", "0"), ("a_max", "0.5")], &SHAPES[..3]),
        of("square", &[act("square")], &SHAPES[..3]),
        of("sqrt", &[act("sqrt")], &SHAPES[..3])
            .fill(0, positive.clone())
            .fill(1, positive)
            .fill(2, Fill::Uniform(0.1, 1.0)),
        of("abs", &[act("abs")], &SHAPES[..3]),
        of("exp", &[act("exp")], &SHAPES[..3]),
        of("sum", &[sum], &SHAPES),
        of("sum_relu", &[sum, act("relu")], &SHAPES),
        of("without_bias", &[bare, act("relu")], &SHAPES[..2]),
        of("sum_without_bias", &[bare, sum], &[SHAPES[0], SHAPES[1], SHAPES[3]]),
        of("images", &[act("relu")], &[&[2, 3, 4, 5], &[5, 60], &[5]]),
        of("last_axis", &[rows, sum, act("relu")], &[&[2, 4, 6], &[5, 6], &[5], &[2, 4, 5]]),
        of("no_rows", &[sum, act("relu")], &[&[0, 7], SHAPES[1], SHAPES[2], &[0, 5]]),
    ]
}
