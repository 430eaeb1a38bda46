//! Which nodes are quantised: MXNet's smart and full modes.

use crate::rules::{Facts, Rule};
use crate::{QuantizeMode, QuantizeOptions};
use mxrs_graph::{Graph, Node, NodeId};
use mxrs_types::{Error, Result};

/// The rule of each node that is quantised, and why each other one is not. Variables have neither.
pub(crate) type Marks = Vec<Result<Rule, String>>;

/// Decides for every node.
///
/// # Errors
/// Names and operators to exclude that the graph does not have.
pub(crate) fn mark(facts: &Facts<'_>, options: &QuantizeOptions) -> Marks {
    let graph = facts.graph;
    let mut marks: Marks = graph
        .iter()
        .map(|(id, node)| match is_excluded(options, node) {
            true => Err("excluded".to_owned()),
            false => facts.rule(id),
        })
        .collect();
    if options.mode == QuantizeMode::Smart {
        let (after, before) = (reached(graph, &marks, true), reached(graph, &marks, false));
        for (index, mark) in marks.iter_mut().enumerate() {
            if mark.as_ref().is_ok_and(|rule| !rule.is_must) && !(after[index] && before[index]) {
                *mark = Err("not between two quantised layers".to_owned());
            }
        }
    }
    marks
}

/// Whether the caller wants a node left as it is.
pub(crate) fn is_excluded(options: &QuantizeOptions, node: &Node) -> bool {
    options.excluded_names.contains(&node.name) || options.excluded_ops.iter().any(|op| op == node.op_name())
}

/// Refuses exclusions that exclude nothing.
///
/// # Errors
/// A name that no call has; an operator that is not called.
pub(crate) fn check_exclusions(graph: &Graph, options: &QuantizeOptions) -> Result<()> {
    let has = |is: &dyn Fn(&Node) -> bool| graph.nodes().iter().any(|node| !node.is_variable() && is(node));
    for name in &options.excluded_names {
        if !has(&|node| node.name == *name) {
            return Err(Error::invalid("node to exclude", format!("`{name}`"), "the name of a node of the network"));
        }
    }
    for op in &options.excluded_ops {
        if !has(&|node| node.op_name() == op) {
            return Err(Error::invalid("operator to exclude", format!("`{op}`"), "an operator of the network"));
        }
    }
    Ok(())
}

/// Nodes that a chain of quantisable ones connects with one that must be quantised: after it, or before it.
fn reached(graph: &Graph, marks: &Marks, is_after: bool) -> Vec<bool> {
    let mut reached = vec![false; graph.n_nodes()];
    let mut open: Vec<NodeId> =
        graph.iter().map(|(id, _)| id).filter(|id| marks[id.index()].as_ref().is_ok_and(|rule| rule.is_must)).collect();
    while let Some(id) = open.pop() {
        let next: Vec<NodeId> = if is_after {
            graph.output_ids(id).flat_map(|entry| graph.consumers(entry)).map(|(reader, _)| *reader).collect()
        } else {
            graph.node(id).inputs.iter().map(|input| input.node).collect()
        };
        for id in next {
            let is_support = marks[id.index()].as_ref().is_ok_and(|rule| !rule.is_must);
            if is_support && !std::mem::replace(&mut reached[id.index()], true) {
                open.push(id);
            }
        }
    }
    reached
}
