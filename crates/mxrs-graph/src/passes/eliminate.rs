//! Common-subexpression elimination: of calls that compute the same value, one remains.
//!
//! The pass walks once in id order, with a table of the calls seen so far. The inputs of a call are merged before the call
//! is looked up, so one walk finds all equal calls. Two calls are the same if operator, parsed parameters, `__ctx_group__`,
//! device and inputs are equal; `lr_mult`, profiler scopes and other annotations are ignored. Never merged: variables, calls
//! that draw random numbers, rewrite inputs or run code of the program in training or at inference, calls with subgraphs, recomputing clones, and
//! `_copy` calls that are heads, which keep two outputs distinct. A call that has to wait for a node after the equal call is
//! not merged either, because merging could close a cycle.
//!
//! Invariants: G16 a second run changes nothing; G17 outputs keep their order and values; G18 no two calls are left
//! that could be merged.

use super::names::UniqueNames;
use super::rewrite::{Rewrite, Rewritten};
use crate::{Entry, Graph, Node, NodeId, TrainingGraph};
use mxrs_op::{Attrs, OpSet};
use mxrs_types::{Device, Result};
use rustc_hash::{FxHashMap, FxHashSet};

/// The properties that two calls must have in common.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    op: &'static str,
    params: String,
    group: Option<String>,
    device: Option<Device>,
    inputs: Vec<Entry>,
}

impl Key {
    /// The key of a call whose inputs are already merged; `None` if it is never merged.
    fn of(node: &Node, is_head: bool) -> Option<Self> {
        let (op, params) = node.call()?;
        let has_effect = [false, true].into_iter().any(|is_train| op.has_effect(params, is_train));
        let stays = has_effect || !node.subgraphs.is_empty() || node.clone_of.is_some();
        if stays || (is_head && op.name == "_copy") {
            return None;
        }
        Some(Self {
            op: op.name,
            // The text of the parsed parameters contains every field, and floats exactly.
            params: format!("{params:?}"),
            group: node.attrs.get("__ctx_group__").map(String::from),
            device: node.device,
            inputs: node.inputs.clone(),
        })
    }
}

/// Merges common subexpressions. If two different outputs of the graph are merged into one, the later output becomes a
/// `_copy` of the other.
///
/// # Errors
/// Fails if a `_copy` is needed and `ops` does not contain this operator.
pub fn eliminate_common(graph: &Graph, ops: &OpSet) -> Result<Graph> {
    Ok(run(graph, ops, graph.n_nodes(), graph.heads().len())?.graph)
}

impl TrainingGraph {
    /// Merges common subexpressions of a training graph, as the function [`eliminate_common`] does for other graphs. A
    /// forward call may replace a call of the gradient, but never the reverse (G3).
    ///
    /// # Errors
    /// Fails in the same cases as the function [`eliminate_common`].
    pub fn eliminate_common(&self, ops: &OpSet) -> Result<Self> {
        self.after(run(&self.graph, ops, self.n_forward_nodes, self.n_forward_heads)?)
    }
}

fn run(graph: &Graph, ops: &OpSet, n_forward_nodes: usize, n_forward_heads: usize) -> Result<Rewritten> {
    let mut is_head = vec![false; graph.n_nodes()];
    graph.heads().iter().for_each(|h| is_head[h.node.index()] = true);
    let mut rewrite = Rewrite::of(graph);
    let mut outputs = Outputs::new(graph, ops);
    let mut seen: FxHashMap<Key, Vec<NodeId>> = FxHashMap::default();
    for (id, old) in graph.iter() {
        if id.index() == n_forward_nodes {
            outputs.end_forward(&mut rewrite, n_forward_heads)?;
        }
        let node = rewrite.moved(old);
        let Some(key) = Key::of(&node, is_head[id.index()]) else {
            rewrite.put(id, node);
            continue;
        };
        let twins = seen.entry(key).or_default();
        // A twin is an earlier, equal call. If the current call waits for a node before the twin, the twin can wait for this
        // node instead. If it waits for the twin itself, nothing remains to be waited for.
        let twin = twins.iter().copied().find(|twin| node.control_deps.iter().all(|dep| dep <= twin));
        match twin {
            None => twins.push(rewrite.put(id, node)),
            Some(twin) => {
                let has = |dep: NodeId| rewrite.out.node(twin).is_some_and(|t| t.control_deps.contains(&dep));
                let more: Vec<NodeId> =
                    node.control_deps.iter().copied().filter(|dep| *dep != twin && !has(*dep)).collect();
                rewrite.out.add_control_deps(twin, &more)?;
                rewrite.merge(id, twin);
            }
        }
    }
    if n_forward_nodes == graph.n_nodes() {
        outputs.end_forward(&mut rewrite, n_forward_heads)?;
    }
    outputs.add(&mut rewrite, &graph.heads()[n_forward_heads..])?;
    rewrite.finish(outputs.heads)
}

/// Collects the heads of the new graph.
struct Outputs<'g> {
    graph: &'g Graph,
    ops: &'g OpSet,
    names: UniqueNames,
    heads: Vec<Entry>,
    /// The new entries that are already heads.
    taken: FxHashSet<Entry>,
    of_old: FxHashMap<Entry, Entry>,
    named: FxHashSet<NodeId>,
}

impl<'g> Outputs<'g> {
    fn new(graph: &'g Graph, ops: &'g OpSet) -> Self {
        Self {
            graph,
            ops,
            names: UniqueNames::of(graph),
            heads: Vec::with_capacity(graph.heads().len()),
            taken: FxHashSet::default(),
            of_old: FxHashMap::default(),
            named: FxHashSet::default(),
        }
    }

    fn end_forward(&mut self, rewrite: &mut Rewrite<'_>, n_heads: usize) -> Result<()> {
        self.add(rewrite, &self.graph.heads()[..n_heads])?;
        rewrite.end_forward();
        Ok(())
    }

    fn add(&mut self, rewrite: &mut Rewrite<'_>, olds: &[Entry]) -> Result<()> {
        for old in olds {
            let new = match self.of_old.get(old) {
                Some(same) => *same,
                None => {
                    let merged = rewrite.entry(*old);
                    let is_own = self.taken.insert(merged);
                    if is_own { merged } else { Entry::new(self.copy(rewrite, *old, merged)?, 0) }
                }
            };
            self.of_old.insert(*old, new);
            self.heads.push(new);
        }
        Ok(())
    }

    /// Adds a `_copy` call that reads `from` and has the name of the removed node `old`, if no other node has taken that name.
    fn copy(&mut self, rewrite: &mut Rewrite<'_>, old: Entry, from: Entry) -> Result<NodeId> {
        let gone = self.graph.node(old.node);
        let name = gone.name.clone();
        let name = if self.named.insert(old.node) { name } else { self.names.take(name) };
        let group = gone.attrs.get("__ctx_group__").map(|g| ("__ctx_group__", g));
        let copy =
            rewrite.out.add_op(self.ops.get("_copy")?, name, group.into_iter().collect::<Attrs>(), vec![from])?;
        if let Some(forward) = gone.backward_of {
            rewrite.out.set_backward_of(copy, rewrite.id(forward))?;
        }
        rewrite.out.set_device(copy, gone.device)?;
        Ok(copy)
    }
}

#[cfg(test)]
mod tests;
