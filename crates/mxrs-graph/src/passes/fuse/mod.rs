//! Pointwise fusion: sets of calls that work element by element become one `_FusedOp` each
//! ([`mxrs_op::Fused`]), whose kernel keeps the values between them out of memory.
//!
//! Sets grow along edges. Every set has a position in an order of execution; two sets that an edge joins become one where
//! the earlier may wait for the later, or the later may run as early as the earlier, without overtaking anything that it
//! reads or that reads it (control dependencies included). A set is thus one place of an order of execution, and no path
//! leaves it and comes back; the work is a constant number of looks at each edge.
//!
//! In one set are calls of one shape, of one `__ctx_group__`, of one class of whoever asks (say, one layout), on one side
//! of the border between forward part and gradient. Never fused: calls that are views or read only the shape of an input
//! in the mode at hand, that hold subgraphs, and that read a variable which some call rewrites. A set has 16 inputs and
//! outputs together at most, 8 of them outputs, and 32 calls.
//!
//! Invariants: F1 sets are convex; F2 values are those of the calls one by one, on one backend bit for bit; F3 no set
//! spans forward part and gradient; F4 there are never more calls, for a set has two at least; F5 what others read, and
//! heads, are still there. G3 holds: the forward part stays in front. That planned bytes do not rise (G14) is the caller's
//! to check, who can ask for less [`Reach`].

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

/// How far apart in the order of execution two calls may be that become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Any distance.
    Any,
    /// Any, as long as the bytes alive between them do not rise.
    SameBytes,
    /// No call that stays out is between them.
    Neighbors,
}

impl Reach {
    /// All, the farthest first.
    pub const ALL: [Self; 3] = [Self::Any, Self::SameBytes, Self::Neighbors];
}

/// What is fused, and who decides.
#[derive(Clone, Copy)]
pub struct FusionRequest<'a> {
    /// The definition of `_FusedOp` that calls refer to ([`mxrs_op::fused_op`]).
    pub op: &'a Arc<OpDef>,
    /// How many nodes are the forward part; all, where there is no gradient.
    pub n_forward_nodes: usize,
    /// Shape of each entry.
    pub shapes: &'a [Shape],
    /// Element type of each entry.
    pub dtypes: &'a [DType],
    /// Training mode.
    pub is_train: bool,
    /// How far apart calls may be.
    pub reach: Reach,
    /// The class of a call, asked for pointwise calls only: calls of one class may be fused, a call without class stays as
    /// it is.
    pub class: &'a dyn Fn(NodeId) -> Option<u64>,
    /// Whether a set is fused; what is denied stays as it is.
    pub accept: &'a dyn Fn(&ProposedSet<'_>) -> bool,
}

/// A set that would become one call.
#[derive(Clone, Copy, Debug)]
pub struct ProposedSet<'a> {
    /// Its calls.
    pub members: &'a [NodeId],
    /// Parameters of the call it would become: [`mxrs_op::Fused`].
    pub params: &'a OpParams,
    /// What it reads, each entry once.
    pub inputs: &'a [Entry],
    /// What others read of it, and heads.
    pub outputs: &'a [Entry],
}

/// A graph with fused calls, and what became of the old one.
#[derive(Debug)]
pub struct FusedGraph {
    /// The graph.
    pub graph: Graph,
    /// How many of its nodes are the forward part.
    pub n_forward_nodes: usize,
    /// The old nodes in each fused call.
    pub sets: Vec<Vec<NodeId>>,
    /// For each entry, the old entry it is.
    pub entries: Vec<EntryId>,
    /// For each old node, the node it is or is part of; `None` where it is gone.
    pub nodes: Vec<Option<NodeId>>,
}

/// Fuses pointwise calls; `None` where there is nothing to fuse.
///
/// # Errors
/// Shapes or types of another graph.
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
