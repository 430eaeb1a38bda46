//! Converts an ONNX model to a graph, node by node, and lists all nodes that mxrs cannot express.

mod assembly;
mod fold;
mod list;
mod node;
mod ops;

pub use list::imported_operators;

use crate::refusal::Refusal;
use assembly::Assembly;
use indexmap::IndexMap;
use mxrs_format::onnx::{DimensionValue, ModelProto, ValueInfoProto, dtype};
use mxrs_format::{Options, Tensor};
use mxrs_graph::Graph;
use mxrs_types::{DType, Error, PartialShape, Result, ResultExt};
use node::Reading;

/// A graph with its parameters.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The graph. Its variables have the names of the model's values.
    pub graph: Graph,
    /// Parameters and auxiliary states by name.
    pub params: IndexMap<String, Tensor>,
    /// The inputs that the user feeds.
    pub inputs: Vec<ImportedInput>,
}

/// An input of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedInput {
    /// Name of the input.
    pub name: String,
    /// Shape; sizes that the model does not state are unknown.
    pub shape: PartialShape,
    /// Element type.
    pub dtype: DType,
}

/// Converts a model to a graph that computes the same.
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::NotBuilt`] with all nodes that mxrs cannot express, the errors of
/// [`mxrs_format::onnx::check`], and an error for shapes that do not fit.
pub fn import(model: &ModelProto, options: &Options) -> Result<Imported> {
    mxrs_format::onnx::check(model, options)?;
    let (Some(graph), Some(opset)) = (&model.graph, model.opset()) else {
        return Err(Error::invalid("ONNX model", "no graph", "a graph"));
    };
    let mut assembly = Assembly::new(graph, opset, options);
    let mut inputs = Vec::new();
    for value in &graph.input {
        if assembly.is_array(&value.name) {
            continue;
        }
        let input = input(value)?;
        assembly.add_input(&input.name, input.shape.clone());
        inputs.push(input);
    }
    let mut refused: Vec<String> = Vec::new();
    for node in &graph.node {
        // Nodes that depend on a refused node are skipped.
        if !assembly.knows_inputs_of(node) {
            continue;
        }
        let mut reading = Reading::new(node, &mut assembly);
        match list::read(&mut reading) {
            Ok(()) => {}
            Err(Refusal::Inexpressible(reason)) => {
                refused.push(format!("`{}` ({}): {reason}", node.name, node.op_type))
            }
            Err(Refusal::Failed(error)) => {
                return Err(error).context(|| format!("reading node `{}` ({})", node.name, node.op_type));
            }
        }
    }
    if !refused.is_empty() {
        let what = format!("import of {} nodes of the ONNX model", refused.len());
        return Err(Error::not_built(what, refused.join("; ")));
    }
    let outputs = graph.output.iter().map(|output| assembly.operand(&output.name)).collect::<Result<Vec<_>>>()?;
    let (graph, params) = assembly.finish(outputs)?;
    Ok(Imported { graph, params, inputs })
}

fn input(value: &ValueInfoProto) -> Result<ImportedInput> {
    let wrong = |got: &str| Error::invalid(format!("type of input `{}`", value.name), got, "a dense array of numbers");
    let tensor = value.tensor_type().ok_or_else(|| wrong("none"))?;
    let dtype = dtype(tensor.elem_type).ok_or_else(|| wrong(&format!("element type {}", tensor.elem_type)))?;
    let shape = match &tensor.shape {
        None => PartialShape::unknown(),
        Some(shape) => PartialShape::new(shape.dim.iter().map(|dim| match &dim.value {
            Some(DimensionValue::Size(size)) => usize::try_from(*size).ok(),
            _ => None,
        })),
    };
    Ok(ImportedInput { name: value.name.clone(), shape, dtype })
}
