//! Decides for each call what its quantized form is, or why it has none.

use crate::fold::values;
use indexmap::IndexMap;
use mxrs_format::Tensor;
use mxrs_graph::{Graph, Inferred, NodeId};
use mxrs_op::OpSet;
use mxrs_ops::nn::activation::{ActType, ActivationParams};
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_ops::nn::pooling::{PoolType, PoolingParams};
use mxrs_ops::shape::concat::ConcatParams;
use mxrs_types::DType;

/// How a call is quantized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Name of the quantized operator.
    pub op: &'static str,
    /// Whether the call is quantized in any case. Other calls are quantized only to keep values as integers.
    pub is_must: bool,
    /// Which of the call's inputs are activations; all other inputs are weight and bias.
    pub n_activations: Activations,
    /// Whether the result is int32 sums, which a `_contrib_requantize` converts to 8 bits.
    pub needs_requantize: bool,
}

/// Which inputs of a call are activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activations {
    /// Only the first input.
    First,
    /// All inputs.
    All,
}

impl Rule {
    const fn must(op: &'static str) -> Self {
        Self { op, is_must: true, n_activations: Activations::First, needs_requantize: true }
    }

    const fn support(op: &'static str) -> Self {
        Self { op, is_must: false, n_activations: Activations::All, needs_requantize: false }
    }
}

/// The facts about a network that the rules depend on.
pub(crate) struct Facts<'a> {
    pub graph: &'a Graph,
    pub params: &'a IndexMap<String, Tensor>,
    pub dtypes: &'a Inferred<Option<DType>>,
    pub ops: &'a OpSet,
}

impl Facts<'_> {
    /// The rule for a call, or the reason why it has none.
    pub fn rule(&self, id: NodeId) -> Result<Rule, String> {
        let node = self.graph.node(id);
        let Some((op, params)) = node.call() else { return Err("a variable".into()) };
        let rule = match op.name {
            "Convolution" => {
                let params: &ConvolutionParams = params.get();
                if params.is_channels_last() {
                    return Err("channels are the last axis; quantized convolutions need them as the second".into());
                }
                Rule::must("_contrib_quantized_conv")
            }
            "FullyConnected" => Rule::must("_contrib_quantized_fully_connected"),
            "Pooling" => match params.get::<PoolingParams>().pool_type {
                PoolType::Max | PoolType::Avg => Rule::support("_contrib_quantized_pooling"),
                _ => return Err("only max and avg pooling have a quantized form".into()),
            },
            "Activation" => match params.get::<ActivationParams>().act_type {
                ActType::Relu => Rule::support("_contrib_quantized_act"),
                _ => return Err("only relu has a quantized form".into()),
            },
            "relu" => Rule::support("_contrib_quantized_act"),
            "Flatten" => Rule::support("_contrib_quantized_flatten"),
            "Concat" => match params.get::<ConcatParams>().dim {
                1.. => Rule::support("_contrib_quantized_concat"),
                _ => return Err("only a join along an axis after the first has a quantized form".into()),
            },
            "elemwise_add" => Rule { needs_requantize: true, ..Rule::support("_contrib_quantized_elemwise_add") },
            _ => return Err("no quantized form".into()),
        };
        for (position, input) in node.inputs.iter().enumerate() {
            let dtype = *self.dtypes.entry(self.graph.entry_id(*input));
            if dtype.is_some_and(|dtype| dtype != DType::F32) {
                return Err(format!("input {position} is not float32"));
            }
            let is_parameter = rule.n_activations == Activations::First && position > 0;
            let from = self.graph.node(input.node);
            if is_parameter && (!from.is_variable() || values(self.params, &from.name).is_none()) {
                return Err(format!("`{}` is not a float32 parameter", from.name));
            }
        }
        if self.ops.find(rule.op).is_none() {
            return Err(format!("{} is not in the catalog", rule.op));
        }
        Ok(rule)
    }
}
