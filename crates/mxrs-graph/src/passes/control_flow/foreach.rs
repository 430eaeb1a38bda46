//! A loop over rows becomes one copy of its body per row.
//!
//! `SliceChannel` cuts the data into all rows at once, and `stack` joins the rows of each output. So the gradient of the
//! data is also computed by one call. If each row were a separate slice of the data, the gradient would add as many tensors
//! of the size of the data as there are rows.

use super::expansion::{Body, Expansion, Size};
use crate::{Entry, Node};
use mxrs_op::{ControlFlow, ControlKind};
use mxrs_types::{Error, ErrorKind, PartialShape, Result};

/// The most rows that one call cuts or stacks, because calls have a limited number of inputs and outputs.
const MAX_ROWS: usize = 1 << 15;

/// Adds the copies of a `_foreach`. `shapes` are those of its inputs.
pub fn expand(
    graph: &mut Expansion<'_>,
    node: &Node,
    flow: &ControlFlow,
    bodies: &[Body],
    shapes: &[PartialShape],
) -> Result<Vec<Entry>> {
    let (ControlKind::ForEach { data, states, n_out_data }, [body]) = (&flow.kind, bodies) else {
        return Err(Error::invalid("loop over rows", "another call", "one subgraph"));
    };
    let n_steps = n_steps(graph, node, &shapes[..data.len()])?;
    // Each step adds one output to the call that cuts each data input, and one input to the call that stacks each output.
    let more = Size::default().plus(0, data.len() + n_out_data, 0);
    graph.reserve(node, n_steps, &[body], more)?;
    let inputs: Vec<Entry> = node.inputs.iter().map(|input| graph.entry(*input)).collect();
    let mut rows = Vec::with_capacity(data.len());
    for (index, (input, shape)) in inputs.iter().zip(&shapes[..data.len()]).enumerate() {
        rows.push(cut(graph, node, index, *input, shape, n_steps)?);
    }
    let mut values: Vec<Entry> = flow.inputs[0].iter().map(|input| inputs[*input]).collect();
    let mut outs: Vec<Vec<Entry>> = vec![Vec::with_capacity(n_steps); *n_out_data];
    let mut last = states.iter().map(|state| values[*state]).collect::<Vec<Entry>>();
    for step in 0..n_steps {
        for (variable, rows) in data.iter().zip(&rows) {
            values[*variable] = rows[step];
        }
        for (variable, state) in states.iter().zip(&last) {
            values[*variable] = *state;
        }
        let heads = graph.copy(body, &format!("{}_step{step}_", node.name), &values)?;
        outs.iter_mut().zip(&heads).for_each(|(out, head)| out.push(*head));
        last = heads[*n_out_data..].to_vec();
    }
    let mut outputs = Vec::with_capacity(node.n_outputs);
    for (index, rows) in outs.into_iter().enumerate() {
        outputs.push(stack(graph, node, index, rows)?);
    }
    outputs.extend(last);
    Ok(outputs)
}

/// The number of rows, which is the same for all data.
fn n_steps(graph: &Expansion<'_>, node: &Node, shapes: &[PartialShape]) -> Result<usize> {
    if shapes.iter().all(|shape| shape.ndim().is_some_and(|n| n > 0) && shape.dim(0) == shapes[0].dim(0))
        && let Some(n) = shapes[0].dim(0).filter(|n| *n > 0)
    {
        return Ok(n);
    }
    let names = node.inputs[..shapes.len()].iter().map(|input| graph.old.entry_name(graph.old.entry_id(*input)));
    Err(Error::new(ErrorKind::Unresolved { names: names.collect(), what: "shape" }))
}

/// The rows of a tensor.
fn cut(
    graph: &mut Expansion<'_>,
    node: &Node,
    index: usize,
    data: Entry,
    shape: &PartialShape,
    n_rows: usize,
) -> Result<Vec<Entry>> {
    // A row of a tensor with one axis has the shape (1,).
    let squeezes = if shape.ndim() == Some(1) { "False" } else { "True" };
    let mut rows = Vec::with_capacity(n_rows);
    for begin in (0..n_rows).step_by(MAX_ROWS) {
        let end = n_rows.min(begin + MAX_ROWS);
        let part = if n_rows <= MAX_ROWS {
            data
        } else {
            let (from, to) = (begin.to_string(), end.to_string());
            let attrs = [("axis", "0"), ("begin", from.as_str()), ("end", to.as_str())];
            graph.call("slice_axis", format!("{}_data{index}_from{begin}", node.name), node, &attrs, vec![data])?
        };
        let count = (end - begin).to_string();
        let attrs = [("axis", "0"), ("num_outputs", count.as_str()), ("squeeze_axis", squeezes)];
        let name = format!("{}_data{index}_rows", node.name);
        let cut = graph.call("SliceChannel", name, node, &attrs, vec![part])?;
        rows.extend((0..(end - begin) as u32).map(|row| Entry::new(cut.node, row)));
    }
    Ok(rows)
}

/// The tensor of these rows, which is output `index` of the node.
pub(super) fn stack(graph: &mut Expansion<'_>, node: &Node, index: usize, rows: Vec<Entry>) -> Result<Entry> {
    let mut parts = Vec::new();
    for rows in rows.chunks(MAX_ROWS) {
        let count = rows.len().to_string();
        let attrs = [("axis", "0"), ("num_args", count.as_str())];
        parts.push(graph.call("stack", format!("{}_out{index}", node.name), node, &attrs, rows.to_vec())?);
    }
    match parts.as_slice() {
        [one] => Ok(*one),
        many => {
            let count = many.len().to_string();
            let attrs = [("dim", "0"), ("num_args", count.as_str())];
            graph.call("Concat", format!("{}_out{index}", node.name), node, &attrs, parts)
        }
    }
}
