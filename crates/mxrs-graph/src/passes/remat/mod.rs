//! Recomputation: the backward part reads clones of forward calls, so that the originals' outputs need not be kept
//! until then.
//!
//! Every strategy ([`first_recomputed`], [`mirror`], [`sqrt_segments`], [`chain_checkpoints`], [`within_budget`]) returns a
//! set of forward calls to *store*; [`recompute`] clones the other calls. A forward call is recomputed at most once,
//! together with everything that it needs. Its clone runs directly before the first gradient call that reads it, and waits
//! for the gradient call before that. If an operator can [recompute](mxrs_op::OpDef::recompute) its first output from its
//! other outputs, the other outputs are kept and only the first is recomputed.
//!
//! - G13 no value, gradient, auxiliary state or random number changes: a clone refers to its original
//!   ([`Node::clone_of`](crate::Node::clone_of)), so that the executor gives the clone the same random numbers and lets it
//!   rewrite nothing.
//! - G14 planned bytes never increase: [`recompute_if_smaller`] returns `None` if they would, and [`within_budget`] meets
//!   its budget or fails.

mod budget;
mod chain;
mod cuts;
mod light;
mod mirror;
mod sqrt;
#[cfg(test)]
mod tests;

pub use budget::within_budget;
pub use chain::chain_checkpoints;
pub use light::first_recomputed;
pub use mirror::{Mirroring, mirror};
pub use sqrt::sqrt_segments;

use super::names::UniqueNames;
use super::rewrite::Rewrite;
use crate::{Entry, Graph, Node, NodeId, TrainingGraph};
use mxrs_op::OpDef;
use mxrs_types::Result;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Lets the backward part read clones of the forward calls for which `is_stored` is false.
///
/// Always stored: outputs of the graph, which are alive anyway; calls with subgraphs; and calls that read a variable which
/// some call rewrites in training, because a clone would read the new content. A call that rewrites inputs itself may be
/// cloned. If its outputs depend on the old content of these inputs, the caller must store it. Tensors that a gradient call
/// reads only for their shape are not recomputed.
///
/// # Errors
/// Never fails for a graph from [`gradient`](crate::gradient()).
pub fn recompute(training: &TrainingGraph, is_stored: impl Fn(NodeId) -> bool) -> Result<TrainingGraph> {
    let must_store = must_store(training);
    let graph = &training.graph;
    let mut pass = Recompute {
        rewrite: Rewrite::of(graph),
        names: UniqueNames::of(graph),
        is_kept: kept_entries(training, |id| must_store[id.index()] || is_stored(id)),
        clones: vec![None; training.n_forward_nodes],
        recomputing: FxHashMap::default(),
        graph,
    };
    // The gradient call that was copied last.
    let mut before: Option<NodeId> = None;
    for (id, old) in graph.iter() {
        if id.index() == training.n_forward_nodes {
            pass.rewrite.end_forward();
        }
        let mut node = pass.rewrite.moved(old);
        if !training.is_forward(id) && !old.is_variable() {
            pass.clone_for(id, before)?;
            node.inputs = pass.inputs(old);
            before = Some(pass.rewrite.put(id, node));
        } else {
            pass.rewrite.put(id, node);
        }
    }
    if training.n_forward_nodes == graph.n_nodes() {
        pass.rewrite.end_forward();
    }
    let heads = graph.heads().iter().map(|h| pass.rewrite.entry(*h)).collect();
    training.after(pass.rewrite.finish(heads)?)
}

/// Calls [`recompute`] for each choice, and returns the result with the fewest planned bytes; of equal results, the first.
/// `None` if no choice has fewer bytes than the graph itself (G14).
///
/// # Errors
/// Fails if `planned_bytes` fails.
pub fn recompute_if_smaller(
    training: &TrainingGraph,
    choices: &[Vec<bool>],
    planned_bytes: impl Fn(&TrainingGraph) -> Result<usize>,
) -> Result<Option<TrainingGraph>> {
    let mut best: Option<(usize, TrainingGraph)> = None;
    for stored in choices {
        let less = recompute(training, |id| stored.get(id.index()).copied().unwrap_or(true))?;
        if n_clones(&less) == 0 {
            continue;
        }
        let bytes = planned_bytes(&less)?;
        if best.as_ref().is_none_or(|(fewest, _)| bytes < *fewest) {
            best = Some((bytes, less));
        }
    }
    let Some((after, less)) = best else { return Ok(None) };
    let before = planned_bytes(training)?;
    tracing::debug!("recomputing {} calls: {before} bytes planned become {after}", n_clones(&less));
    Ok((after < before).then_some(less))
}

fn n_clones(training: &TrainingGraph) -> usize {
    training.graph.nodes().iter().filter(|n| n.clone_of.is_some()).count()
}

/// The state of the pass.
struct Recompute<'g> {
    graph: &'g Graph,
    rewrite: Rewrite<'g>,
    names: UniqueNames,
    /// For each entry, whether gradient calls read the original entry instead of a clone's output.
    is_kept: Vec<bool>,
    /// For each forward node, the new id of its clone, if it has been cloned.
    clones: Vec<Option<NodeId>>,
    /// The operators that recompute first outputs, by the name of the original operator.
    recomputing: FxHashMap<&'static str, Arc<OpDef>>,
}

impl Recompute<'_> {
    /// The old nodes whose clones a call reads.
    fn cloned_inputs<'n>(&'n self, node: &'n Node) -> impl Iterator<Item = NodeId> + 'n {
        let is_cloned = |(position, e): (usize, &Entry)| {
            let kept = self.is_kept[self.graph.entry_id(*e).index()];
            (!kept && is_read(node, position)).then_some(e.node)
        };
        node.inputs.iter().enumerate().filter_map(is_cloned)
    }

    /// The new inputs of a gradient call or a clone.
    fn inputs(&self, old: &Node) -> Vec<Entry> {
        let input = |(position, e): (usize, &Entry)| {
            let clone = self.clones.get(e.node.index()).copied().flatten();
            match clone.filter(|_| is_read(old, position) && !self.is_kept[self.graph.entry_id(*e).index()]) {
                Some(node) => Entry { node, ..*e },
                None => self.rewrite.entry(*e),
            }
        };
        old.inputs.iter().enumerate().map(input).collect()
    }

    /// The operator that recomputes the first output of the call `node`, if there is one.
    fn recomputing(&mut self, node: &Node) -> Option<Arc<OpDef>> {
        let op = node.op.as_ref()?;
        let define = op.recompute?;
        Some(self.recomputing.entry(op.name).or_insert_with(|| Arc::new(define())).clone())
    }

    /// Makes the missing clones that the gradient call `reader` needs, directly or as inputs of other clones. They wait for
    /// `before`.
    fn clone_for(&mut self, reader: NodeId, before: Option<NodeId>) -> Result<()> {
        let mut missing: Vec<NodeId> = Vec::new();
        let mut stack = vec![reader];
        let mut is_missing = rustc_hash::FxHashSet::default();
        while let Some(id) = stack.pop() {
            for input in self.cloned_inputs(self.graph.node(id)) {
                if self.clones[input.index()].is_none() && is_missing.insert(input) {
                    missing.push(input);
                    stack.push(input);
                }
            }
        }
        missing.sort_unstable();
        for id in missing {
            let old = self.graph.node(id);
            let mut clone = Node {
                name: self.names.take(format!("{}_mirror", old.name)),
                inputs: self.inputs(old),
                control_deps: before.into_iter().collect(),
                ..old.clone()
            };
            if let Some(op) = self.recomputing(old) {
                let n_inputs = clone.inputs.len() - old.op.as_ref().map_or(0, |op| op.n_aux);
                clone.inputs.truncate(n_inputs);
                let others = (1..old.n_outputs as u32).map(|index| self.rewrite.entry(Entry::new(id, index)));
                clone.inputs.extend(others);
                clone.op = Some(op);
                [clone.n_outputs, clone.n_visible] = [1; 2];
            }
            let clone = self.rewrite.out.push(clone);
            self.rewrite.out.set_clone_of(clone, self.rewrite.id(id))?;
            self.clones[id.index()] = Some(clone);
        }
        Ok(())
    }
}

/// Whether the kernel reads the content of an input in training.
fn is_read(node: &Node, position: usize) -> bool {
    node.op.as_ref().is_none_or(|op| op.unread_inputs(true).all(|unread| unread != position))
}

/// For each entry, whether it is kept: all except outputs of forward calls that are neither stored nor heads.
fn kept_entries(training: &TrainingGraph, is_stored: impl Fn(NodeId) -> bool) -> Vec<bool> {
    let graph = &training.graph;
    let mut kept = vec![true; graph.n_entries()];
    for (id, node) in graph.iter().take(training.n_forward_nodes) {
        if !node.is_variable() && !is_stored(id) {
            // A recomputing operator reads the other outputs, so only the first output is not kept.
            let n_lost = if node.op.as_ref().is_some_and(|op| op.recompute.is_some()) { 1 } else { node.n_outputs };
            graph.output_ids(id).take(n_lost).for_each(|e| kept[e.index()] = false);
        }
    }
    for head in graph.heads() {
        kept[graph.entry_id(*head).index()] = true;
    }
    kept
}

/// For each forward node, whether a clone could give another result.
fn must_store(training: &TrainingGraph) -> Vec<bool> {
    let graph = &training.graph;
    let mut is_written = vec![false; graph.n_nodes()];
    let writes = |node: &Node, position: usize| {
        node.call().is_some_and(|(op, params)| (op.rewrites)(params, true).contains(&position))
    };
    for node in graph.nodes() {
        for (position, input) in node.inputs.iter().enumerate() {
            is_written[input.node.index()] |= writes(node, position);
        }
    }
    let must = |node: &Node| {
        let is_stale = |(position, e): (usize, &Entry)| {
            is_written[e.node.index()] && is_read(node, position) && !writes(node, position)
        };
        !node.subgraphs.is_empty() || node.inputs.iter().enumerate().any(is_stale)
    };
    graph.nodes()[..training.n_forward_nodes].iter().map(must).collect()
}
