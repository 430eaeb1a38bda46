//! Builds the fused graph: each chosen set of calls becomes one fused call.

use super::sets::Sets;
use super::{FusedGraph, FusionRequest, ProposedSet};
use crate::{Entry, EntryId, Graph, GraphBuilder, Node, NodeId};
use mxrs_op::{Attrs, Fused, FusedCall, FusedValue, OpParams};
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// The new graph under construction.
struct Emit<'g> {
    graph: &'g Graph,
    out: GraphBuilder,
    /// For each old node, the node of `out` that replaces it, alone or together with other nodes.
    nodes: Vec<Option<NodeId>>,
    /// For each old entry, the entry of `out` with the same value.
    entries: Vec<Option<Entry>>,
    /// For each node of `out`, the old entries of its outputs.
    origins: Vec<Vec<EntryId>>,
}

/// The fused call that may replace a set.
struct Proposal {
    params: OpParams,
    inputs: Vec<Entry>,
    outputs: Vec<Entry>,
}

/// Copies the graph in the order of the sets, and fuses the sets that the request accepts.
///
/// # Errors
/// Never fails for sets from [`super::sets::grow`].
pub fn emit(graph: &Graph, request: &FusionRequest<'_>, sets: &Sets<'_>) -> Result<Option<FusedGraph>> {
    let mut emit = Emit {
        graph,
        out: GraphBuilder::new(),
        nodes: vec![None; graph.n_nodes()],
        entries: vec![None; graph.n_entries()],
        origins: Vec::new(),
    };
    for (key, value) in graph.attrs() {
        emit.out.set_attr(key, value.clone());
    }
    let mut fused = Vec::new();
    let mut n_forward = None;
    for set in sets.in_order() {
        if sets.place(set) >= request.n_forward_nodes && n_forward.is_none() {
            n_forward = Some(emit.out.n_nodes());
        }
        let members = sets.members(&set);
        if members.len() > 1
            && let Some(proposal) = emit.propose(sets, set)?
        {
            let Proposal { params, inputs, outputs } = &proposal;
            if (request.accept)(&ProposedSet { members, params, inputs, outputs }) {
                emit.fuse(request, members, proposal)?;
                fused.push(members.to_vec());
                continue;
            }
        }
        members.iter().try_for_each(|id| emit.copy(*id))?;
    }
    if fused.is_empty() {
        return Ok(None);
    }
    let n_forward = n_forward.unwrap_or(emit.out.n_nodes());
    let heads = graph.heads().iter().map(|h| emit.entry(*h)).collect::<Result<_>>()?;
    emit.out.set_heads(heads);
    let (graph, of_added) = emit.out.build_in_order()?;
    let kept = emit.origins.into_iter().zip(&of_added).filter(|(_, id)| id.is_some());
    Ok(Some(FusedGraph {
        graph,
        n_forward_nodes: of_added[..n_forward].iter().flatten().count(),
        sets: fused,
        entries: kept.flat_map(|(origins, _)| origins).collect(),
        nodes: emit.nodes.into_iter().map(|id| id.and_then(|id| of_added[id.index()])).collect(),
    }))
}

impl Emit<'_> {
    fn node(&self, old: NodeId) -> Result<NodeId> {
        self.nodes[old.index()].ok_or_else(|| self.out_of_order(old))
    }

    fn entry(&self, old: Entry) -> Result<Entry> {
        let new = self.entries[self.graph.entry_id(old).index()].ok_or_else(|| self.out_of_order(old.node))?;
        Ok(Entry { version: old.version, ..new })
    }

    fn out_of_order(&self, old: NodeId) -> Error {
        let name = &self.graph.node(old).name;
        Error::invalid("fusion", format!("`{name}` behind what needs it"), "an order of execution")
    }

    /// Adds a node that is not fused.
    fn copy(&mut self, id: NodeId) -> Result<()> {
        let old = self.graph.node(id);
        let moved = |id: Option<NodeId>| id.map(|id| self.node(id)).transpose();
        let node = Node {
            inputs: old.inputs.iter().map(|e| self.entry(*e)).collect::<Result<_>>()?,
            control_deps: old.control_deps.iter().map(|dep| self.node(*dep)).collect::<Result<_>>()?,
            backward_of: moved(old.backward_of)?,
            clone_of: moved(old.clone_of)?,
            ..old.clone()
        };
        self.add(&[id], node, self.graph.output_ids(id).collect());
        Ok(())
    }

    /// Adds `node`, which replaces the old nodes `olds`. Its outputs have the values of the old entries `outputs`.
    fn add(&mut self, olds: &[NodeId], node: Node, outputs: Vec<EntryId>) {
        let new = self.out.push(node);
        olds.iter().for_each(|old| self.nodes[old.index()] = Some(new));
        for (index, entry) in outputs.iter().enumerate() {
            self.entries[entry.index()] = Some(Entry::new(new, index as u32));
        }
        self.origins.push(outputs);
    }

    /// The call that would replace a set; `None` if no other node reads the set.
    fn propose(&self, sets: &Sets<'_>, set: NodeId) -> Result<Option<Proposal>> {
        let (members, inputs, outputs) = (sets.members(&set), sets.inputs(set), sets.outputs(set));
        if outputs.is_empty() {
            return Ok(None);
        }
        let value = |entry: EntryId| -> Result<FusedValue> {
            if let Some(input) = inputs.iter().position(|e| *e == entry) {
                return Ok(FusedValue::Input(input as u32));
            }
            let (maker, index) = self.graph.entry_at(entry);
            let call = members.binary_search(&maker).map_err(|_| self.out_of_order(maker))?;
            Ok(FusedValue::Call(call as u32, index as u32))
        };
        let mut calls = Vec::with_capacity(members.len());
        for id in members {
            let (op, params) = self.graph.node(*id).call().ok_or_else(|| self.out_of_order(*id))?;
            let values = self.graph.input_ids(*id).map(value).collect::<Result<_>>()?;
            calls.push(FusedCall { op: op.clone(), params: params.clone(), inputs: values });
        }
        let results = outputs.iter().map(|entry| value(*entry)).collect::<Result<_>>()?;
        let at = |entry: &EntryId| {
            let (node, index) = self.graph.entry_at(*entry);
            Entry::new(node, index as u32)
        };
        Ok(Some(Proposal {
            params: OpParams::new(Fused::new(inputs.len(), calls, results)?),
            inputs: inputs.iter().map(at).collect(),
            outputs: outputs.iter().map(at).collect(),
        }))
    }

    /// Adds the fused call of a set.
    fn fuse(&mut self, request: &FusionRequest<'_>, members: &[NodeId], proposal: Proposal) -> Result<()> {
        let olds = || members.iter().map(|id| self.graph.node(*id));
        let mut control_deps: Vec<NodeId> = Vec::new();
        for dep in olds().flat_map(|old| &old.control_deps).filter(|dep| members.binary_search(dep).is_err()) {
            let dep = self.node(*dep)?;
            if !control_deps.contains(&dep) {
                control_deps.push(dep);
            }
        }
        let moved = |id: Option<NodeId>| id.map(|id| self.node(id)).transpose();
        let is_recomputed = olds().all(|old| old.clone_of.is_some());
        let clone_of = moved(olds().find_map(|old| old.clone_of).filter(|_| is_recomputed))?;
        let backward_of = moved(olds().rev().find_map(|old| old.backward_of))?;
        let inputs = proposal.inputs.iter().map(|e| self.entry(*e)).collect::<Result<_>>()?;
        let last = self.graph.node(members[members.len() - 1]);
        let group = last.attrs.get("__ctx_group__").map(|group| ("__ctx_group__", group));
        let node = Node {
            op: Some(Arc::clone(request.op)),
            params: Some(proposal.params),
            inputs,
            control_deps,
            n_outputs: proposal.outputs.len(),
            n_visible: proposal.outputs.len(),
            backward_of,
            clone_of,
            device: last.device,
            ..Node::variable(format!("{}_fused", last.name), group.into_iter().collect::<Attrs>())
        };
        let outputs = proposal.outputs.iter().map(|e| self.graph.entry_id(*e)).collect();
        self.add(members, node, outputs);
        Ok(())
    }
}
