//! A loop with a condition becomes `max_iterations` copies of its body. A mask says whether a step is taken. Once the
//! condition of a step is 0, the mask is 0 in this step and in all later ones.
//!
//! A step that is not taken does not change the states, and its row of each output is 0.

use super::expansion::{Body, Expansion, Size, refuse_effects};
use super::foreach::stack;
use crate::{Entry, Node};
use mxrs_op::{ControlFlow, ControlKind};
use mxrs_types::{Error, Result};

/// Adds the copies of a `_while_loop`.
pub fn expand(graph: &mut Expansion<'_>, node: &Node, flow: &ControlFlow, bodies: &[Body]) -> Result<Vec<Entry>> {
    let (ControlKind::While { states, n_out_data, max_iterations }, [cond, body]) = (&flow.kind, bodies) else {
        return Err(Error::invalid("loop with a condition", "another call", "two subgraphs"));
    };
    refuse_effects(node, cond)?;
    refuse_effects(node, body)?;
    // Each step also adds a gate for each variable, a selection for the mask and for each output of the call, and a
    // `zeros_like` for each stacked output.
    let n_more = body.n_variables + 1 + node.n_outputs + n_out_data;
    let names = n_more.saturating_mul(node.name.len() + 64);
    graph.reserve(
        node,
        *max_iterations,
        &[cond, body],
        Size::default().plus(n_more, n_more.saturating_mul(4), names),
    )?;
    let inputs: Vec<Entry> = node.inputs.iter().map(|input| graph.entry(*input)).collect();
    let subgraph = &node.subgraphs[1];
    // The current values of the call's inputs. After each step, the position of a state's initial value holds the new state.
    let mut current = inputs;
    let places: Vec<usize> = states.iter().map(|state| flow.inputs[1][*state]).collect();
    let mut outs: Vec<Vec<Entry>> = vec![Vec::new(); *n_out_data];
    let mut mask: Option<Entry> = None;
    for step in 0..*max_iterations {
        let prefix = format!("{}_step{step}_", node.name);
        let values: Vec<Entry> = flow.inputs[0].iter().map(|input| current[*input]).collect();
        let condition = graph.copy(cond, &format!("{prefix}cond_"), &values)?[0];
        let taken = match mask {
            None => condition,
            Some(before) => graph.select(format!("{prefix}taken"), node, [condition, before, before])?,
        };
        mask = Some(taken);
        let mut values: Vec<Entry> = flow.inputs[1].iter().map(|input| current[*input]).collect();
        // A variable that is not a state stays as it was before the loop, even if it is the same input as a state.
        for (variable, input) in flow.inputs[1].iter().enumerate() {
            if !states.contains(&variable) {
                values[variable] = graph.entry(node.inputs[*input]);
            }
        }
        let values = graph.gated((&prefix, node), subgraph, values, (taken, false))?;
        let heads = graph.copy(body, &prefix, &values)?;
        for (index, out) in outs.iter_mut().enumerate() {
            let zeros = graph.call("zeros_like", format!("{prefix}no_out{index}"), node, &[], vec![heads[index]])?;
            out.push(graph.select(format!("{prefix}out{index}"), node, [heads[index], zeros, taken])?);
        }
        for (state, place) in places.iter().enumerate() {
            let (new, old) = (heads[n_out_data + state], current[*place]);
            current[*place] = graph.select(format!("{prefix}state{state}"), node, [new, old, taken])?;
        }
    }
    let mut outputs = Vec::with_capacity(node.n_outputs);
    for (index, rows) in outs.into_iter().enumerate() {
        outputs.push(stack(graph, node, index, rows)?);
    }
    outputs.extend(places.iter().map(|place| current[*place]));
    Ok(outputs)
}
