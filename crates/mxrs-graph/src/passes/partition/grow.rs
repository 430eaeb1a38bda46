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
    /// Positions of the inputs that calls of the chain make.
    inner: Vec<usize>,
    /// Whether a later call of the chain also reads a value from before this call. The chain cannot end here then, because
    /// that value is still needed.
    pub is_open: bool,
}

/// In a stage such as `x * sigmoid(x)`, the largest number of calls between `x` and the multiplication.
const MOST_THROUGH: usize = 3;

impl ChainCall {
    fn new(
        graph: &Graph,
        with: &Partitioning<'_>,
        id: NodeId,
        chain: &[ChainCall],
        stage: &Stage,
        entered_by: usize,
    ) -> Self {
        let before = chain.last().map(|call| call.id);
        let inputs = graph.node(id).inputs.iter().enumerate();
        let reads = inputs.clone().filter(|(_, e)| Some(e.node) == before).map(|(i, e)| (i, e.index as usize));
        let inner = inputs.filter(|(_, e)| chain.iter().any(|call| call.id == e.node)).map(|(i, _)| i).collect();
        let is_read = |e: crate::EntryId| {
            !graph.consumers(e).is_empty() || graph.heads().iter().any(|head| graph.entry_id(*head) == e)
        };
        Self {
            reads: reads.collect(),
            is_read: graph.output_ids(id).map(is_read).collect(),
            inner,
            is_open: false,
            id,
            stage: stage.name,
            entered_by,
            inputs: graph.input_ids(id).map(|e| with.descs[e.index()].clone()).collect(),
            outputs: graph.output_ids(id).map(|e| with.descs[e.index()].clone()).collect(),
            is_constant: graph.node(id).inputs.iter().map(|e| with.is_constant[e.node.index()]).collect(),
        }
    }

    /// Whether the input at this position is made by a call of the chain.
    pub fn is_inner(&self, position: usize) -> bool {
        self.inner.contains(&position)
    }

    /// This call in the form that the functions of a pattern receive; `None` for a variable.
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
        loop {
            let found = match self.only_reader(last) {
                Some((next, position)) => {
                    let mut plain = stages.by_ref().filter(|stage| stage.through.is_empty());
                    plain.find_map(|stage| self.accepted(stage, &chain.calls, next, position)).map(|call| vec![call])
                }
                None => {
                    let mut twice = stages.by_ref().filter(|stage| !stage.through.is_empty());
                    twice.find_map(|stage| self.read_twice(stage, &chain.calls, last))
                }
            };
            let Some(found) = found else { break };
            chain.calls.extend(found);
            last = chain.calls.last()?.id;
        }
        let has = |stage: &Stage| chain.calls.iter().any(|call| call.stage == stage.name);
        let is_whole = pattern.then.iter().filter(|stage| stage.is_required).all(has);
        (chain.calls.len() > 1 && is_whole).then_some(chain)
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
        let call = ChainCall::new(self.graph, self.with, id, chain, stage, position);
        let before: Vec<Member<'_>> = chain.iter().filter_map(|c| c.member(self.graph)).collect();
        let accepts = (stage.accepts)(&before, &call.member(self.graph)?);
        accepts.then_some(call)
    }

    /// Matches a stage whose call reads `last` both directly and through other calls, such as `x * sigmoid(x)`. Returns the
    /// calls in between, followed by the call that reads both.
    fn read_twice(&self, stage: &Stage, chain: &[ChainCall], last: NodeId) -> Option<Vec<ChainCall>> {
        let &[(a, in_a), (b, in_b)] = self.graph.consumers(self.graph.output_id(last, 0)) else { return None };
        if a == b || !self.is_read_by(last, &[a, b]) {
            return None;
        }
        let [in_a, in_b] = [in_a, in_b].map(|position| position as usize);
        self.through(stage, chain, (a, in_a), b).or_else(|| self.through(stage, chain, (b, in_b), a))
    }

    /// Follows the readers from `first` to `end`, and returns these calls. `end` must match the stage, and each call before
    /// it must be one of the operators that the stage [allows in between](Stage::through).
    fn through(
        &self,
        stage: &Stage,
        chain: &[ChainCall],
        first: (NodeId, usize),
        end: NodeId,
    ) -> Option<Vec<ChainCall>> {
        let inner = Stage { ops: stage.through, through: &[], ..Stage::of(stage.name, &[]) };
        let mut calls = chain.to_vec();
        let (mut next, mut position) = first;
        for _ in 0..MOST_THROUGH {
            let call = self.accepted(&inner, &calls, next, position)?;
            calls.push(ChainCall { is_open: true, ..call });
            (next, position) = self.only_reader(next)?;
            if next == end {
                calls.push(self.accepted(stage, &calls, end, position)?);
                return Some(calls.split_off(chain.len()));
            }
        }
        None
    }

    /// The only reader of the node's first output, and the position at which it reads this output. `None` if anything else
    /// uses the node.
    fn only_reader(&self, id: NodeId) -> Option<(NodeId, usize)> {
        let entry = self.graph.output_id(id, 0);
        let (reader, position) = match self.graph.consumers(entry) {
            &[only] => only,
            _ => return None,
        };
        self.is_read_by(id, &[reader]).then_some((reader, position as usize))
    }

    /// Whether only the calls `readers` use the node: no other call reads it or waits for it, and it is not a head.
    fn is_read_by(&self, id: NodeId, readers: &[NodeId]) -> bool {
        let is_theirs = |e: crate::EntryId| {
            !self.is_head[e.index()] && self.graph.consumers(e).iter().all(|(other, _)| readers.contains(other))
        };
        !self.is_waited_for[id.index()] && self.graph.output_ids(id).all(is_theirs)
    }
}

/// Whether the node is a forward call without side effects.
fn is_plain(node: &Node) -> bool {
    let has_effect = node.call().is_none_or(|(op, params)| op.has_effect(params, false));
    !has_effect && node.subgraphs.is_empty() && node.backward_of.is_none() && node.clone_of.is_none()
}

/// The device group and the device of a node. All calls of a chain have the same, so a chain stays on one device.
fn group(node: &Node) -> (Option<&str>, Option<Device>) {
    (node.attrs.get("__ctx_group__"), node.device)
}
