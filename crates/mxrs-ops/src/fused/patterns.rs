//! The chains of calls that a fused call replaces.
//!
//! | first call | following calls, in this order, each optional |
//! |---|---|
//! | `Convolution` | `BatchNorm` of constants; `elemwise_add`; relu, tanh, softrelu, clip from 0, or a function of `gates.rs` |
//! | `FullyConnected` | `elemwise_add`; relu, sigmoid, tanh, softrelu, clip from 0, square, sqrt, abs, exp |
//!
//! Pairs of convolutions are in `pair_patterns.rs`, chains that begin with factors of channels in `scaled_patterns.rs`, with a
//! normalization in `normalized_patterns.rs`, and with a quantized product in `quantized_patterns.rs`. A function before the sum,
//! or any other call, ends the chain. Batch normalization is folded into weight and bias if it normalizes the output channels,
//! and if weight, bias and the parameters of the normalization are constants.

use super::gates::{SIGMOIDS, Sigmoid};
use super::scaled_patterns;
use super::{
    convolution, fold_bias, fold_weight, fully_connected, normalized_patterns, pair_patterns, quantized_patterns,
};
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

/// Batch normalization that can be folded into the convolution before it.
pub(super) fn normalized() -> Stage {
    Stage { accepts: is_foldable, ..Stage::of("bn", &["BatchNorm"]) }
}

/// The stages of the functions that may follow a convolution.
pub(super) fn functions() -> Vec<Stage> {
    let act = Stage { accepts: |_, call| act(call).is_some(), ..Stage::of("act", CONV_ACTS) };
    let gate = Stage {
        enters_by: &[0, 1],
        through: SIGMOIDS,
        accepts: |chain, _| Sigmoid::of(&of_stage(of_last_convolution(chain), GATE)).is_some(),
        ..Stage::of(GATE, &["elemwise_mul"])
    };
    let (before, after) = (Stage::of(SCALARS, &["_mul_scalar"]), Stage::of(SCALARS, &["_mul_scalar", "_div_scalar"]));
    vec![before, Stage::of(SCALARS, &["_plus_scalar"]), act, after, gate]
}

/// The patterns of the chains that `fusions` selects.
pub fn patterns(fusions: &Fusions) -> Vec<Pattern> {
    let present = |stages: Vec<(bool, Stage)>| stages.into_iter().filter(|(is, _)| *is).map(|(_, s)| s).collect();
    let sum = || Stage { enters_by: &[0, 1], ..Stage::of("sum", &["elemwise_add"]) };
    let fc_act = Stage { accepts: |_, call| act(call).is_some(), ..Stage::of("act", FC_ACTS) };
    let pairs = (fusions.conv && fusions.conv_act).then(|| pair_patterns::depthwise(fusions.conv_bn));
    let of_scaled = [fusions.conv_bn, fusions.conv_sum, fusions.conv_act];
    let scaled = fusions.conv.then(|| scaled_patterns::scaled(of_scaled));
    let all = vec![
        (
            fusions.conv,
            Pattern {
                name: "Convolution",
                seed: Stage::of("conv", &["Convolution"]),
                then: {
                    let before: Vec<Stage> = present(vec![(fusions.conv_bn, normalized()), (fusions.conv_sum, sum())]);
                    before.into_iter().chain(if fusions.conv_act { functions() } else { Vec::new() }).collect()
                },
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
    let real = scaled.into_iter().chain(pairs).chain(real);
    real.chain(normalized_patterns::patterns(fusions)).chain(quantized_patterns::patterns(fusions)).collect()
}

/// Name of the stage that multiplies a value by a function of the value.
const GATE: &str = "gate";
/// Name of the stages of a function that consists of calls with scalars and a clip.
const SCALARS: &str = "scalars";

/// The calls of a chain that belong to a stage.
fn of_stage<'a>(chain: &[Member<'a>], stage: &str) -> Vec<Member<'a>> {
    chain.iter().filter(|call| call.stage == stage).copied().collect()
}

const CONV_ACTS: &[&str] = &["relu", "sigmoid", "tanh", "Activation", "clip", "hard_sigmoid"];
const FC_ACTS: &[&str] = &["relu", "sigmoid", "tanh", "Activation", "clip", "square", "sqrt", "abs", "exp"];

/// The calls of a chain from its last convolution on.
pub(super) fn of_last_convolution<'m, 'a>(chain: &'m [Member<'a>]) -> &'m [Member<'a>] {
    let last = chain.iter().rposition(|call| call.op.name == "Convolution");
    &chain[last.unwrap_or_default()..]
}

/// Whether the normalization can be folded into weight and bias of the convolution.
fn is_foldable(chain: &[Member<'_>], bn: &Member<'_>) -> bool {
    let Some(conv) = of_last_convolution(chain).first() else { return false };
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
        "hard_sigmoid" => return Some(Sigmoid::of(&[*call])?.attrs(false)),
        name => name,
    };
    Some(vec![("act", word.into())])
}

/// Parameters of the epilogue that applies the functions of a chain, empty if there are none; `None` if no epilogue applies
/// them.
fn function(chain: &[Member<'_>]) -> Option<Vec<(&'static str, String)>> {
    let acts: Vec<Member<'_>> = chain.iter().filter(|call| ["act", SCALARS].contains(&call.stage)).copied().collect();
    let gate = of_stage(chain, GATE);
    match (&acts[..], gate.split_last()) {
        ([], None) => Some(Vec::new()),
        ([only], None) if only.stage == "act" => act(only),
        (acts, None) => Some(Sigmoid::of(acts)?.attrs(false)),
        ([], Some((_, inner))) => Some(Sigmoid::of(inner)?.attrs(true)),
        _ => None,
    }
}

/// The product that replaces a chain, or one of the two products of a chain.
pub(super) struct Part {
    /// Parameters of the product and of its epilogue.
    pub attrs: Attrs,
    /// Data, weight and, if there is one, bias.
    pub inputs: Vec<Operand>,
    /// The tensor that is added.
    pub sum: Option<Operand>,
    /// Whether the product has an epilogue.
    pub is_fused: bool,
}

impl Part {
    /// Describes the product (a convolution or a fully-connected layer, with or without an epilogue) that replaces the calls
    /// `chain`. These calls are all or some of the calls that a pattern has matched: `chain[0]` has the index `first` among
    /// the matched calls. If `chain` contains batch normalization, this adds to `calls` the calls that fold it into weight
    /// and bias. `None` if no epilogue applies the functions in `chain`.
    pub fn of(chain: &[Member<'_>], first: usize, calls: &mut Vec<NewCall>) -> Option<Self> {
        let seed = chain.first()?;
        let input = |member, position| Operand::Input { member: first + member, position };
        let mut attrs = seed.attrs.clone();
        let function = function(chain)?;
        let mut weight = input(0, 1);
        let mut bias = (seed.inputs.len() > 2).then(|| input(0, 2));
        let mut sum = None;
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
                    (weight, bias) = (Operand::Made(calls.len() - 2), Some(Operand::Made(calls.len() - 1)));
                    attrs.set("no_bias", "False");
                }
                "sum" => {
                    attrs.set("with_sum", "True");
                    sum = Some(input(i, 1 - member.entered_by));
                }
                _ => {}
            }
        }
        let is_fused = sum.is_some() || !function.is_empty();
        function.into_iter().for_each(|(key, value)| drop(attrs.set(key, value)));
        let inputs = [Some(input(0, 0)), Some(weight), bias].into_iter().flatten().collect();
        Some(Self { attrs, inputs, sum, is_fused })
    }
}

/// The calls that replace a chain: first those that fold batch normalization, if the chain has one, then the product. The
/// product is a call of `op`, or the plain product if the chain has neither a sum nor a function.
fn product(chain: &[Member<'_>], op: &'static str) -> Option<Vec<NewCall>> {
    let mut calls = Vec::new();
    let Part { attrs, mut inputs, sum, is_fused } = Part::of(chain, 0, &mut calls)?;
    inputs.extend(sum);
    let op = if is_fused { op } else { chain.first()?.op.name };
    calls.push(NewCall { op, suffix: "", attrs, inputs });
    Some(calls)
}
