//! A call and the activation behind it as one call of a training step, as [`mxrs_op::Pair`] says of an operator, where a backend
//! other than the reference has kernels for it: batch normalization and relu.
//!
//! The activation and its gradient are no passes over memory of their own then, and its output is kept for other readers
//! only.

use crate::bind::Known;
use crate::options::BindOptions;
use mxrs_graph::{CallPair, GradientGraph, Graph, NodeId, join_pairs};
use mxrs_op::{OpCall, OpDef, Pair, Support, TensorDesc};
use mxrs_types::Result;

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
    if !options.fuse || !is_train {
        return Ok(None);
    }
    for both in options.ops.companions() {
        let Some(pair) = both.pair else { continue };
        let Ok(gradient) = options.ops.get(pair.gradient) else { continue };
        let accepts = |first: NodeId| is_faster(&joined.graph, first, [both, gradient], pair, forward, options);
        let call_pair = CallPair { pair, both: both.clone(), gradient: gradient.clone() };
        if let Some(paired) = join_pairs(joined, &call_pair, accepts)? {
            // One kind is all there is; a second would look at `paired`, whose entries `forward` does not describe.
            return Ok(Some(paired));
        }
    }
    Ok(None)
}

/// Whether a backend other than the reference runs both calls that would be, for this first call of a pair.
fn is_faster(
    graph: &Graph,
    first: NodeId,
    [both, gradient]: [&OpDef; 2],
    pair: &Pair,
    forward: &Known,
    options: &BindOptions,
) -> bool {
    let Some((_, params)) = graph.node(first).call() else { return false };
    let desc = |e: usize| TensorDesc::dense(forward.shapes[e].clone(), forward.dtypes[e]);
    let inputs: Vec<TensorDesc> = graph.input_ids(first).map(|e| desc(e.index())).collect();
    let mut outputs: Vec<TensorDesc> = graph.output_ids(first).map(|e| desc(e.index())).collect();
    let like = |positions: &[usize]| positions.iter().map(|i| inputs[*i].clone()).collect::<Vec<_>>();
    outputs.extend(like((both.rewrites)(params, true)));
    let runs = |op: &OpDef, inputs: &[TensorDesc], outputs: &[TensorDesc]| {
        let is_constant = vec![false; inputs.len()];
        let call = OpCall { op, params, inputs, outputs, is_constant: &is_constant, is_train: true };
        let is_fast = |s: Support| matches!(s, Support::Yes { cost } if cost < Support::REFERENCE_COST);
        options.backends.iter().any(|backend| is_fast(backend.supports(&call)))
    };
    runs(both, &inputs, &outputs) && runs(gradient, &like(pair.gradient_inputs), &like(pair.gradient_outputs))
}
