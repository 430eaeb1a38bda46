//! Constant folding: which calls give the same result in every run.

use crate::lower::{Bound, Source};
use mxrs_graph::{Graph, NodeId, constant_nodes};
use rustc_hash::FxHashMap;

/// For each node, whether it is folded: computed once after constants changed, instead of in every run. At inference a call
/// is folded if it depends on constants only. Nothing is folded if all variables are constants, because then every run would
/// compute nothing.
pub fn folded_nodes(source: &Source<'_>) -> Vec<bool> {
    if source.is_train || source.bound.values().all(|bound| bound.is_constant) {
        return vec![false; source.graph.n_nodes()];
    }
    constants(source.graph, source.bound)
}

/// For each node, whether its outputs are the same in every inference run. That is so for constants that no call writes to,
/// and for calls that depend on such nodes only.
pub fn constants(graph: &Graph, bound: &FxHashMap<NodeId, Bound>) -> Vec<bool> {
    let mut is_rewritten = vec![false; graph.n_nodes()];
    for node in graph.nodes() {
        let Some((op, params)) = node.call() else { continue };
        (op.rewrites)(params, false).iter().for_each(|i| is_rewritten[node.inputs[*i].node.index()] = true);
    }
    let is_constant = |id: NodeId| bound.get(&id).is_some_and(|b| b.is_constant) && !is_rewritten[id.index()];
    constant_nodes(graph, false, is_constant)
}
