//! The calls that `MXNET_BACKWARD_DO_MIRROR` recomputes: cheap ones, selected by operator, if that saves bytes.

use super::{is_read, must_store};
use crate::{Node, NodeId, TrainingGraph};

/// Whether calls of an operator are recomputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirroring {
    /// Never recomputed, even if forced (`Dropout`).
    Never,
    /// Stored, unless `__force_mirroring__` requests recomputation (`Convolution`, `FullyConnected`, `Concat`,
    /// `SoftmaxOutput`).
    Stored,
    /// Recomputed, unless `__force_mirroring__` forbids it.
    Candidate,
}

/// Chooses the forward calls to store, as one flag per forward node:
/// - calls that are not candidates by `rule`. The annotation `__force_mirroring__` of a call (`1`, `True`, `0`, `False`)
///   overrides the rule, except [`Mirroring::Never`];
/// - candidates whose outputs take no more bytes than the values that would have to be kept to recompute them. So of a
///   convolution and the relu after it, one output is kept.
///
/// The annotation works even if `MXNET_BACKWARD_DO_MIRROR` is off: in this case the caller passes a rule without candidates.
/// `bytes` are the bytes of a call's outputs.
pub fn mirror(
    training: &TrainingGraph,
    rule: impl Fn(&Node) -> Mirroring,
    bytes: impl Fn(NodeId) -> usize,
) -> Vec<bool> {
    let choose = |node: &Node| {
        let forced = node.attrs.get("__force_mirroring__").map(|text| matches!(text, "1" | "True" | "true"));
        match (rule(node), forced) {
            (Mirroring::Never, _) | (_, Some(false)) => (true, false),
            (_, Some(true)) => (false, true),
            (rule, None) => (rule == Mirroring::Stored, false),
        }
    };
    let (stored, forced): (Vec<bool>, Vec<bool>) =
        training.graph.nodes()[..training.n_forward_nodes].iter().map(choose).unzip();
    let mut frontier = Frontier::new(training, stored, &bytes);
    while frontier.advance(&forced) {}
    frontier.stored
}

/// The choice of stored and recomputed calls, which [`Self::advance`] improves step by step.
struct Frontier<'g, B> {
    training: &'g TrainingGraph,
    bytes: B,
    /// For each forward node, whether it is stored.
    stored: Vec<bool>,
    /// For each forward node, whether it is always stored: it is a head, or a clone could give another result.
    is_fixed: Vec<bool>,
    /// For each forward node, whether a gradient call reads an output of it.
    is_kept: Vec<bool>,
}

impl<'g, B: Fn(NodeId) -> usize> Frontier<'g, B> {
    fn new(training: &'g TrainingGraph, stored: Vec<bool>, bytes: B) -> Self {
        let mut is_fixed = must_store(training);
        training.forward_heads().iter().for_each(|head| is_fixed[head.node.index()] = true);
        let is_kept =
            (0..training.n_forward_nodes).map(|i| readers(training, NodeId::new(i)).any(|r| !training.is_forward(r)));
        Self { training, bytes, stored, is_kept: is_kept.collect(), is_fixed }
    }

    fn is_recomputed(&self, id: NodeId) -> bool {
        !self.stored[id.index()] && !self.is_fixed[id.index()] && !self.training.graph.node(id).is_variable()
    }

    /// For each forward node, whether it would be cloned.
    fn clones(&self) -> Vec<bool> {
        let mut clones = vec![false; self.training.n_forward_nodes];
        for id in (0..self.training.n_forward_nodes).rev().map(NodeId::new) {
            let is_wanted = |r: NodeId| !self.training.is_forward(r) || clones[r.index()];
            clones[id.index()] = self.is_recomputed(id) && readers(self.training, id).any(is_wanted);
        }
        clones
    }

    /// Finds groups of calls whose clones read common values that are kept only for clones. Stores the calls of a group,
    /// instead of those values, if that frees at least as many bytes as it takes. Returns whether such a group was found.
    fn advance(&mut self, forced: &[bool]) -> bool {
        let clones = self.clones();
        // A group that shares a call with a group stored in this pass is skipped. The next call of this function considers
        // it again, with the new choice.
        let mut is_settled = vec![false; self.training.n_forward_nodes];
        let mut has_advanced = false;
        for source in (0..self.training.n_forward_nodes).map(NodeId::new) {
            if !self.is_kept_for_clones(source) {
                continue;
            }
            let mut group: Vec<NodeId> = cloned_readers(self.training, source, &clones).collect();
            group.sort_unstable();
            group.dedup();
            let sources = self.sources(&group);
            let is_open = |id: &NodeId| !forced[id.index()] && !is_settled[id.index()];
            if group.is_empty() || !group.iter().chain(&sources).all(is_open) {
                continue;
            }
            let is_freed = |id: &&NodeId| cloned_readers(self.training, **id, &clones).all(|r| group.contains(&r));
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

    /// Whether the outputs of the call are kept only because clones read them.
    fn is_kept_for_clones(&self, id: NodeId) -> bool {
        let i = id.index();
        !self.training.graph.node(id).is_variable() && !self.is_kept[i] && !self.is_fixed[i] && self.stored[i]
    }

    /// The calls whose outputs are kept only for clones and are read by a call of `group`.
    fn sources(&self, group: &[NodeId]) -> Vec<NodeId> {
        let graph = &self.training.graph;
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

/// The calls that read the content of an output of call `id`.
fn readers(training: &TrainingGraph, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let graph = &training.graph;
    let all = graph.output_ids(id).flat_map(|entry| graph.consumers(entry));
    all.filter(|(reader, input)| is_read(graph.node(*reader), *input as usize)).map(|(reader, _)| *reader)
}

fn cloned_readers<'a>(
    training: &'a TrainingGraph,
    id: NodeId,
    clones: &'a [bool],
) -> impl Iterator<Item = NodeId> + 'a {
    readers(training, id).filter(|r| training.is_forward(*r) && clones[r.index()])
}
