//! Copies a graph node by node with changes; shared by the passes that add, merge or drop nodes.

use crate::{Entry, Graph, GraphBuilder, Node, NodeId, TrainingGraph};
use mxrs_types::{Error, Result};

/// A graph being copied into another.
pub(super) struct Rewrite<'g> {
    old: &'g Graph,
    /// The new graph so far.
    pub out: GraphBuilder,
    /// For each old node, its new id once it has been copied.
    new_ids: Vec<Option<NodeId>>,
    /// The number of nodes of `out` that belong to the forward part.
    n_forward: usize,
}

/// The new graph, and the new ids of the old nodes.
pub(super) struct Rewritten {
    pub graph: Graph,
    /// The new id of each old node; `None` for nodes that are not in the new graph.
    pub new_ids: Vec<Option<NodeId>>,
    /// The new id of each node added to [`Rewrite::out`], in the order in which they were added.
    pub of_added: Vec<Option<NodeId>>,
    pub n_forward_nodes: usize,
}

impl<'g> Rewrite<'g> {
    pub fn of(old: &'g Graph) -> Self {
        let mut out = GraphBuilder::new();
        for (key, value) in old.attrs() {
            out.set_attr(key, value.clone());
        }
        Self { old, out, new_ids: vec![None; old.n_nodes()], n_forward: 0 }
    }

    /// The new id of an old node that has been copied. Ids are topological, so every input has been copied before.
    pub fn id(&self, old: NodeId) -> NodeId {
        self.new_ids[old.index()].unwrap_or(old)
    }

    /// The new entry of an old entry whose node has been copied.
    pub fn entry(&self, old: Entry) -> Entry {
        Entry { node: self.id(old.node), ..old }
    }

    /// A copy of an old node whose inputs and other references name nodes of the new graph.
    pub fn moved(&self, node: &Node) -> Node {
        let mut node = node.clone();
        node.inputs.iter_mut().for_each(|e| *e = self.entry(*e));
        node.control_deps.iter_mut().for_each(|d| *d = self.id(*d));
        node.backward_of = node.backward_of.map(|f| self.id(f));
        node.clone_of = node.clone_of.map(|o| self.id(o));
        node
    }

    /// Adds `node`, which replaces the node `old`.
    pub fn put(&mut self, old: NodeId, node: Node) -> NodeId {
        let new = self.out.push(node);
        self.new_ids[old.index()] = Some(new);
        new
    }

    /// Lets the existing new node `into` replace the node `old`.
    pub fn merge(&mut self, old: NodeId, into: NodeId) {
        self.new_ids[old.index()] = Some(into);
    }

    /// Marks the end of the forward part.
    pub fn end_forward(&mut self) {
        self.n_forward = self.out.n_nodes();
    }

    /// Builds the new graph with these heads.
    pub fn finish(mut self, heads: Vec<Entry>) -> Result<Rewritten> {
        debug_assert_eq!(heads.len(), self.old.heads().len());
        self.out.set_heads(heads);
        let (graph, of_added) = self.out.build_in_order()?;
        let new_ids = self.new_ids.into_iter().map(|id| id.and_then(|id| of_added[id.index()])).collect();
        let n_forward_nodes = of_added[..self.n_forward].iter().flatten().count();
        Ok(Rewritten { graph, new_ids, of_added, n_forward_nodes })
    }
}

impl TrainingGraph {
    /// Makes the training graph of a rewritten graph that has the same heads as this one.
    pub(super) fn after(&self, rewritten: Rewritten) -> Result<Self> {
        let Rewritten { graph, new_ids, n_forward_nodes, .. } = rewritten;
        let moved = |e: &Entry| match new_ids[e.node.index()] {
            Some(node) => Ok(Entry { node, ..*e }),
            None => Err(Error::invalid(
                "rewrite of a training graph",
                format!("`{}` dropped", self.graph.node(e.node).name),
                "the entries whose gradients are wanted",
            )),
        };
        Ok(Self {
            graph,
            n_forward_nodes,
            n_forward_heads: self.n_forward_heads,
            wanted: self.wanted.iter().map(moved).collect::<Result<_>>()?,
            head_grads: self.head_grads.iter().map(|v| v.and_then(|id| new_ids[id.index()])).collect(),
        })
    }
}
