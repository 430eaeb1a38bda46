//! Builds a graph node by node and reports every mistake, so that a `Graph` contains none.

use crate::{Entry, Graph, GraphAttr, Node, NodeId, control_flow};
use indexmap::IndexMap;
use mxrs_op::{Attrs, OpDef, OpParams};
use mxrs_types::{Device, Error, Result, ResultExt};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Builds a [`Graph`]: add nodes after their inputs, set the heads, then call [`build`](Self::build).
///
/// The ids returned while building are provisional: the finished graph is renumbered from the heads.
///
/// ```
/// use mxrs_graph::{Entry, GraphBuilder};
/// use mxrs_op::{Attrs, OpDef};
/// use std::sync::Arc;
///
/// let relu = Arc::new(OpDef::new("relu"));
/// let mut builder = GraphBuilder::new();
/// let x = builder.add_variable("x", Attrs::new());
/// let y = builder.add_op(&relu, "y", Attrs::new(), vec![Entry::new(x, 0)]).unwrap();
/// builder.set_heads(vec![Entry::new(y, 0)]);
/// assert_eq!(builder.build().unwrap().output_names(), ["y_output"]);
/// ```
#[derive(Debug, Default)]
pub struct GraphBuilder {
    nodes: Vec<Node>,
    heads: Vec<Entry>,
    attrs: IndexMap<String, GraphAttr>,
}

impl GraphBuilder {
    /// Makes an empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of nodes added.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The node with this id, if it was added.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index())
    }

    /// Adds a variable.
    pub fn add_variable(&mut self, name: impl Into<String>, attrs: Attrs) -> NodeId {
        self.push(Node::variable(name.into(), attrs))
    }

    /// Adds a call of `op`, parsing its attributes. Inputs come in the operator's order, auxiliary states last.
    ///
    /// # Errors
    /// Fails if the operator refuses the attributes, if the number of inputs is wrong, if an input does not exist, or if an
    /// auxiliary input is not a variable. The message names the node and the input.
    pub fn add_op(
        &mut self,
        op: &Arc<OpDef>,
        name: impl Into<String>,
        attrs: Attrs,
        inputs: Vec<Entry>,
    ) -> Result<NodeId> {
        let name = name.into();
        let params = op.parse(&attrs).context(|| format!("reading node `{name}`"))?;
        self.add_parsed_op(op, name, attrs, params, inputs)
    }

    /// Does the same as [`Self::add_op`] for a pass that already has the parameters.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::add_op`], except those that concern attributes.
    pub fn add_parsed_op(
        &mut self,
        op: &Arc<OpDef>,
        name: impl Into<String>,
        attrs: Attrs,
        params: OpParams,
        inputs: Vec<Entry>,
    ) -> Result<NodeId> {
        let name = name.into();
        let expected = op.n_inputs(&params);
        if inputs.len() != expected {
            let names = op.input_names(&params).join(", ");
            return Err(Error::invalid(
                format!("{}: number of inputs of node `{name}`", op.name),
                inputs.len(),
                format!("{expected} ({names})"),
            ));
        }
        let n_arguments = expected - op.n_aux.min(expected);
        for (position, input) in inputs.iter().enumerate() {
            let place = || format!("{}: input {position} of node `{name}`", op.name);
            let Some(from) = self.nodes.get(input.node.index()) else {
                return Err(Error::invalid(
                    place(),
                    format!("node {}", input.node),
                    format!("a node added before, below {}", self.nodes.len()),
                ));
            };
            if input.index as usize >= from.n_outputs {
                return Err(Error::invalid(
                    place(),
                    format!("output {} of `{}`", input.index, from.name),
                    format!("an output below {}", from.n_outputs),
                ));
            }
            if position >= n_arguments && !from.is_variable() {
                return Err(Error::invalid(
                    place(),
                    format!("output of `{}` ({})", from.name, from.op_name()),
                    "a variable, because it is an auxiliary state",
                ));
            }
        }
        let n_outputs = op.n_outputs.get(&params);
        let n_visible = op.n_visible.get(&params).min(n_outputs);
        Ok(self.push(Node {
            op: Some(Arc::clone(op)),
            params: Some(params),
            inputs,
            n_outputs,
            n_visible,
            ..Node::variable(name, attrs)
        }))
    }

    /// Adds nodes that must run before `node`.
    ///
    /// # Errors
    /// Fails if `node` does not exist or if a dependency was not added before `node`.
    pub fn add_control_deps(&mut self, node: NodeId, deps: &[NodeId]) -> Result<()> {
        let n_nodes = self.nodes.len();
        let Some(to) = self.nodes.get_mut(node.index()) else {
            return Err(Error::invalid("node with control dependencies", node, format!("a node below {n_nodes}")));
        };
        if let Some(bad) = deps.iter().find(|d| **d >= node) {
            return Err(Error::invalid(
                format!("control dependency of node `{}`", to.name),
                format!("node {bad}"),
                format!("a node added before it, below {node}"),
            ));
        }
        to.control_deps.extend_from_slice(deps);
        Ok(())
    }

    /// Stores the graphs that belong to a node of a control-flow operator.
    ///
    /// # Errors
    /// Fails if `node` does not exist.
    pub fn set_subgraphs(&mut self, node: NodeId, subgraphs: Vec<Arc<Graph>>) -> Result<()> {
        let n_nodes = self.nodes.len();
        let to = self
            .nodes
            .get_mut(node.index())
            .ok_or_else(|| Error::invalid("node with subgraphs", node, format!("a node below {n_nodes}")))?;
        to.subgraphs = subgraphs;
        Ok(())
    }

    /// Sets the [device](Node::device) of a node; `None` for a node that is not placed.
    ///
    /// # Errors
    /// Fails if `node` does not exist.
    pub fn set_device(&mut self, node: NodeId, device: Option<Device>) -> Result<()> {
        let n_nodes = self.nodes.len();
        let to = self.nodes.get_mut(node.index());
        let to = to.ok_or_else(|| Error::invalid("node to place", node, format!("a node below {n_nodes}")))?;
        to.device = device;
        Ok(())
    }

    /// Marks a call as part of the gradient of `forward`.
    ///
    /// # Errors
    /// Fails if a node does not exist, or if `forward` was not added before `node`.
    pub fn set_backward_of(&mut self, node: NodeId, forward: NodeId) -> Result<()> {
        self.earlier("node with a forward node", node, forward)?.backward_of = Some(forward);
        Ok(())
    }

    /// Marks a call as a recomputation of `original`.
    ///
    /// # Errors
    /// Fails in each of these cases:
    /// - a node does not exist, or `original` was not added before `node`;
    /// - `original` is a variable or a recomputation;
    /// - the two calls are of the same operator, but have different numbers of inputs;
    /// - the calls are of different operators, and that of `node` does not [recompute](mxrs_op::OpDef::recompute) the
    ///   operator of `original`.
    pub fn set_clone_of(&mut self, node: NodeId, original: NodeId) -> Result<()> {
        self.earlier("clone", node, original)?;
        let (clone, of) = (&self.nodes[node.index()], &self.nodes[original.index()]);
        let is_same = match (&clone.op, &of.op) {
            (Some(a), Some(b)) if a.name == b.name => clone.inputs.len() == of.inputs.len(),
            (Some(a), Some(b)) => b.recompute.is_some_and(|define| define().name == a.name),
            _ => false,
        };
        if !is_same || of.clone_of.is_some() {
            return Err(Error::invalid(
                format!("node that `{}` ({}) is a clone of", clone.name, clone.op_name()),
                format!("`{}` ({})", of.name, of.op_name()),
                "a call of the same operator with as many inputs that is not a clone",
            ));
        }
        self.nodes[node.index()].clone_of = Some(original);
        Ok(())
    }

    /// Returns `node` for a change that refers to `before`. Fails if `before` was not added before `node`; the error says
    /// `what` was to be changed.
    fn earlier(&mut self, what: &str, node: NodeId, before: NodeId) -> Result<&mut Node> {
        let n_nodes = self.nodes.len();
        match self.nodes.get_mut(node.index()) {
            Some(found) if before < node => Ok(found),
            Some(found) => Err(Error::invalid(
                format!("{what}: `{}` belongs to", found.name),
                format!("node {before}"),
                format!("a node added before it, below {node}"),
            )),
            None => Err(Error::invalid(what, format!("node {node}"), format!("a node below {n_nodes}"))),
        }
    }

    /// Sets the heads, which are the outputs of the graph.
    pub fn set_heads(&mut self, heads: Vec<Entry>) {
        self.heads = heads;
    }

    /// Sets a graph attribute.
    pub fn set_attr(&mut self, key: impl Into<String>, value: GraphAttr) {
        self.attrs.insert(key.into(), value);
    }

    /// Verifies the graph and numbers its nodes. Nodes that no head needs are dropped.
    ///
    /// # Errors
    /// Fails if a head does not exist, if two variables have the same name, or if a node of a control-flow operator has
    /// subgraphs that do not fit the call.
    pub fn build(self) -> Result<Graph> {
        self.check_heads()?;
        let order = post_order(&self.nodes, &self.heads);
        Ok(self.number(&order)?.0)
    }

    /// Does the same as [`Self::build`], but keeps the order in which nodes were added, so that a pass can choose the order
    /// of execution. Also returns the new id of each added node.
    pub(crate) fn build_in_order(self) -> Result<(Graph, Vec<Option<NodeId>>)> {
        self.check_heads()?;
        let mut order = post_order(&self.nodes, &self.heads);
        order.sort_unstable();
        self.number(&order)
    }

    /// The variables that no head needs, in the order in which they were added, and the last call that a head needs.
    pub(crate) fn unneeded_variables(&self) -> (Vec<NodeId>, Option<NodeId>) {
        let mut is_needed = vec![false; self.nodes.len()];
        post_order(&self.nodes, &self.heads).iter().for_each(|id| is_needed[id.index()] = true);
        let of_kind = |is_variable: bool, needed: bool| {
            let ids = (0..self.nodes.len()).map(NodeId::new);
            ids.filter(move |id| self.nodes[id.index()].is_variable() == is_variable)
                .filter(|id| is_needed[id.index()] == needed)
                .collect::<Vec<_>>()
        };
        (of_kind(true, false), of_kind(false, true).pop())
    }

    /// Sets an attribute of a variable that was added.
    pub(crate) fn annotate(&mut self, variable: NodeId, key: &str, value: String) {
        self.nodes[variable.index()].attrs.set(key, value);
    }

    fn check_heads(&self) -> Result<()> {
        for (i, head) in self.heads.iter().enumerate() {
            match self.nodes.get(head.node.index()) {
                None => {
                    return Err(Error::invalid(
                        format!("head {i}"),
                        format!("node {}", head.node),
                        format!("a node below {}", self.nodes.len()),
                    ));
                }
                Some(node) if head.index as usize >= node.n_outputs => {
                    return Err(Error::invalid(
                        format!("head {i}"),
                        format!("output {} of `{}`", head.index, node.name),
                        format!("an output below {}", node.n_outputs),
                    ));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Builds the graph of the nodes in `order`. Also returns, for every added node, its new id, or `None` if it was
    /// dropped.
    fn number(self, order: &[NodeId]) -> Result<(Graph, Vec<Option<NodeId>>)> {
        let mut new_ids: Vec<Option<NodeId>> = vec![None; self.nodes.len()];
        for (new, old) in order.iter().enumerate() {
            new_ids[old.index()] = Some(NodeId::new(new));
        }
        // `order` contains every node that the heads need, and every node that a node of `order` needs.
        let id = |old: NodeId| new_ids[old.index()].unwrap_or(old);
        let moved = |e: &Entry| Entry { node: id(e.node), ..*e };
        let heads = self.heads.iter().map(moved).collect();
        let mut old_nodes: Vec<Option<Node>> = self.nodes.into_iter().map(Some).collect();
        let mut nodes = Vec::with_capacity(order.len());
        for old in order {
            let Some(mut node) = old_nodes[old.index()].take() else { continue };
            node.inputs.iter_mut().for_each(|e| *e = moved(e));
            node.control_deps.iter_mut().for_each(|d| *d = id(*d));
            node.backward_of = node.backward_of.and_then(|f| new_ids[f.index()]);
            node.clone_of = node.clone_of.and_then(|o| new_ids[o.index()]);
            nodes.push(node);
        }
        let mut names = FxHashSet::default();
        if let Some(twice) = nodes.iter().find(|n| n.is_variable() && !names.insert(n.name.as_str())) {
            return Err(Error::invalid(
                "variable name",
                format!("`{}` twice", twice.name),
                "one variable per name; share the variable, or rename one",
            ));
        }
        nodes.iter().try_for_each(control_flow::check)?;
        Ok((Graph::from_verified(nodes, heads, self.attrs), new_ids))
    }

    /// Adds a node without checks. The node must come from a verified graph, with its inputs and control dependencies
    /// renumbered.
    pub(crate) fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId::new(self.nodes.len() - 1)
    }
}

/// The post-order of a depth-first walk from the heads, which visits the inputs of a node in order, then its control
/// dependencies. The walk is iterative, because a chain may be deeper than the stack allows.
fn post_order(nodes: &[Node], heads: &[Entry]) -> Vec<NodeId> {
    let mut order = Vec::with_capacity(nodes.len());
    let mut seen = vec![false; nodes.len()];
    let mut stack: Vec<(NodeId, usize)> = Vec::new();
    for head in heads {
        if std::mem::replace(&mut seen[head.node.index()], true) {
            continue;
        }
        stack.push((head.node, 0));
        while let Some((id, next)) = stack.last_mut() {
            let node = &nodes[id.index()];
            let before = match node.inputs.get(*next) {
                Some(input) => Some(input.node),
                None => node.control_deps.get(*next - node.inputs.len()).copied(),
            };
            *next += 1;
            match before {
                Some(before) if !std::mem::replace(&mut seen[before.index()], true) => stack.push((before, 0)),
                Some(_) => {}
                None => {
                    order.push(*id);
                    stack.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests;
