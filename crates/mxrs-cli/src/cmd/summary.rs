//! `mxrs summary`: prints the layers of a symbol file with their output shapes and numbers of parameters.
//!
//! The output is that of MXNet's `print_summary`. Parameters are counted from the inferred shapes of all variables, each at
//! the first layer that reads it. So all operators are included, and shared weights count once.

use crate::args::{Format, named_shape};
use crate::exit::{Failure, Outcome};
use crate::{start, terminal};
use mxrs::Model;
use mxrs::graph::{Graph, Inferred, Node, NodeId, infer_shapes};
use mxrs::types::{PartialShape, Shape};
use serde::Serialize;
use std::collections::HashSet;
use std::path::PathBuf;

/// Arguments of `summary`.
#[derive(clap::Args)]
pub struct Args {
    /// Symbol file, such as `resnet-50-symbol.json`
    symbol: PathBuf,
    /// Shape of an input, such as `data=1,3,224,224`; can be given several times
    #[arg(long, value_name = "NAME=SIZES", value_parser = named_shape)]
    shape: Vec<(String, Shape)>,
    /// Width of the table in columns
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u16).range(20..=1000))]
    line_length: u16,
    /// Relative positions of the ends of the columns, as fractions of the width
    #[arg(long, value_delimiter = ',', num_args = 4, default_values_t = [0.44, 0.64, 0.74, 1.0])]
    positions: Vec<f64>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// One line of the table.
#[derive(Serialize)]
struct Layer {
    name: String,
    #[serde(rename = "type")]
    op: String,
    /// Shape without the batch axis, as MXNet prints it; empty if unknown.
    output_shape: Vec<usize>,
    /// Number of parameters; `None` if a shape is unknown.
    params: Option<u64>,
    previous: Vec<String>,
}

/// The whole table.
#[derive(Serialize)]
struct Summary {
    layers: Vec<Layer>,
    /// Number of all parameters; `None` if a shape is unknown.
    total_params: Option<u64>,
    trainable_params: Option<u64>,
    auxiliary_params: Option<u64>,
    /// Variables whose shape is unknown.
    unknown: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// Fails if the symbol file cannot be read, or if the shapes do not fit the graph.
pub fn run(args: &Args) -> Outcome {
    let runtime = start::runtime(None)?;
    let graph = Model::load_graph(&runtime, &args.symbol).map_err(Failure::input)?;
    let given = args.shape.iter().map(|(name, shape)| (name.as_str(), PartialShape::from(shape)));
    let shapes = infer_shapes(&graph, given).map_err(Failure::binding)?;
    let inputs: Vec<&str> = args.shape.iter().map(|(name, _)| name.as_str()).collect();
    let summary = summarize(&graph, &shapes, &inputs);
    match args.format {
        Format::Json => terminal::print_json(&summary),
        Format::Table => terminal::print(&text(&summary, usize::from(args.line_length), &args.positions)),
    }
}

fn summarize(graph: &Graph, shapes: &Inferred<PartialShape>, inputs: &[&str]) -> Summary {
    let is_param = |id: NodeId| is_parameter(graph, id, inputs);
    let count = |id: NodeId| shapes.known(graph.output_id(id, 0)).map(|shape| shape.n_elements() as u64);
    let mut counted = HashSet::new();
    let mut layers = Vec::new();
    for (id, node) in graph.iter() {
        // As in MXNet, variables have no line, except for the first node.
        if node.is_variable() && id.index() > 0 {
            continue;
        }
        let mine = node.inputs.iter().map(|input| input.node).filter(|&input| is_param(input) && counted.insert(input));
        let params = mine.map(count).sum::<Option<u64>>();
        layers.push(Layer { params, ..layer(graph, shapes, id, node) });
    }
    let total = |of: &dyn Fn(NodeId) -> bool| {
        graph.variables().iter().filter(|&&id| is_param(id) && of(id)).map(|&id| count(id)).sum::<Option<u64>>()
    };
    let is_unknown = |id: &&NodeId| shapes.known(graph.output_id(**id, 0)).is_none();
    Summary {
        layers,
        total_params: total(&|_| true),
        trainable_params: total(&|id| !graph.is_aux_state(id)),
        auxiliary_params: total(&|id| graph.is_aux_state(id)),
        unknown: graph.variables().iter().filter(is_unknown).map(|&id| graph.node(id).name.clone()).collect(),
    }
}

fn layer(graph: &Graph, shapes: &Inferred<PartialShape>, id: NodeId, node: &Node) -> Layer {
    let output = shapes.known(graph.output_id(id, 0));
    let mut previous: Vec<String> = Vec::new();
    for input in node.inputs.iter().map(|input| graph.node(input.node)).filter(|input| !input.is_variable()) {
        previous.push(input.name.clone());
    }
    Layer {
        name: node.name.clone(),
        op: node.op_name().to_owned(),
        output_shape: output.map(|shape| shape.iter().skip(1).copied().collect()).unwrap_or_default(),
        params: None,
        previous,
    }
}

/// Whether a variable is a parameter: not an input with a given shape, not a label, and not the first node (the data).
fn is_parameter(graph: &Graph, id: NodeId, inputs: &[&str]) -> bool {
    let node = graph.node(id);
    if !node.is_variable() || inputs.contains(&node.name.as_str()) || (inputs.is_empty() && id.index() == 0) {
        return false;
    }
    let readers = graph.consumers(graph.output_id(id, 0));
    let ignores = |&(reader, position): &(NodeId, u32)| {
        graph.node(reader).op.as_ref().is_some_and(|op| op.ignored_at_inference.contains(&(position as usize)))
    };
    readers.is_empty() || !readers.iter().all(ignores)
}

fn text(summary: &Summary, width: usize, positions: &[f64]) -> String {
    let ends: Vec<usize> = positions.iter().map(|part| (part * width as f64) as usize).collect();
    let (thin, thick) = ("_".repeat(width), "=".repeat(width));
    let number = |count: Option<u64>| count.map_or("?".to_owned(), |count| count.to_string());
    let mut lines =
        vec![thin.clone(), row(&["Layer (type)", "Output Shape", "Param #", "Previous Layer"], &ends), thick.clone()];
    for (i, layer) in summary.layers.iter().enumerate() {
        let shape = layer.output_shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        let name = format!("{}({})", layer.name, layer.op);
        let mut previous = layer.previous.iter().map(String::as_str);
        lines.push(row(&[&name, &shape, &number(layer.params), previous.next().unwrap_or("")], &ends));
        lines.extend(previous.map(|name| row(&["", "", "", name], &ends)));
        lines.push(if i + 1 == summary.layers.len() { thick.clone() } else { thin.clone() });
    }
    lines.push(format!("Total params: {}", number(summary.total_params)));
    lines.push(format!("Trainable params: {}", number(summary.trainable_params)));
    lines.push(format!("Auxiliary params: {}", number(summary.auxiliary_params)));
    if summary.total_params.is_none() {
        lines.push(format!(
            "No shape is known for: {}; give --shape, such as data=1,3,224,224",
            summary.unknown.join(", ")
        ));
    }
    lines.push(thin);
    lines.join("\n") + "\n"
}

/// Formats a line of the table. Each cell is cut or padded to the end of its column.
fn row(cells: &[&str], ends: &[usize]) -> String {
    let mut line: Vec<char> = Vec::new();
    for (cell, &end) in cells.iter().zip(ends) {
        line.extend(cell.chars());
        line.resize(end, ' ');
    }
    line.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_cut_and_padded() {
        assert_eq!(row(&["abcdef", "x", ""], &[4, 8, 10]), "abcdx     ");
    }
}
