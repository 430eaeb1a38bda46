//! Fuses two calls of a training graph, forward and backward: a call and the activation after it.
//!
//! For two calls `a → first → second → b`, the training graph contains `b = second(first(a))` and the gradients
//! `first'(second'(g, b), …)`, where `g` is the gradient of `b`. They become `b = both(a)` and `both'(g, …)`. Then the
//! output of `first` is no longer kept, and the gradient reads neither this output nor `b`.

#[cfg(test)]
mod tests;

use super::rewrite::Rewrite;
use crate::{Entry, Node, NodeId, TrainingGraph};
use mxrs_op::{OpDef, Pair};
use mxrs_types::Result;
use std::sync::Arc;

/// The calls to fuse, and their replacement.
pub struct CallPair<'a> {
    /// The pair of calls.
    pub pair: &'a Pair,
    /// The operator that replaces both calls.
    pub both: Arc<OpDef>,
    /// The gradient of the operator `both`.
    pub gradient: Arc<OpDef>,
}

/// A pair of calls in the graph, with its gradients.
#[derive(Clone, Copy)]
struct Found {
    first: NodeId,
    second: NodeId,
    /// The gradient of the second call, followed by that of the first.
    gradients: [NodeId; 2],
}

/// Fuses all pairs for whose first call `accepts` returns true; `None` if there are none. A pair is not fused if another
/// node reads the first call's result, or if one of its calls has the annotation `__force_mirroring__`. The new call has the
/// name of the second call.
///
/// # Errors
/// Never fails for a graph from [`gradient`](crate::gradient()).
pub fn join_pairs(
    training: &TrainingGraph,
    calls: &CallPair<'_>,
    accepts: impl Fn(NodeId) -> bool,
) -> Result<Option<TrainingGraph>> {
    let (graph, pair) = (&training.graph, calls.pair);
    let waited_for: Vec<NodeId> = graph.nodes().iter().flat_map(|n| n.control_deps.iter().copied()).collect();
    let is_waited_for = |found: &Found| waited_for.iter().any(|id| [found.first, found.gradients[0]].contains(id));
    let found: Vec<Found> = (0..training.n_forward_nodes)
        .filter_map(|i| find(training, pair, NodeId::new(i)))
        .filter(|found| !is_waited_for(found) && accepts(found.first))
        .collect();
    if found.is_empty() {
        return Ok(None);
    }
    // For each node, the pair to which it belongs.
    let mut pair_of: Vec<Option<Found>> = vec![None; graph.n_nodes()];
    for found in &found {
        [found.first, found.second].iter().chain(&found.gradients).for_each(|id| pair_of[id.index()] = Some(*found));
    }
    let mut rewrite = Rewrite::of(graph);
    for (id, old) in graph.iter() {
        if id.index() == training.n_forward_nodes {
            rewrite.end_forward();
        }
        let Some(found) = pair_of[id.index()] else {
            let node = rewrite.moved(old);
            rewrite.put(id, node);
            continue;
        };
        let first = graph.node(found.first);
        if id == found.second {
            let both = Node {
                op: Some(calls.both.clone()),
                name: old.name.clone(),
                control_deps: rewrite.moved(old).control_deps,
                ..rewrite.moved(first)
            };
            let both = rewrite.put(id, both);
            // All later readers of the first call read the fused call instead.
            rewrite.merge(found.first, both);
        } else if id == found.gradients[1] {
            let ograd = graph.node(found.gradients[0]).inputs[0];
            let kept = pair.kept_inputs.iter().map(|i| first.inputs[*i]);
            let hidden = (1..first.n_outputs as u32).map(|index| Entry::new(found.first, index));
            let inputs = std::iter::once(ograd).chain(kept).chain(hidden).map(|e| rewrite.entry(e)).collect();
            let gradient = Node { op: Some(calls.gradient.clone()), inputs, ..rewrite.moved(old) };
            rewrite.put(id, gradient);
        }
    }
    if training.n_forward_nodes == graph.n_nodes() {
        rewrite.end_forward();
    }
    let heads = graph.heads().iter().map(|h| rewrite.entry(*h)).collect();
    training.after(rewrite.finish(heads)?).map(Some)
}

/// Finds the pair that begins with node `first`.
fn find(training: &TrainingGraph, pair: &Pair, first: NodeId) -> Option<Found> {
    let graph = &training.graph;
    let node = graph.node(first);
    let is_plain = |node: &Node| {
        node.control_deps.is_empty()
            && node.subgraphs.is_empty()
            && node.clone_of.is_none()
            && node.attrs.get("__force_mirroring__").is_none()
    };
    // Returns the only reader of an entry, and the position of the input by which it reads the entry. `None` if there are
    // several readers or the entry is a head.
    let only_reader = |e: Entry| {
        let entry = graph.entry_id(e);
        let is_head = graph.heads().contains(&e) || training.wanted.contains(&e);
        match graph.consumers(entry) {
            [(reader, input)] if !is_head => Some((*reader, *input)),
            _ => None,
        }
    };
    if node.is_variable() || node.op_name() != pair.first || node.n_visible != 1 || !is_plain(node) {
        return None;
    }
    let (second, _) = only_reader(Entry::new(first, 0))?;
    let activation = graph.node(second);
    let is_second = training.is_forward(second)
        && (pair.is_second)(activation.op_name(), &activation.attrs)
        && activation.inputs.len() == 1;
    if !is_second || !is_plain(activation) || activation.n_outputs != 1 {
        return None;
    }
    // The only reader of the first hidden output must be the gradient of the first call.
    let hidden: Vec<Entry> = (1..node.n_outputs as u32).map(|index| Entry::new(first, index)).collect();
    let readers: Vec<(NodeId, u32)> = hidden.iter().map(|e| only_reader(*e)).collect::<Option<_>>()?;
    let of_first = readers.first()?.0;
    let gradient = graph.node(of_first);
    let reads_hidden = gradient.inputs.len() > hidden.len() && gradient.inputs.ends_with(&hidden);
    if training.is_forward(of_first)
        || gradient.op_name() != pair.first_gradient
        || !reads_hidden
        || !is_plain(gradient)
    {
        return None;
    }
    let of_second = gradient.inputs[0].node;
    let activation_gradient = graph.node(of_second);
    let is_its = pair.second_gradients.contains(&activation_gradient.op_name())
        && !training.is_forward(of_second)
        && is_plain(activation_gradient)
        && activation_gradient.inputs.get(1) == Some(&Entry::new(second, 0));
    let is_alone = only_reader(Entry::new(of_second, 0)) == Some((of_first, 0));
    (is_its && is_alone).then_some(Found { first, second, gradients: [of_second, of_first] })
}
