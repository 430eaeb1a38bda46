//! Converts a graph to an ONNX model, node by node, and lists all nodes that ONNX cannot express.

mod call;
mod facts;
mod list;
mod ops;
mod options;
mod unwritten;

pub use list::exported_operators;
pub use options::{ExportOptions, OPSETS};

use crate::refusal::{Refusal, refuse};
use call::{Call, Written};
use facts::Facts;
use indexmap::IndexMap;
use mxrs_format::Tensor;
use mxrs_format::onnx::{Dimension, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, from_tensor};
use mxrs_graph::{EntryId, Graph, NodeId};
use mxrs_types::{Error, Result, ResultExt};

/// The name of the batch size in the model, if the batch size is open (dynamic).
const BATCH: &str = "N";

/// Converts a graph to a model that computes the same at inference. Parameters that no node reads are left out.
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::NotBuilt`] with all nodes that ONNX cannot express; also fails for variables that are
/// neither inputs nor parameters, for input shapes with which the graph is not valid, and for options out of range.
pub fn export(
    graph: &Graph,
    params: impl IntoIterator<Item = (String, Tensor)>,
    options: &ExportOptions,
) -> Result<ModelProto> {
    options.check()?;
    let mut params: IndexMap<String, Tensor> = params.into_iter().collect();
    for (name, _) in &options.inputs {
        params.shift_remove(name);
    }
    require_parameters(graph, &params, options)?;
    let facts = Facts::new(graph, &params, options)?;
    let mut written = Written::default();
    name_in_advance(graph, &mut written);
    write_calls(graph, &facts, &mut written)?;
    let output = outputs(graph, &facts, options, &mut written);
    let Written { nodes, constants, .. } = written;
    let initializer = parameters(graph, &facts, params, &nodes)?.into_iter().chain(constants.into_values()).collect();
    let input = options.inputs.iter().filter_map(|(name, _)| {
        let entry = graph.output_id(graph.find(name)?, 0);
        (!graph.is_label(graph.find(name)?)).then(|| value(graph.entry_name(entry), entry, &facts, options))
    });
    let input = input.collect();
    let model =
        GraphProto { node: nodes, name: options.name.clone(), initializer, input, output, ..GraphProto::default() };
    Ok(ModelProto::of(model, options.opset))
}

/// Checks that every variable that inference reads is an input or has a parameter.
fn require_parameters(graph: &Graph, params: &IndexMap<String, Tensor>, options: &ExportOptions) -> Result<()> {
    let is_known = |id: &NodeId| {
        let name = &graph.node(*id).name;
        params.contains_key(name) || options.inputs.iter().any(|(input, _)| input == name) || graph.is_label(*id)
    };
    let missing: Vec<String> =
        graph.variables().iter().filter(|id| !is_known(id)).map(|id| format!("`{}`", graph.node(*id).name)).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Error::invalid(
            "variables of the graph",
            format!("neither a parameter nor the shape of an input for {}", missing.join(", ")),
            "one of both for each",
        )),
    }
}

/// Reserves the names of variables and outputs, so that nodes with the same names do not take them.
fn name_in_advance(graph: &Graph, written: &mut Written) {
    for &id in graph.variables() {
        let entry = graph.output_id(id, 0);
        let name = written.value_names.claim(&graph.node(id).name);
        written.values.insert(entry, name);
    }
    for head in graph.heads() {
        let entry = graph.entry_id(*head);
        if !written.values.contains_key(&entry) {
            let name = written.value_names.claim(&graph.entry_name(entry));
            written.values.insert(entry, name);
        }
    }
}

fn write_calls(graph: &Graph, facts: &Facts, written: &mut Written) -> Result<()> {
    let mut refused: Vec<String> = Vec::new();
    for (id, node) in graph.iter().filter(|(_, node)| !node.is_variable()) {
        let n_nodes = written.nodes.len();
        let mut call = Call { graph, facts, id, written: &mut *written };
        match used_beyond_first(graph, id).map_or_else(|| list::write(&mut call), refuse) {
            Ok(value) => settle(graph, id, value, n_nodes, written),
            Err(Refusal::Inexpressible(reason)) => {
                refused.push(format!("`{}` ({}): {reason}", node.name, node.op_name()));
            }
            Err(Refusal::Failed(error)) => {
                return Err(error).context(|| format!("writing node `{}` ({})", node.name, node.op_name()));
            }
        }
    }
    match refused.len() {
        0 => Ok(()),
        1 => Err(Error::not_built("one node as ONNX", refused.join("; "))),
        n => Err(Error::not_built(format!("{n} nodes as ONNX"), refused.join("; "))),
    }
}

/// If an output of the node other than the first is used, returns the reason why the node is refused. ONNX operators
/// have only the first output. The other outputs are workspaces, masks and statistics for training.
fn used_beyond_first(graph: &Graph, id: NodeId) -> Option<String> {
    let is_used = |entry: &EntryId| {
        !graph.consumers(*entry).is_empty() || graph.heads().iter().any(|head| graph.entry_id(*head) == *entry)
    };
    let used = graph.output_ids(id).skip(1).find(is_used)?;
    Some(format!("its output `{}` is used, which ONNX does not compute", graph.entry_name(used)))
}

/// Renames `value`, which the call computed, to the name of the call's output.
fn settle(graph: &Graph, id: NodeId, value: String, n_nodes: usize, written: &mut Written) {
    let entry = graph.output_id(id, 0);
    let made_by = (n_nodes..written.nodes.len()).rev().find(|at| written.nodes[*at].output.contains(&value));
    let head_name = written.values.get(&entry).cloned();
    match (made_by, head_name) {
        (Some(at), head_name) => {
            let output = head_name.unwrap_or_else(|| written.value_names.claim(&graph.entry_name(entry)));
            for node in &mut written.nodes[n_nodes..] {
                let names = node.input.iter_mut().chain(&mut node.output);
                names.filter(|name| **name == value).for_each(|name| *name = output.clone());
            }
            written.nodes[at].name = written.node_names.claim(&graph.node(id).name);
            written.values.insert(entry, output);
        }
        // The call returned one of its inputs, and its output is an output of the model. An output of a model must be
        // computed by a node, so an `Identity` node is written.
        (None, Some(output)) => {
            let name = written.node_names.claim(&graph.node(id).name);
            written.nodes.push(NodeProto::new("Identity", name, [value], [output]));
        }
        (None, None) => {
            written.values.insert(entry, value);
        }
    }
}

/// The outputs of the model. An output that is a variable, or that is listed twice, gets an `Identity` node of its own.
fn outputs(graph: &Graph, facts: &Facts, options: &ExportOptions, written: &mut Written) -> Vec<ValueInfoProto> {
    let mut listed: Vec<ValueInfoProto> = Vec::new();
    for head in graph.heads() {
        let entry = graph.entry_id(*head);
        let mut name = written.values.get(&entry).cloned().unwrap_or_else(|| graph.entry_name(entry));
        let is_listed = listed.iter().any(|output| output.name == name);
        if is_listed || graph.node(head.node).is_variable() {
            let copy = written.value_names.claim(&format!("{name}_output"));
            let node = written.node_names.claim(&format!("{name}_identity"));
            written.nodes.push(NodeProto::new("Identity", node, [name], [copy.clone()]));
            name = copy;
        }
        listed.push(value(name, entry, facts, options));
    }
    listed
}

/// Type and sizes of an input or output.
fn value(name: String, entry: EntryId, facts: &Facts, options: &ExportOptions) -> ValueInfoProto {
    let batch = options.inputs.first().and_then(|(_, shape)| shape.first().copied()).unwrap_or(0);
    let sizes = facts.fixed_sizes(entry);
    let dims = sizes.into_iter().enumerate().map(|(axis, size)| match size {
        Some(size) => Dimension::size(size),
        None if facts.is_batch(entry, axis, batch) => Dimension::named(BATCH),
        None => Dimension::unknown(),
    });
    ValueInfoProto::with_dims(name, facts.dtype(entry), dims.collect())
}

/// The parameters that nodes read, converted to the dtypes inferred from the inputs.
fn parameters(
    graph: &Graph,
    facts: &Facts,
    mut params: IndexMap<String, Tensor>,
    nodes: &[NodeProto],
) -> Result<Vec<TensorProto>> {
    let read: std::collections::HashSet<&str> =
        nodes.iter().flat_map(|node| node.input.iter().map(String::as_str)).collect();
    let mut arrays = Vec::new();
    for &id in graph.variables() {
        let name = &graph.node(id).name;
        let Some(tensor) = params.swap_remove(name).filter(|_| read.contains(name.as_str())) else { continue };
        let dtype = facts.dtype(graph.output_id(id, 0));
        let tensor = if tensor.dtype() == Some(dtype) { tensor } else { tensor.cast(dtype) };
        arrays.push(from_tensor(name, tensor)?);
    }
    Ok(arrays)
}
