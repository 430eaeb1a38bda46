//! A branch becomes a copy of each of its subgraphs, and a selection per output. Both branches are computed.

use super::expansion::{Body, Expansion, Size, refuse_effects};
use crate::{Entry, Node};
use mxrs_op::ControlFlow;
use mxrs_types::{Error, Result};

/// Adds the copies of a `_cond`.
pub fn expand(graph: &mut Expansion<'_>, node: &Node, flow: &ControlFlow, bodies: &[Body]) -> Result<Vec<Entry>> {
    let [cond, then, otherwise] = bodies else {
        return Err(Error::invalid("branch", bodies.len(), "three subgraphs"));
    };
    bodies.iter().try_for_each(|body| refuse_effects(node, body))?;
    let n_more = then.n_variables + otherwise.n_variables + node.n_outputs;
    let names = n_more.saturating_mul(node.name.len() + 64);
    graph.reserve(node, 1, &[cond, then, otherwise], Size::default().plus(n_more, n_more.saturating_mul(4), names))?;
    let inputs: Vec<Entry> = node.inputs.iter().map(|input| graph.entry(*input)).collect();
    let values = |index: usize| flow.inputs[index].iter().map(|input| inputs[*input]).collect::<Vec<Entry>>();
    let mask = graph.copy(cond, &format!("{}_cond_", node.name), &values(0))?[0];
    let mut branches = Vec::with_capacity(2);
    for (index, word, inverted) in [(1, "then", false), (2, "else", true)] {
        let prefix = format!("{}_{word}_", node.name);
        let values = graph.gated((&prefix, node), &node.subgraphs[index], values(index), (mask, inverted))?;
        branches.push(graph.copy(&bodies[index], &prefix, &values)?);
    }
    let mut outputs = Vec::with_capacity(node.n_outputs);
    for (index, (on, off)) in branches[0].iter().zip(&branches[1]).enumerate() {
        outputs.push(graph.select(format!("{}_out{index}", node.name), node, [*on, *off, mask])?);
    }
    Ok(outputs)
}
