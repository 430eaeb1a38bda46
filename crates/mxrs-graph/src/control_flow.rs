//! Nodes that run subgraphs: checks that the subgraphs fit the call, and finds auxiliary states in them.

use crate::{Graph, Node};
use mxrs_op::{ControlFlow, ControlKind};
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// The deepest nesting of control flow: a loop in a loop has depth 2. Inference and expansion recurse to this depth.
const MAX_DEPTH: usize = 8;

impl Node {
    /// What the node does with its subgraphs, if it is a call of a control-flow operator.
    ///
    /// # Errors
    /// Never fails for a node of a verified graph.
    pub(crate) fn control_flow(&self) -> Result<Option<ControlFlow>> {
        let Some((op, params)) = self.call() else { return Ok(None) };
        op.control_flow.map(|flow| (flow.describe)(params)).transpose()
    }

    /// Whether the node is a call of a control-flow operator.
    pub(crate) fn is_control_flow(&self) -> bool {
        self.op.as_ref().is_some_and(|op| op.control_flow.is_some())
    }
}

impl Graph {
    /// Whether a node is a call of a control-flow operator, which [`expand_control_flow`](crate::expand_control_flow)
    /// replaces.
    pub fn has_control_flow(&self) -> bool {
        self.nodes().iter().any(Node::is_control_flow)
    }
}

/// Checks that a node has the subgraphs that its operator needs, with the right numbers of variables and heads.
///
/// # Errors
/// The error names the node and the subgraph.
pub(crate) fn check(node: &Node) -> Result<()> {
    let Some(flow) = node.control_flow()? else { return Ok(()) };
    let names = node.op.as_ref().map_or(&[][..], |op| op.subgraph_names());
    let what = |what: &str| format!("{}: {what} of node `{}`", node.op_name(), node.name);
    if node.subgraphs.len() != names.len() {
        let expected = format!("{} ({})", names.len(), names.join(", "));
        return Err(Error::invalid(what("number of subgraphs"), node.subgraphs.len(), expected));
    }
    let is_condition = |index: usize| index == 0 && !matches!(flow.kind, ControlKind::ForEach { .. });
    for (index, ((subgraph, inputs), name)) in node.subgraphs.iter().zip(&flow.inputs).zip(names).enumerate() {
        let n_variables = subgraph.variables().len();
        if n_variables != inputs.len() {
            let got = format!("{n_variables} variables");
            return Err(Error::invalid(what(&format!("subgraph `{name}`")), got, inputs.len().to_string()));
        }
        let n_heads = if is_condition(index) { 1 } else { node.n_outputs };
        if subgraph.heads().len() != n_heads {
            let got = format!("{} outputs", subgraph.heads().len());
            return Err(Error::invalid(what(&format!("subgraph `{name}`")), got, n_heads.to_string()));
        }
    }
    match depth(&node.subgraphs) {
        deepest if deepest >= MAX_DEPTH => {
            Err(Error::invalid(what("depth"), format!("more than {MAX_DEPTH}"), format!("at most {MAX_DEPTH}")))
        }
        _ => Ok(()),
    }
}

/// The depth of control flow in these graphs, counted up to [`MAX_DEPTH`].
fn depth(graphs: &[Arc<Graph>]) -> usize {
    // The recursion ends: these subgraphs are verified graphs, so their own depth is below the limit.
    let nodes = graphs.iter().flat_map(|graph| graph.nodes()).filter(|node| node.is_control_flow());
    nodes.map(|node| 1 + depth(&node.subgraphs)).max().unwrap_or(0)
}

/// The positions of the inputs of a control-flow call that are auxiliary states. An input is one if, in a subgraph, an
/// operator reads its variable as an auxiliary state.
pub(crate) fn aux_inputs(node: &Node) -> impl Iterator<Item = usize> {
    let flow = node.control_flow().ok().flatten();
    let inputs = flow.map_or_else(Vec::new, |flow| flow.inputs);
    node.subgraphs.iter().zip(inputs).flat_map(|(subgraph, inputs)| {
        let of_variable = subgraph.variables().iter().zip(inputs);
        let is_aux = |(id, input): (&crate::NodeId, usize)| subgraph.is_aux_state(*id).then_some(input);
        of_variable.filter_map(is_aux).collect::<Vec<usize>>()
    })
}
