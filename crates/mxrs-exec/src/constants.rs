//! Which calls of a graph give the same in every run.

use crate::lower::{Bound, Source};
use mxrs_graph::{Graph, NodeId, constant_nodes};
use rustc_hash::FxHashMap;

/// Per node, whether its outputs are computed when constants change and not in every run: at inference, where they
/// depend on constants only, and something else changes from run to run.
pub fn folded(source: &Source<'_>) -> Vec<bool> {
    if source.is_train || source.bound.values().all(|bound| bound.is_constant) {
        return vec![false; source.graph.n_nodes()];
    }
    constants(source.graph, source.bound)
}

/// Per node, whether its outputs are the same in every run for inference: bound constants that no call rewrites, and calls
/// that depend on nothing else.
pub fn constants(graph: &Graph, bound: &FxHashMap<NodeId, Bound>) -> Vec<bool> {
    let mut is_rewritten = vec![false; graph.n_nodes()];
    for node in graph.nodes() {
        let Some((op, params)) = node.call() else { continue };
        (op.rewrites)(params, false).iter().for_each(|i| is_rewritten[node.inputs[*i].node.index()] = true);
    }
    let is_constant = |id: NodeId| bound.get(&id).is_some_and(|b| b.is_constant) && !is_rewritten[id.index()];
    constant_nodes(graph, false, is_constant)
}
