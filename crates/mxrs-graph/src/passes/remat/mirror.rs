//! Which calls `MXNET_BACKWARD_DO_MIRROR` computes again: cheap ones, by a rule over operators, where that saves bytes.

use super::{is_read, must_store};
use crate::{GradientGraph, Node, NodeId};

/// What a rule says of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirroring {
    /// Never computed again, even when forced (`Dropout`).
    Never,
    /// Stored, unless `__force_mirroring__` is set (`Convolution`, `FullyConnected`, `Concat`, `SoftmaxOutput`).
    Stored,
    /// Computed again, unless `__force_mirroring__` denies it.
    Candidate,
}

/// The forward calls to store, per forward node: those that `rule` does not call candidates, corrected by the
/// `__force_mirroring__` annotation of each call (`1`, `True`, `0`, `False`); and of the candidates those that cost no more
/// bytes than what would have to be kept to compute them again (a relu behind a convolution: one of the two is kept).
///
/// Forcing works whether or not candidates are wanted: with the switch off, give a rule without any. `bytes` are those of a
/// call's outputs.
pub fn mirror(joined: &GradientGraph, rule: impl Fn(&Node) -> Mirroring, bytes: impl Fn(NodeId) -> usize) -> Vec<bool> {
    let choose = |node: &Node| {
        let forced = node.attrs.get("__force_mirroring__").map(|text| matches!(text, "1" | "True" | "true"));
        match (rule(node), forced) {
            (Mirroring::Never, _) | (_, Some(false)) => (true, false),
            (_, Some(true)) => (false, true),
            (rule, None) => (rule == Mirroring::Stored, false),
        }
    };
    let (stored, forced): (Vec<bool>, Vec<bool>) =
        joined.graph.nodes()[..joined.n_forward_nodes].iter().map(choose).unzip();
    let mut frontier = Frontier::new(joined, stored, &bytes);
    while frontier.advance(&forced) {}
    frontier.stored
}

/// Where what is stored meets what is computed again.
struct Frontier<'g, B> {
    joined: &'g GradientGraph,
    bytes: B,
    /// As chosen so far.
    stored: Vec<bool>,
    /// Stored whatever is chosen: outputs of the graph, and what a clone could get wrong.
    is_fixed: Vec<bool>,
    /// Whether a gradient call reads it.
    is_kept: Vec<bool>,
}

impl<'g, B: Fn(NodeId) -> usize> Frontier<'g, B> {
    fn new(joined: &'g GradientGraph, stored: Vec<bool>, bytes: B) -> Self {
        let mut is_fixed = must_store(joined);
        joined.forward_heads().iter().for_each(|head| is_fixed[head.node.index()] = true);
        let is_kept =
            (0..joined.n_forward_nodes).map(|i| readers(joined, NodeId::new(i)).any(|r| !joined.is_forward(r)));
        Self { joined, bytes, stored, is_kept: is_kept.collect(), is_fixed }
    }

    fn is_again(&self, id: NodeId) -> bool {
        !self.stored[id.index()] && !self.is_fixed[id.index()] && !self.joined.graph.node(id).is_variable()
    }

    /// Per forward node, whether a clone of it would be made.
    fn clones(&self) -> Vec<bool> {
        let mut clones = vec![false; self.joined.n_forward_nodes];
        for id in (0..self.joined.n_forward_nodes).rev().map(NodeId::new) {
            let is_wanted = |r: NodeId| !self.joined.is_forward(r) || clones[r.index()];
            clones[id.index()] = self.is_again(id) && readers(self.joined, id).any(is_wanted);
        }
        clones
    }

    /// Stores every group of calls that share what is kept for their clones alone, where that frees as much as it takes;
    /// whether there was any.
    fn advance(&mut self, forced: &[bool]) -> bool {
        let clones = self.clones();
        // A group next to one that was just stored waits for the next round.
        let mut is_settled = vec![false; self.joined.n_forward_nodes];
        let mut has_advanced = false;
        for source in (0..self.joined.n_forward_nodes).map(NodeId::new) {
            if !self.is_kept_for_clones(source) {
                continue;
            }
            let mut group: Vec<NodeId> = cloned_readers(self.joined, source, &clones).collect();
            group.sort_unstable();
            group.dedup();
            let sources = self.sources(&group);
            let is_open = |id: &NodeId| !forced[id.index()] && !is_settled[id.index()];
            if group.is_empty() || !group.iter().chain(&sources).all(is_open) {
                continue;
            }
            let is_freed = |id: &&NodeId| cloned_readers(self.joined, **id, &clones).all(|r| group.contains(&r));
            let freed: usize = sources.iter().filter(is_freed).map(|id| (self.bytes)(*id)).sum();
            let taken: usize = group.iter().map(|id| (self.bytes)(*id)).sum();
            if freed >= taken {
                for id in group.iter().chain(&sources) {
                    is_settled[id.index()] = true;
                }
                group.iter().for_each(|id| self.stored[id.index()] = true);
                has_advanced = true;
            }
        }
        has_advanced
    }

    /// Whether it is kept, and clones alone read it.
    fn is_kept_for_clones(&self, id: NodeId) -> bool {
        let i = id.index();
        !self.joined.graph.node(id).is_variable() && !self.is_kept[i] && !self.is_fixed[i] && self.stored[i]
    }

    /// The calls kept for clones alone that the group reads.
    fn sources(&self, group: &[NodeId]) -> Vec<NodeId> {
        let graph = &self.joined.graph;
        let inputs = group.iter().flat_map(|id| {
            let node = graph.node(*id);
            node.inputs.iter().enumerate().filter(|(position, _)| is_read(node, *position)).map(|(_, e)| e.node)
        });
        let mut sources: Vec<NodeId> = inputs.filter(|id| self.is_kept_for_clones(*id)).collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }
}

/// The calls that read the content of an output of this one.
fn readers(joined: &GradientGraph, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let graph = &joined.graph;
    let all = graph.output_ids(id).flat_map(|entry| graph.consumers(entry));
    all.filter(|(reader, input)| is_read(graph.node(*reader), *input as usize)).map(|(reader, _)| *reader)
}

fn cloned_readers<'a>(joined: &'a GradientGraph, id: NodeId, clones: &'a [bool]) -> impl Iterator<Item = NodeId> + 'a {
    readers(joined, id).filter(|r| joined.is_forward(*r) && clones[r.index()])
}
