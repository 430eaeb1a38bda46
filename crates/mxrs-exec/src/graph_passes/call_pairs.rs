//! Call pairs: a call and the activation that reads its output become one call of a training step, as [`mxrs_op::Pair`]
//! declares (batch normalization and ReLU).
//!
//! - Needs a training graph.
//! - Promises the same values. The activation and its gradient no longer need a separate pass over memory. The output
//!   of the first call is kept only if another call reads it. Both fused calls, that of the forward graph and that of
//!   the gradient, need a kernel other than the reference kernel.
//! - Switch: [`BindOptions::fuse`] (`MXNET_USE_FUSION`), on by default.

use crate::bind::Known;
use crate::costly::is_fast;
use crate::device::{backends_on, device_of};
use crate::options::BindOptions;
use crate::pipeline::{Context, GraphState};
use mxrs_graph::{CallPair, Graph, NodeId, join_pairs};
use mxrs_op::{OpCall, OpDef, Pair, TensorDesc};
use mxrs_types::Result;

/// Replaces each pair of calls by one call.
///
/// # Errors
/// Returns the errors of rebuilding the graph.
pub fn run(state: &GraphState, context: &Context<'_>) -> Result<Option<GraphState>> {
    let options = context.options;
    if !options.fuse || !context.is_train || state.gradients.is_empty() {
        return Ok(None);
    }
    let known = &state.typed(options)?.known;
    for both in options.ops.companions() {
        let Some(pair) = both.pair else { continue };
        let Ok(gradient) = options.ops.get(pair.gradient) else { continue };
        let accepts = |first: NodeId| is_faster(&state.graph.graph, first, [both, gradient], pair, known, options);
        let call_pair = CallPair { pair, both: both.clone(), gradient: gradient.clone() };
        if let Some(paired) = join_pairs(&state.graph, &call_pair, accepts)? {
            // The loop ends here, because only one kind of pair exists. To find a second kind in `paired`, shapes and types
            // of `paired` would be needed, and `known` describes only the old graph.
            return Ok(Some(state.with_graph(paired)));
        }
    }
    Ok(None)
}

/// Whether a backend other than the reference runs both fused calls that would replace the pair that starts with `first`.
fn is_faster(
    graph: &Graph,
    first: NodeId,
    [both, gradient]: [&OpDef; 2],
    pair: &Pair,
    known: &Known,
    options: &BindOptions,
) -> bool {
    let Some((_, params)) = graph.node(first).call() else { return false };
    let backends = backends_on(options, device_of(graph.node(first), options));
    let desc = |e: usize| TensorDesc::dense(known.shapes[e].clone(), known.dtypes[e]);
    let inputs: Vec<TensorDesc> = graph.input_ids(first).map(|e| desc(e.index())).collect();
    let mut outputs: Vec<TensorDesc> = graph.output_ids(first).map(|e| desc(e.index())).collect();
    let like = |positions: &[usize]| positions.iter().map(|i| inputs[*i].clone()).collect::<Vec<_>>();
    outputs.extend(like((both.rewrites)(params, true)));
    let runs = |op: &OpDef, inputs: &[TensorDesc], outputs: &[TensorDesc]| {
        let is_constant = vec![false; inputs.len()];
        let call = OpCall { op, params, inputs, outputs, is_constant: &is_constant, is_train: true };
        is_fast(&backends, &call)
    };
    runs(both, &inputs, &outputs) && runs(gradient, &like(pair.gradient_inputs), &like(pair.gradient_outputs))
}
