//! Batch normalisation and the relu behind it as one call of a training step, where a backend other than the reference has
//! kernels for it.
//!
//! The relu and its gradient are no passes over memory of their own then, and the relu's output is kept for other readers
//! only.

use crate::bind::Known;
use crate::options::BindOptions;
use mxrs_graph::{CallPair, GradientGraph, Node, NodeId, join_pairs};
use mxrs_op::{OpCall, OpDef, Support, TensorDesc};
use mxrs_types::Result;

/// Operators of both calls, and of their gradients.
const BOTH: [&str; 2] = ["_bn_relu", "_backward_bn_relu"];
/// Inputs of the gradient: the output's gradient, data, gamma, beta, mean, inverse deviation; each is like this input of the
/// forward call, or like this output.
const GRADIENT_INPUTS: [usize; 6] = [0, 0, 1, 2, 1, 1];
/// And its outputs.
const GRADIENT_OUTPUTS: [usize; 3] = [0, 1, 2];

/// The graph with pairs as one call each, `None` where it stays as it is. `forward` describes the entries of the forward part.
///
/// # Errors
/// None that a graph from [`mxrs_graph::gradient`] causes.
pub fn with_pairs(
    joined: &GradientGraph,
    forward: &Known,
    options: &BindOptions,
    is_train: bool,
) -> Result<Option<GradientGraph>> {
    let [Ok(both), Ok(gradient)] = BOTH.map(|name| options.ops.get(name)) else { return Ok(None) };
    if !options.fuse || !is_train {
        return Ok(None);
    }
    let is_relu = |node: &Node| match node.op_name() {
        "relu" => true,
        "Activation" => node.attrs.get("act_type") == Some("relu"),
        _ => false,
    };
    let graph = &joined.graph;
    let accepts = |first: NodeId| {
        let node = graph.node(first);
        let Some((_, params)) = node.call() else { return false };
        let desc = |e: usize| TensorDesc::dense(forward.shapes[e].clone(), forward.dtypes[e]);
        let inputs: Vec<TensorDesc> = graph.input_ids(first).map(|e| desc(e.index())).collect();
        let mut outputs: Vec<TensorDesc> = graph.output_ids(first).map(|e| desc(e.index())).collect();
        let to_gradient = GRADIENT_INPUTS.map(|i| inputs[i].clone());
        let of_gradient = GRADIENT_OUTPUTS.map(|i| inputs[i].clone());
        outputs.extend((both.rewrites)(params, is_train).iter().map(|i| inputs[*i].clone()));
        let runs = |op: &OpDef, inputs: &[TensorDesc], outputs: &[TensorDesc]| {
            let is_constant = vec![false; inputs.len()];
            let call = OpCall { op, params, inputs, outputs, is_constant: &is_constant, is_train };
            let is_fast = |s: Support| matches!(s, Support::Yes { cost } if cost < Support::REFERENCE_COST);
            options.backends.iter().any(|backend| is_fast(backend.supports(&call)))
        };
        runs(both, &inputs, &outputs) && runs(gradient, &to_gradient, &of_gradient)
    };
    let pair = CallPair {
        is_first: &|node| node.op_name() == "BatchNorm" && node.n_visible == 1,
        is_second: &is_relu,
        second_gradients: &["_backward_relu", "_backward_Activation"],
        first_gradient: "_backward_BatchNorm",
        kept_inputs: &[0, 1, 2],
        both: both.clone(),
        gradient: gradient.clone(),
    };
    join_pairs(joined, &pair, accepts)
}
