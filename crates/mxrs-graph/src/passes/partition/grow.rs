//! Finds the chain of calls that matches a pattern, from its first call (the seed) on.

use super::Partitioning;
use crate::{Graph, Node, NodeId};
use mxrs_op::{Member, Pattern, Stage, TensorDesc};
use mxrs_types::Device;

/// One call of a chain.
#[derive(Clone, Debug)]
pub struct ChainCall {
    pub id: NodeId,
    /// The name of the pattern's stage that accepted the call.
    pub stage: &'static str,
    /// The position of the input by which the call reads the previous call.
    pub entered_by: usize,
    inputs: Vec<TensorDesc>,
    outputs: Vec<TensorDesc>,
    is_constant: Vec<bool>,
    /// Pairs (position of an input of this call, index of the output of the previous call that it reads).
    reads: Vec<(usize, usize)>,
    /// For each output, whether a call reads it or it is a head.
    pub is_read: Vec<bool>,
}

impl ChainCall {
    fn new(
        graph: &Graph,
        with: &Partitioning<'_>,
        id: NodeId,
        before: Option<NodeId>,
        stage: &Stage,
        entered_by: usize,
    ) -> Self {
        let inputs = graph.node(id).inputs.iter().enumerate();
        let reads = inputs.filter(|(_, e)| Some(e.node) == before).map(|(i, e)| (i, e.index as usize));
        let is_read = |e: crate::EntryId| {
            !graph.consumers(e).is_empty() || graph.heads().iter().any(|head| graph.entry_id(*head) == e)
        };
        Self {
            reads: reads.collect(),
            is_read: graph.output_ids(id).map(is_read).collect(),
            id,
            stage: stage.name,
            entered_by,
            inputs: graph.input_ids(id).map(|e| with.descs[e.index()].clone()).collect(),
            outputs: graph.output_ids(id).map(|e| with.descs[e.index()].clone()).collect(),
            is_constant: graph.node(id).inputs.iter().map(|e| with.is_constant[e.node.index()]).collect(),
        }
    }

    /// The call as patterns see it; `None` for a variable.
    pub fn member<'a>(&'a self, graph: &'a Graph) -> Option<Member<'a>> {
        let node = graph.node(self.id);
        let (op, params) = node.call()?;
        Some(Member {
            stage: self.stage,
            op,
            params,
            attrs: &node.attrs,
            inputs: &self.inputs,
            outputs: &self.outputs,
            is_constant: &self.is_constant,
            entered_by: self.entered_by,
            reads: &self.reads,
        })
    }
}

/// A list of calls, each of which reads the previous call.
pub struct Chain {
    pub calls: Vec<ChainCall>,
}

/// Searches for chains, and remembers which calls are already part of one.
pub struct Grower<'a> {
    graph: &'a Graph,
    with: &'a Partitioning<'a>,
    is_head: Vec<bool>,
    /// Whether some call waits for the node without reading it.
    is_waited_for: Vec<bool>,
    is_taken: Vec<bool>,
}

impl<'a> Grower<'a> {
    pub fn new(graph: &'a Graph, with: &'a Partitioning<'a>) -> Self {
        let mut is_head = vec![false; graph.n_entries()];
        graph.heads().iter().for_each(|head| is_head[graph.entry_id(*head).index()] = true);
        let mut is_waited_for = vec![false; graph.n_nodes()];
        let deps = graph.nodes().iter().flat_map(|node| &node.control_deps);
        deps.for_each(|dep| is_waited_for[dep.index()] = true);
        Self { graph, with, is_head, is_waited_for, is_taken: vec![false; graph.n_nodes()] }
    }

    /// The longest chain of calls that begins with `seed` and matches the pattern; `None` if it has fewer than two calls.
    pub fn grow(&self, pattern: &Pattern, seed: NodeId) -> Option<Chain> {
        let mut chain = Chain { calls: vec![self.accepted(&pattern.seed, &[], seed, 0)?] };
        let mut stages = pattern.then.iter();
        let mut last = seed;
        while let Some((next, position)) = self.only_reader(last) {
            let call = stages.find_map(|stage| self.accepted(stage, &chain.calls, next, position));
            let Some(call) = call else { break };
            chain.calls.push(call);
            last = next;
        }
        (chain.calls.len() > 1).then_some(chain)
    }

    /// Excludes the calls `members` from later chains.
    pub fn take(&mut self, members: &[NodeId]) {
        members.iter().for_each(|id| self.is_taken[id.index()] = true);
    }

    /// Call `id` as the next call of `chain`, if it matches `stage`.
    fn accepted(&self, stage: &Stage, chain: &[ChainCall], id: NodeId, position: usize) -> Option<ChainCall> {
        let node = self.graph.node(id);
        let can_stand = stage.ops.contains(&node.op_name())
            && (chain.is_empty() || stage.enters_by.contains(&position))
            && !self.is_taken[id.index()]
            && is_plain(node)
            && chain.first().is_none_or(|first| group(self.graph.node(first.id)) == group(node));
        if !can_stand {
            return None;
        }
        let last = chain.last().map(|call| call.id);
        let call = ChainCall::new(self.graph, self.with, id, last, stage, position);
        let before: Vec<Member<'_>> = chain.iter().filter_map(|c| c.member(self.graph)).collect();
        let accepts = (stage.accepts)(&before, &call.member(self.graph)?);
        accepts.then_some(call)
    }

    /// The only reader of the node's first output, and the position at which it reads this output. `None` if anything else
    /// uses the node.
    fn only_reader(&self, id: NodeId) -> Option<(NodeId, usize)> {
        let entry = self.graph.output_id(id, 0);
        let (reader, position) = match self.graph.consumers(entry) {
            &[only] => only,
            _ => return None,
        };
        let is_its_own = |e: crate::EntryId| {
            !self.is_head[e.index()] && self.graph.consumers(e).iter().all(|(other, _)| *other == reader)
        };
        let is_alone = !self.is_waited_for[id.index()] && self.graph.output_ids(id).all(is_its_own);
        is_alone.then_some((reader, position as usize))
    }
}

/// Whether the node is a forward call without side effects.
fn is_plain(node: &Node) -> bool {
    let has_effect = node
        .call()
        .is_none_or(|(op, params)| (op.is_random)(params, false) || !(op.rewrites)(params, false).is_empty());
    !has_effect && node.subgraphs.is_empty() && node.backward_of.is_none() && node.clone_of.is_none()
}

/// The device group and the device of a node. All calls of a chain have the same, so a chain stays on one device.
fn group(node: &Node) -> (Option<&str>, Option<Device>) {
    (node.attrs.get("__ctx_group__"), node.device)
}
