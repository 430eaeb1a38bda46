//! The training graph: a graph, followed by the calls that compute the gradients of its heads.
//!
//! The training graph is built by a reverse sweep over the nodes of the forward graph. Each entry collects the terms of
//! its gradient from its readers. When all readers have been visited, the terms are summed, and the operator that makes
//! the entry adds calls that compute the gradients of its inputs ([`mxrs_op::GradientFn`]). An entry is *wanted* if its
//! gradient is requested. Only entries on a path from a wanted entry to a head take part. A gradient without terms is
//! zero, costs nothing, and ends the sweep on that path.

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

/// A graph together with the calls that compute its gradients.
///
/// Invariant G3: the first [`n_forward_nodes`](Self::n_forward_nodes) nodes are those of the forward graph, with the same
/// ids. Node ids are an order of execution. The ids of the gradient's calls follow the reverse sweep, not the depth-first
/// walk of [`GraphBuilder::build`](crate::GraphBuilder::build), so that a gradient is used soon after it is made.
#[derive(Debug)]
pub struct TrainingGraph {
    /// The graph. Its heads are the forward heads, followed by the gradient of each entry of `wanted`.
    pub graph: Graph,
    /// The number of nodes of the forward graph.
    pub n_forward_nodes: usize,
    /// The number of heads of the forward graph.
    pub n_forward_heads: usize,
    /// The entries whose gradients were requested: head `n_forward_heads + i` is the gradient of `wanted[i]`.
    pub wanted: Vec<Entry>,
    /// For each forward head, the variable that contains the gradient of that head. `None` if there is no such
    /// variable: gradients of heads are ones, the head is a loss that ignores its gradient, or the head does not depend
    /// on any entry of `wanted`.
    pub head_grads: Vec<Option<NodeId>>,
}

impl TrainingGraph {
    /// The heads of the forward graph.
    pub fn forward_heads(&self) -> &[Entry] {
        &self.graph.heads()[..self.n_forward_heads]
    }

    /// The heads that are gradients, in the order of [`Self::wanted`].
    pub fn gradients(&self) -> &[Entry] {
        &self.graph.heads()[self.n_forward_heads..]
    }

    /// Whether a node belongs to the forward graph.
    pub fn is_forward(&self, node: NodeId) -> bool {
        node.index() < self.n_forward_nodes
    }

    /// Checks that the forward graph is the first part of this graph (G3).
    fn check_prefix(&self, forward: &Graph) -> Result<()> {
        let same = |(a, b): (&crate::Node, &crate::Node)| {
            a.name == b.name && a.op_name() == b.op_name() && a.inputs == b.inputs && a.control_deps == b.control_deps
        };
        let prefix = &self.graph.nodes()[..self.n_forward_nodes.min(self.graph.n_nodes())];
        let holds = prefix.len() == forward.n_nodes() && prefix.iter().zip(forward.nodes()).all(same);
        match holds && self.forward_heads() == forward.heads() {
            true => Ok(()),
            false => Err(Error::invalid("training graph", "other forward nodes", "the forward graph as a prefix (G3)")),
        }
    }
}

/// Builds the gradients of `request`.
///
/// Every gradient is a separate head: a `_copy` is inserted if two gradients would be the same entry, or if a gradient is a
/// variable or a forward output. Calls that compute gradients are named `<node>_backward` and sums `<node>_grad_sum`,
/// followed by a number if the name is taken. These calls and sums are marked with
/// [`Node::backward_of`](crate::Node::backward_of), and inherit `__ctx_group__` and the device from the forward node.
///
/// # Errors
/// Fails in each of these cases:
/// - an entry of `request.wanted` is not in the graph;
/// - no head depends on an entry of `request.wanted`, and the request does not ask for [`Unreachable::Zeros`];
/// - an operator between such an entry and a head is not differentiable, or its gradient is declared wrongly;
/// - `ones_like`, `zeros_like`, `add_n`, `_grad_add` or `_copy` is needed, but is not in `ops`.
pub fn gradient(graph: &Graph, ops: &OpSet, request: &GradientRequest) -> Result<TrainingGraph> {
    let training = sweep::run(graph, ops, request)?;
    training.check_prefix(graph)?;
    Ok(training)
}
