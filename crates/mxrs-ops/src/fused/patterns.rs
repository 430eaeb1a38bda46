//! The chains of calls that a fused call replaces.
//!
//! | first call | following calls, in this order, each optional |
//! |---|---|
//! | `Convolution` | `BatchNorm` of constants; `elemwise_add`; relu, sigmoid, tanh, softrelu, clip from 0 |
//! | `FullyConnected` | `elemwise_add`; relu, sigmoid, tanh, softrelu, clip from 0, square, sqrt, abs, exp |
//!
//! Chains that begin with a normalization are in `normalized_patterns.rs`, chains of quantized products in
//! `quantized_patterns.rs`. A function before the sum, or any other call, ends the chain. Batch normalization is folded into
//! weight and bias if it normalizes the output channels, and if weight, bias and the parameters of the normalization are
//! constants.

use super::{convolution, fold_bias, fold_weight, fully_connected, normalized_patterns, quantized_patterns};
use crate::elemwise::clip::ClipParams;
use crate::families::window::channel_axis;
use crate::nn::activation::{ActType, ActivationParams};
use crate::nn::batch_norm::BatchNormParams;
use crate::nn::convolution::ConvolutionParams;
use mxrs_op::param::Choice;
use mxrs_op::{Attrs, Member, NewCall, Operand, Pattern, Stage};

/// Selects the chains that partitioning fuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fusions {
    /// Whether to fuse chains that begin with a convolution.
    pub conv: bool,
    /// Whether chains of a convolution may contain batch normalization.
    pub conv_bn: bool,
    /// Whether chains of a convolution may contain a sum.
    pub conv_sum: bool,
    /// Whether chains of a convolution may end in a function.
    pub conv_act: bool,
    /// Whether to fuse chains that begin with a fully-connected layer.
    pub fc: bool,
    /// Whether chains of a fully-connected layer may contain a sum.
    pub fc_sum: bool,
    /// Whether chains of a fully-connected layer may end in a function.
    pub fc_act: bool,
    /// Whether to fuse batch normalization with relu.
    pub bn_relu: bool,
    /// Whether to fuse quantized products whose result is requantized to 8 bits, and batch normalizations whose result is
    /// quantized.
    pub requantize: bool,
    /// Whether to fuse chains of quantized calls that end in float32.
    pub dequantize: bool,
}

impl Default for Fusions {
    /// Selects all chains.
    fn default() -> Self {
        Self {
            conv: true,
            conv_bn: true,
            conv_sum: true,
            conv_act: true,
            fc: true,
            fc_sum: true,
            fc_act: true,
            bn_relu: true,
            requantize: true,
            dequantize: true,
        }
    }
}

/// The patterns of the chains that `fusions` selects.
pub fn patterns(fusions: &Fusions) -> Vec<Pattern> {
    let present = |stages: Vec<(bool, Stage)>| stages.into_iter().filter(|(is, _)| *is).map(|(_, s)| s).collect();
    let sum = || Stage { enters_by: &[0, 1], ..Stage::of("sum", &["elemwise_add"]) };
    let normalized = Stage { accepts: is_foldable, ..Stage::of("bn", &["BatchNorm"]) };
    let conv_act = Stage { accepts: |_, call| act(call).is_some(), ..Stage::of("act", CONV_ACTS) };
    let fc_act = Stage { accepts: |_, call| act(call).is_some(), ..Stage::of("act", FC_ACTS) };
    let all = vec![
        (
            fusions.conv,
            Pattern {
                name: "Convolution",
                seed: Stage::of("conv", &["Convolution"]),
                then: present(vec![
                    (fusions.conv_bn, normalized),
                    (fusions.conv_sum, sum()),
                    (fusions.conv_act, conv_act),
                ]),
                replace: |chain| product(chain, convolution::NAME),
            },
        ),
        (
            fusions.fc,
            Pattern {
                name: "FullyConnected",
                seed: Stage::of("fc", &["FullyConnected"]),
                then: present(vec![(fusions.fc_sum, sum()), (fusions.fc_act, fc_act)]),
                replace: |chain| product(chain, fully_connected::NAME),
            },
        ),
    ];
    let real = all.into_iter().filter(|(is, _)| *is).map(|(_, pattern)| pattern);
    real.chain(normalized_patterns::patterns(fusions)).chain(quantized_patterns::patterns(fusions)).collect()
}

const CONV_ACTS: &[&str] = &["relu", "sigmoid", "tanh", "Activation", "clip"];
const FC_ACTS: &[&str] = &["relu", "sigmoid", "tanh", "Activation", "clip", "square", "sqrt", "abs", "exp"];

/// Whether the normalization can be folded into weight and bias of the convolution.
fn is_foldable(chain: &[Member<'_>], bn: &Member<'_>) -> bool {
    let Some(conv) = chain.first() else { return false };
    let ndim = conv.outputs[0].shape.ndim();
    let axis = i64::from(bn.params.get::<BatchNormParams>().axis);
    let axis = if axis < 0 { axis + ndim as i64 } else { axis };
    let channels = channel_axis(ndim, conv.params.get::<ConvolutionParams>().is_channels_last());
    let are_constant = |call: &Member<'_>| call.is_constant[1..].iter().all(|c| *c);
    usize::try_from(axis) == Ok(channels) && are_constant(conv) && are_constant(bn)
}

pub(super) fn is_relu(call: &Member<'_>) -> bool {
    call.op.name == "relu" || call.params.get::<ActivationParams>().act_type == ActType::Relu
}

/// Parameters of the epilogue that applies the function of `call`; `None` if no epilogue has this function.
fn act(call: &Member<'_>) -> Option<Vec<(&'static str, String)>> {
    let word: &str = match call.op.name {
        "Activation" => match call.params.get::<ActivationParams>().act_type {
            ActType::SoftSign => return None,
            other => other.to_word(),
        },
        "clip" => {
            // As in MXNet, a clip is fused only if it is a bounded ReLU.
            let ClipParams { a_min, a_max } = call.params.get();
            let bounds = [("act", "clip".into()), ("a_min", "0".into()), ("a_max", format!("{a_max}"))];
            return (*a_min == 0.0).then(|| bounds.to_vec());
        }
        name => name,
    };
    Some(vec![("act", word.into())])
}

/// The calls that replace a chain: first those that fold batch normalization, if the chain has one, then the product. The
/// product is a call of `op`, or the plain product if the chain has neither a sum nor a function.
fn product(chain: &[Member<'_>], op: &'static str) -> Option<Vec<NewCall>> {
    let seed = chain.first()?;
    let input = |member, position| Operand::Input { member, position };
    let mut attrs = seed.attrs.clone();
    let (data, mut weight) = (input(0, 0), input(0, 1));
    let mut bias = (seed.inputs.len() > 2).then(|| input(0, 2));
    let (mut sum, mut op, mut is_fused) = (None, op, false);
    let mut calls = Vec::new();
    for (i, member) in chain.iter().enumerate() {
        match member.stage {
            "bn" => {
                let of_bn = |position| input(i, position);
                let fold = |no_bias: Option<bool>| {
                    let keys = ["eps", "fix_gamma"].into_iter();
                    let mut attrs: Attrs = keys.filter_map(|key| Some((key, member.attrs.get(key)?))).collect();
                    no_bias.map(|is| attrs.set("no_bias", if is { "True" } else { "False" }));
                    attrs
                };
                let inputs = vec![weight, of_bn(1), of_bn(4)];
                let (suffix, op) = ("_folded_weight", fold_weight::NAME);
                calls.push(NewCall { op, suffix, attrs: fold(None), inputs });
                let inputs = [Some(weight), bias, Some(of_bn(1)), Some(of_bn(2)), Some(of_bn(3)), Some(of_bn(4))];
                let (suffix, op) = ("_folded_bias", fold_bias::NAME);
                let inputs = inputs.into_iter().flatten().collect();
                calls.push(NewCall { op, suffix, attrs: fold(Some(bias.is_none())), inputs });
                (weight, bias) = (Operand::Made(0), Some(Operand::Made(1)));
                attrs.set("no_bias", "False");
            }
            "sum" => {
                is_fused = true;
                attrs.set("with_sum", "True");
                sum = Some(input(i, 1 - member.entered_by));
            }
            "act" => {
                is_fused = true;
                act(member)?.into_iter().for_each(|(key, value)| drop(attrs.set(key, value)));
            }
            _ => {}
        }
    }
    if !is_fused {
        op = seed.op.name;
    }
    let inputs = [Some(data), Some(weight), bias, sum].into_iter().flatten().collect();
    calls.push(NewCall { op, suffix: "", attrs, inputs });
    Some(calls)
}
