//! Converts an ONNX model to a graph, node by node, and lists all nodes that mxrs cannot express.

mod assembly;
mod budget;
mod fold;
mod list;
mod node;
mod open;
mod ops;
mod options;

pub use list::imported_operators;
pub use options::ImportOptions;

use crate::refusal::Refusal;
use assembly::Assembly;
use indexmap::IndexMap;
use mxrs_format::onnx::{ModelProto, ValueInfoProto, dtype};
use mxrs_format::{Options, Tensor};
use mxrs_graph::Graph;
use mxrs_types::{DType, Error, PartialShape, Result, ResultExt};
use node::Reading;

/// The most nodes for which an error gives the reason. A malicious model could have millions.
const MOST_REASONS: usize = 200;
/// The most characters of a reason, which may contain long names and lists of the model.
const MOST_CHARS: usize = 4000;

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
    /// Shape; sizes that neither the model nor the options state are unknown.
    pub shape: PartialShape,
    /// Element type.
    pub dtype: DType,
}

/// Converts a model to a graph that computes the same. Sizes that the model leaves open stay open, and the limits are those of
/// [`ImportOptions::default`]; [`import_with`] takes other options.
///
/// # Errors
/// Returns the errors of [`import_with`].
pub fn import(model: &ModelProto, options: &Options) -> Result<Imported> {
    import_with(model, &ImportOptions { format: options.clone(), ..ImportOptions::default() })
}

/// Converts a model to a graph that computes the same, for the sizes that the options give.
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::NotBuilt`] with all nodes that mxrs cannot express; if the reason is an open size, it names
/// the input of the model. Returns the errors of [`mxrs_format::onnx::check`], an error for shapes that do not fit, and
/// `LimitExceeded` for a value that is larger than the options allow.
pub fn import_with(model: &ModelProto, options: &ImportOptions) -> Result<Imported> {
    mxrs_format::onnx::check(model, &options.format)?;
    let (Some(graph), Some(opset)) = (&model.graph, model.opset()) else {
        return Err(Error::invalid("ONNX model", "no graph", "a graph"));
    };
    let mut assembly = Assembly::new(graph, opset, options);
    let fed: Vec<&ValueInfoProto> = graph.input.iter().filter(|value| !assembly.is_array(&value.name)).collect();
    let shapes = open::input_shapes(&fed, options)?;
    let mut inputs = Vec::new();
    for (value, shape) in fed.into_iter().zip(shapes) {
        let input = ImportedInput { name: value.name.clone(), shape, dtype: element_type(value)? };
        assembly.add_input(value, input.shape.clone(), input.dtype);
        inputs.push(input);
    }
    let (mut refused, mut n_refused): (Vec<String>, usize) = (Vec::new(), 0);
    for node in &graph.node {
        // Nodes that depend on a refused node are skipped.
        if !assembly.knows_inputs_of(node) {
            continue;
        }
        let mut reading = Reading::new(node, &mut assembly);
        match list::read(&mut reading) {
            Ok(()) => {}
            Err(Refusal::Inexpressible(reason)) => {
                n_refused += 1;
                if n_refused <= MOST_REASONS {
                    refused.push(shortened(format!("`{}` ({}): {reason}", node.name, node.op_type)));
                }
            }
            Err(Refusal::Failed(error)) => {
                return Err(error).context(|| format!("reading node `{}` ({})", node.name, node.op_type));
            }
        }
    }
    if n_refused > 0 {
        if n_refused > MOST_REASONS {
            refused.push(format!("and {} other nodes", n_refused - MOST_REASONS));
        }
        let what = format!("import of {n_refused} nodes of the ONNX model");
        return Err(Error::not_built(what, refused.join("; ")));
    }
    let outputs = graph.output.iter().map(|output| assembly.operand(&output.name)).collect::<Result<Vec<_>>>()?;
    let (graph, params) = assembly.finish(outputs)?;
    Ok(Imported { graph, params, inputs })
}

/// The text, cut if it is too long.
fn shortened(text: String) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The element type of an input, which must be a dense array.
fn element_type(value: &ValueInfoProto) -> Result<DType> {
    let wrong = |got: &str| Error::invalid(format!("type of input `{}`", value.name), got, "a dense array of numbers");
    let tensor = value.tensor_type().ok_or_else(|| wrong("none"))?;
    dtype(tensor.elem_type).ok_or_else(|| wrong(&format!("element type {}", tensor.elem_type)))
}
