//! Pointwise fusion: sets of calls that work element by element become one `_FusedOp` each ([`mxrs_op::Fused`]), whose
//! kernel does not store the values between them in memory.
//!
//! Sets grow along edges. Every set has one position in an order of execution. Two sets connected by an edge are merged in
//! two cases: the earlier set can wait until the position of the later set, or the later set can run at the position of the
//! earlier set. The set that moves must not pass a node that it reads, that reads it, or to which a control dependency
//! connects it. So no path leaves a set and returns. The work per edge is constant.
//!
//! The calls of a set have the same shape, the same `__ctx_group__`, the same device and the same class. The caller defines the class, such
//! as a layout. All calls of a set belong to the forward part, or all belong to the gradient. Never fused: calls that are
//! views or read only the shape of an input in the current mode, calls with subgraphs, and calls that read a variable which
//! some call rewrites. A set has at most 16 inputs and outputs together, at most 8 of them outputs, and at most 32 calls.
//!
//! Invariants: F1 sets are convex; F2 values equal those of the separate calls, bit for bit if one backend runs both; F3 no
//! set spans forward part and gradient; F4 the number of calls decreases, because a set has at least two; F5 values that
//! other nodes read, and heads, still exist. G3 holds: the forward part stays in front. The caller has to check that planned
//! bytes do not increase (G14), and can request a smaller [`Reach`].

mod emit;
#[cfg(test)]
mod properties;
mod sets;
#[cfg(test)]
mod tests;

use crate::{Entry, EntryId, Graph, NodeId};
use mxrs_op::{OpDef, OpParams};
use mxrs_types::{DType, Error, Result, Shape};
use std::sync::Arc;

/// How far apart two calls may be in the order of execution to be fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Calls at any distance may be fused.
    Any,
    /// Calls at any distance may be fused, unless that increases the bytes alive between them.
    SameBytes,
    /// Calls may be fused if no call outside the set is between them.
    Neighbors,
}

impl Reach {
    /// All values, the largest reach first.
    pub const ALL: [Self; 3] = [Self::Any, Self::SameBytes, Self::Neighbors];
}

/// The input of fusion: the graph's properties and the decisions of the caller.
#[derive(Clone, Copy)]
pub struct FusionRequest<'a> {
    /// The definition of `_FusedOp` for the new calls ([`mxrs_op::fused_op`]).
    pub op: &'a Arc<OpDef>,
    /// The number of nodes of the forward part; all nodes if there is no gradient.
    pub n_forward_nodes: usize,
    /// The shape of each entry.
    pub shapes: &'a [Shape],
    /// The element type of each entry.
    pub dtypes: &'a [DType],
    /// Whether the graph runs in training mode.
    pub is_train: bool,
    /// How far apart fused calls may be.
    pub reach: Reach,
    /// Returns the class of a pointwise call. Calls of the same class may be fused; a call without a class is not fused.
    pub class: &'a dyn Fn(NodeId) -> Option<u64>,
    /// Whether to fuse a set; otherwise its calls stay separate.
    pub accept: &'a dyn Fn(&ProposedSet<'_>) -> bool,
}

/// A set that would become one call.
#[derive(Clone, Copy, Debug)]
pub struct ProposedSet<'a> {
    /// The calls of the set.
    pub members: &'a [NodeId],
    /// The parameters of the fused call: [`mxrs_op::Fused`].
    pub params: &'a OpParams,
    /// The entries that the set reads, each once.
    pub inputs: &'a [Entry],
    /// The entries that other nodes read, and heads.
    pub outputs: &'a [Entry],
}

/// A graph with fused calls, and the mapping from the old graph.
#[derive(Debug)]
pub struct FusedGraph {
    /// The graph.
    pub graph: Graph,
    /// The number of nodes of the forward part of `graph`.
    pub n_forward_nodes: usize,
    /// The old nodes in each fused call.
    pub sets: Vec<Vec<NodeId>>,
    /// For each entry of `graph`, the entry of the old graph.
    pub entries: Vec<EntryId>,
    /// For each old node, the new node that replaces it, alone or together with other nodes; `None` if the old node was
    /// dropped.
    pub nodes: Vec<Option<NodeId>>,
}

/// Fuses pointwise calls. Returns `None` if no set of calls is fused.
///
/// # Errors
/// Fails if the shapes or types belong to another graph.
pub fn fuse_pointwise(graph: &Graph, request: &FusionRequest<'_>) -> Result<Option<FusedGraph>> {
    for n_given in [request.shapes.len(), request.dtypes.len()] {
        if n_given != graph.n_entries() {
            let expected = format!("{}, one per entry", graph.n_entries());
            return Err(Error::invalid("fusion: number of shapes or types", n_given, expected));
        }
    }
    let sets = sets::grow(graph, request);
    emit::emit(graph, request, &sets)
}

#[cfg(test)]
pub(super) use sets::{MAX_CALLS, MAX_OUTPUTS, MAX_TENSORS};
