//! Checks of a graph that do not depend on its operators.

use crate::{Entry, SymbolFile, SymbolNode};
use mxrs_format::Warnings;
use mxrs_format::fault;
use mxrs_types::{Error, FormatErrorKind, Result};
use std::collections::HashSet;

pub(crate) fn inconsistent(context: String) -> Error {
    fault::whole(FormatErrorKind::Inconsistent, context)
}

/// Checks a graph with its subgraphs. Removes, with a warning, a `node_row_ptr` that cannot be the prefix sums of the nodes'
/// output counts.
pub(crate) fn check(graph: &mut SymbolFile, warnings: &mut Warnings) -> Result<()> {
    let n = graph.nodes.len();
    let mut names = HashSet::new();
    for (id, node) in graph.nodes.iter().enumerate() {
        check_node(graph, id, node)?;
        if node.is_variable() && !names.insert(node.name.as_str()) {
            return Err(fault::whole(FormatErrorKind::Duplicate, format!("two variables are named `{}`", node.name)));
        }
    }
    for head in &graph.heads {
        check_entry(graph, *head, n, || "a head".to_string())?;
    }

    let mut listed = HashSet::new();
    for &id in &graph.arg_nodes {
        match graph.nodes.get(id as usize) {
            None => return Err(inconsistent(format!("arg_nodes names node {id} of {n}"))),
            Some(node) if !node.is_variable() => {
                let context =
                    format!("arg_nodes names node {id}, `{}`, which is a {}, not a variable", node.name, node.op);
                return Err(inconsistent(context));
            }
            Some(_) => {}
        }
        if !listed.insert(id) {
            return Err(inconsistent(format!("arg_nodes names node {id} twice")));
        }
    }
    let unlisted = names.len() - listed.len();
    if unlisted > 0 {
        warnings.push(|| format!("arg_nodes leaves out {unlisted} variables"));
    }

    let fits = |sums: &Vec<u32>| sums.len() == n + 1 && sums[0] == 0 && sums.is_sorted();
    if graph.node_row_ptr.as_ref().is_some_and(|sums| !fits(sums)) {
        warnings.push(|| "node_row_ptr does not fit the nodes, ignored".to_string());
        graph.node_row_ptr = None;
    }
    for node in &mut graph.nodes {
        for subgraph in &mut node.subgraphs {
            check(subgraph, warnings).map_err(|e| e.context(format!("checking a subgraph of `{}`", node.name)))?;
        }
    }
    Ok(())
}

fn check_node(graph: &SymbolFile, id: usize, node: &SymbolNode) -> Result<()> {
    if node.is_variable() && !node.inputs.is_empty() {
        return Err(inconsistent(format!("variable `{}` has inputs", node.name)));
    }
    for input in &node.inputs {
        check_entry(graph, *input, id, || format!("node {id}, `{}`,", node.name))?;
    }
    for &dep in &node.control_deps {
        check_entry(graph, Entry { node: dep, ..Entry::default() }, id, || format!("node {id}, `{}`,", node.name))?;
    }
    Ok(())
}

/// Checks that an entry refers to one of the first `before` nodes, and to output 0 if that node is a variable.
fn check_entry(graph: &SymbolFile, entry: Entry, before: usize, who: impl Fn() -> String) -> Result<()> {
    let n = graph.nodes.len();
    let Some(node) = graph.nodes.get(entry.node as usize) else {
        return Err(inconsistent(format!("{} refers to node {} of {n}", who(), entry.node)));
    };
    if entry.node as usize >= before {
        let context = format!("{} refers to node {}, which does not come before it", who(), entry.node);
        return Err(inconsistent(context));
    }
    if node.is_variable() && entry.index != 0 {
        let context = format!("{} takes output {} of variable `{}`, which has one", who(), entry.index, node.name);
        return Err(inconsistent(context));
    }
    Ok(())
}
