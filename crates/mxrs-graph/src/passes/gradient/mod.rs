//! The gradient graph: a graph, followed by the calls that compute gradients of its heads.
//!
//! A reverse sweep over the nodes. Each entry collects the terms of its gradient from its readers; when all readers have
//! been seen, the terms are summed and the entry's operator says, by calls of other operators, what follows for its
//! inputs ([`mxrs_op::GradientFn`]). Only entries on a path from something wanted to a head take part. A gradient nobody
//! contributes to is zero, costs nothing, and stops the sweep on that path.

mod request;
mod scope;
mod sums;
mod sweep;
#[cfg(test)]
mod tests;

pub use request::{GradientRequest, HeadGrads, Unreachable};

use crate::{Entry, Graph, NodeId};
use mxrs_op::OpSet;
use mxrs_types::{Error, Result};

/// A graph joined with the calls that compute its gradients.
///
/// Invariant G3: the first [`n_forward_nodes`](Self::n_forward_nodes) nodes are those of the forward graph, with the same
/// ids. Node ids are an order of execution; behind the forward nodes, they follow the reverse sweep and not
/// [`GraphBuilder::build`](crate::GraphBuilder::build)'s depth-first walk, so that a gradient is used soon after it is made.
#[derive(Debug)]
pub struct GradientGraph {
    /// Heads are the forward heads, then one per wanted entry.
    pub graph: Graph,
    /// Number of nodes of the forward graph.
    pub n_forward_nodes: usize,
    /// Number of its heads.
    pub n_forward_heads: usize,
    /// Whose gradient head `n_forward_heads + i` is.
    pub wanted: Vec<Entry>,
    /// Per forward head, the variable that holds the gradient coming into it. `None` when nothing reads it: the gradients
    /// of the heads are ones, the head is a loss that ignores it, or nothing wanted is behind the head.
    pub head_grads: Vec<Option<NodeId>>,
}

impl GradientGraph {
    /// Heads of the forward graph.
    pub fn forward_heads(&self) -> &[Entry] {
        &self.graph.heads()[..self.n_forward_heads]
    }

    /// Heads that are gradients, in the order of [`Self::wanted`].
    pub fn gradients(&self) -> &[Entry] {
        &self.graph.heads()[self.n_forward_heads..]
    }

    /// Whether a node belongs to the forward graph.
    pub fn is_forward(&self, node: NodeId) -> bool {
        node.index() < self.n_forward_nodes
    }

    /// Checks G3 against the forward graph.
    fn check_prefix(&self, forward: &Graph) -> Result<()> {
        let same = |(a, b): (&crate::Node, &crate::Node)| {
            a.name == b.name && a.op_name() == b.op_name() && a.inputs == b.inputs && a.control_deps == b.control_deps
        };
        let prefix = &self.graph.nodes()[..self.n_forward_nodes.min(self.graph.n_nodes())];
        let holds = prefix.len() == forward.n_nodes() && prefix.iter().zip(forward.nodes()).all(same);
        match holds && self.forward_heads() == forward.heads() {
            true => Ok(()),
            false => Err(Error::invalid("gradient graph", "other forward nodes", "the forward graph as a prefix (G3)")),
        }
    }
}

/// Builds the gradients that `request` asks for.
///
/// Every gradient is a head of its own: where two would be the same entry, or one is a variable or a forward output, a
/// `_copy` is put between. Calls that compute gradients are named `<node>_backward`, sums `<node>_grad_sum`, each with a
/// number when taken; they are marked with [`Node::backward_of`](crate::Node::backward_of) and inherit `__ctx_group__`.
///
/// # Errors
/// A wanted entry that is not in the graph, or that no head depends on (unless [`Unreachable::Zeros`]); an operator on the
/// way that is not differentiable, or whose gradient is wrongly declared; operators of sums and constants (`ones_like`,
/// `zeros_like`, `add_n`, `_grad_add`, `_copy`) that are needed and missing in `ops`.
pub fn gradient(graph: &Graph, ops: &OpSet, request: &GradientRequest) -> Result<GradientGraph> {
    let joined = sweep::run(graph, ops, request)?;
    joined.check_prefix(graph)?;
    Ok(joined)
}
