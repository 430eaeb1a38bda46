//! The graph that a command works on, a symbol file or a network by name, with the shapes of its inputs.

use crate::args::{float_dtype, named_shape};
use crate::exit::{Failure, Outcome};
use mxrs::graph::{Graph, Inferred, infer_shapes};
use mxrs::models::{ModelOptions, model, networks};
use mxrs::types::{DType, PartialShape, Shape};
use mxrs::{Model, Runtime};
use std::path::Path;

/// Arguments that name a graph and the shapes of its inputs.
#[derive(clap::Args, Clone, Debug)]
pub struct SubjectArgs {
    /// Symbol file, such as `resnet-50-symbol.json`, or the name of a network, such as `resnet-50`
    #[arg(value_name = "SYMBOL|NETWORK")]
    symbol: String,
    /// Shape of an input, such as `data=1,3,224,224` or `data=(1,3,224,224)`; can be given several times
    #[arg(long, value_name = "NAME=SIZES", value_parser = named_shape)]
    shape: Vec<(String, Shape)>,
    /// Batch size, which is the first size of every input [default: that of --shape; 1 for networks]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batch: Option<u32>,
    /// Data type of the input: float32, float16, bfloat16
    #[arg(long, value_name = "TYPE", default_value = "float32", value_parser = float_dtype)]
    dtype: DType,
}

/// A graph and its inputs.
pub struct Subject {
    /// Name of the network, or of the file without its extension.
    pub name: String,
    /// The graph.
    pub graph: Graph,
    /// Inputs with their shapes.
    pub inputs: Vec<(String, Shape)>,
    /// Element type of the input.
    pub dtype: DType,
    is_named: bool,
}

impl SubjectArgs {
    /// Reads the file or builds the network.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if the name is neither a file nor a network.
    pub fn load(&self, runtime: &Runtime) -> Outcome<Subject> {
        let path = Path::new(&self.symbol);
        let mut inputs = self.shape.clone();
        let is_file = path.is_file() || self.symbol.ends_with(".json") || path.components().count() > 1;
        let (name, graph) = if is_file {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.trim_end_matches(".json").trim_end_matches("-symbol").to_owned();
            (name, Model::load_graph(runtime, path).map_err(Failure::input)?)
        } else {
            let options = ModelOptions { dtype: self.dtype, ..ModelOptions::default() };
            let built = model(&self.symbol, &options).map_err(|error| unknown(&self.symbol, &error))?;
            if !inputs.iter().any(|(name, _)| name == "data") {
                inputs.push(("data".into(), std::iter::once(1).chain(built.image).collect()));
            }
            (self.symbol.clone(), built.symbol.graph().map_err(Failure::from)?)
        };
        if let Some(batch) = self.batch {
            for (_, shape) in &mut inputs {
                *shape = std::iter::once(batch as usize).chain(shape.iter().skip(1).copied()).collect();
            }
        }
        Ok(Subject { name, graph, inputs, dtype: self.dtype, is_named: !is_file })
    }
}

impl Subject {
    /// Names and shapes of the inputs, in the form in which binding takes them.
    pub fn inputs(&self) -> Vec<(&str, Shape)> {
        self.inputs.iter().map(|(name, shape)| (name.as_str(), shape.clone())).collect()
    }

    /// The batch size, if the graph has an input.
    pub fn batch(&self) -> Option<usize> {
        self.inputs.first().and_then(|(_, shape)| shape.first().copied())
    }

    /// The shapes that follow from those of the inputs.
    ///
    /// # Errors
    /// Fails if the graph does not have an input of a given name, or if shapes do not fit the graph.
    pub fn shapes(&self) -> Outcome<Inferred<PartialShape>> {
        let given = self.inputs.iter().map(|(name, shape)| (name.as_str(), PartialShape::from(shape)));
        infer_shapes(&self.graph, given).map_err(Failure::binding)
    }

    /// Checks that all shapes follow from those of the inputs.
    ///
    /// # Errors
    /// Fails as [`Self::shapes`] does. If a shape is unknown, the error names the first input without a shape, and how many
    /// more variables have none.
    pub fn require_shapes(&self) -> Outcome {
        let shapes = self.shapes()?;
        let is_unknown = |id: &&mxrs::graph::NodeId| shapes.known(self.graph.output_id(**id, 0)).is_none();
        let unknown: Vec<&str> =
            self.graph.variables().iter().filter(is_unknown).map(|id| self.graph.node(*id).name.as_str()).collect();
        let Some(first) = unknown.first() else { return Ok(()) };
        let others = match unknown.len() - 1 {
            0 => String::new(),
            n => format!(" (and {n} variables more may follow from it)"),
        };
        let example = if self.is_named { "data=1,3,224,224".to_owned() } else { format!("{first}=1,3,224,224") };
        Err(Failure::Usage(format!("the shape of input `{first}` is not known{others}: give --shape {example}")))
    }
}

/// The error for a name that is neither a file nor a network.
fn unknown(name: &str, error: &mxrs::Error) -> Failure {
    let known: Vec<String> = networks().into_iter().map(|(known, _)| known).collect();
    if known.iter().any(|known| known == name) {
        return Failure::Usage(error.to_string());
    }
    // Only the first characters are compared, because the time to compute the edit distance grows with the length of the name.
    let cut: String = name.chars().take(100).collect();
    let nearest = known.iter().min_by_key(|known| strsim::damerau_levenshtein(known, &cut));
    let nearest = nearest.map_or(String::new(), |nearest| format!("; the nearest is `{nearest}`"));
    Failure::Usage(format!("`{cut}` is neither a file nor a network{nearest}; networks are {}", known.join(", ")))
}
