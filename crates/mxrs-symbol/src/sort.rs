//! Sorts nodes so that inputs come first.

use crate::check::inconsistent;
use crate::{SymbolFile, SymbolNode};
use mxrs_format::Warnings;
use mxrs_types::Result;

/// Sorts a graph and its subgraphs if any node refers to a later one. Node indices out of range are left for the subsequent
/// check.
pub(crate) fn sort(graph: &mut SymbolFile, warnings: &mut Warnings) -> Result<()> {
    let n = graph.nodes.len();
    let forward = |(id, node): (usize, &SymbolNode)| references(node).any(|r| r >= id && r < n);
    if graph.nodes.iter().enumerate().any(forward) {
        let order = post_order(graph)?;
        warnings.push(|| "nodes refer to later nodes, sorted".to_string());
        reorder(graph, &order);
    }
    for node in &mut graph.nodes {
        for subgraph in &mut node.subgraphs {
            sort(subgraph, warnings)?;
        }
    }
    Ok(())
}

fn references(node: &SymbolNode) -> impl Iterator<Item = usize> {
    node.inputs.iter().map(|e| e.node).chain(node.control_deps.iter().copied()).map(|id| id as usize)
}

/// Node indices in depth-first post-order, inputs before control dependencies.
fn post_order(graph: &SymbolFile) -> Result<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let n = graph.nodes.len();
    let mut state = vec![State::New; n];
    let mut order = Vec::with_capacity(n);
    for root in 0..n {
        // Each stack entry is a node with its references that are not visited yet.
        let mut stack = Vec::new();
        if state[root] == State::New {
            state[root] = State::Open;
            stack.push((root, references(&graph.nodes[root])));
        }
        while let Some((id, rest)) = stack.last_mut() {
            match rest.find(|&r| r < n && state[r] != State::Done) {
                Some(next) if state[next] == State::Open => {
                    return Err(inconsistent(format!(
                        "the graph has a cycle through node `{}`",
                        graph.nodes[next].name
                    )));
                }
                Some(next) => {
                    state[next] = State::Open;
                    stack.push((next, references(&graph.nodes[next])));
                }
                None => {
                    state[*id] = State::Done;
                    order.push(*id);
                    stack.pop();
                }
            }
        }
    }
    Ok(order)
}

/// Moves node `order[i]` to index `i` and updates every reference.
fn reorder(graph: &mut SymbolFile, order: &[usize]) {
    let mut place = vec![0u32; order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new as u32;
    }
    let mut nodes: Vec<Option<SymbolNode>> = std::mem::take(&mut graph.nodes).into_iter().map(Some).collect();
    graph.nodes = order.iter().filter_map(|&old| nodes[old].take()).collect();
    renumber(graph, |old| place.get(old as usize).copied().unwrap_or(old));
    graph.arg_nodes.sort_unstable();
    graph.node_row_ptr = None;
}

/// Applies `new` to every node index in `graph`, but not in its subgraphs, which have their own indices.
pub(crate) fn renumber(graph: &mut SymbolFile, new: impl Fn(u32) -> u32) {
    for node in &mut graph.nodes {
        node.inputs.iter_mut().for_each(|e| e.node = new(e.node));
        node.control_deps.iter_mut().for_each(|id| *id = new(*id));
    }
    graph.heads.iter_mut().for_each(|e| e.node = new(e.node));
    graph.arg_nodes.iter_mut().for_each(|id| *id = new(*id));
}
