//! Networks to measure: those of MXNet's benchmark by name, or one from files, with parameters and a random input.

use crate::exit::{Failure, Outcome};
use crate::room;
use mxrs::format::{Checkpoint, Options, Tensor};
use mxrs::graph::{Graph, NodeId, autocast, infer_dtypes, infer_shapes};
use mxrs::models::{Initializer, ModelOptions, model};
use mxrs::ndarray::NdArray;
use mxrs::types::{DType, Error, PartialShape, Result, ResultExt, Shape};
use mxrs::{Model, Runtime};
use std::collections::HashMap;
use std::path::Path;

/// Networks whose definition in MXNet does not support float16.
pub const WITHOUT_FLOAT16: [&str; 2] = ["alexnet", "inception-bn"];

/// Seed of random parameters and random input.
const SEED: u64 = 0;

/// Name of the network's input.
const INPUT: &str = "data";

/// Whether a network of this name can be built.
pub fn is_built(name: &str) -> bool {
    mxrs::models::families().iter().any(|family| family.name == name || family.aliases.contains(&name))
        || mxrs::models::networks().iter().any(|(known, _)| known == name)
}

/// If no operator of the network in a symbol file would compute in `dtype`, returns an error message that says so; otherwise
/// `None`.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn refusal(runtime: &Runtime, symbol: &Path, dtype: DType) -> Outcome<Option<String>> {
    if dtype == DType::F32 {
        return Ok(None);
    }
    let graph = Model::load_graph(runtime, symbol).map_err(Failure::input)?;
    Ok(cast(&graph, runtime, dtype)?.is_none().then(|| useless(symbol, dtype)))
}

fn useless(symbol: &Path, dtype: DType) -> String {
    format!("--dtype {dtype}: no operator of {} would compute in it", symbol.display())
}

/// The graph with its matrix products and convolutions in `dtype` instead of float32; `None` if none of them changes.
fn cast(graph: &Graph, runtime: &Runtime, dtype: DType) -> Result<Option<Graph>> {
    let n_casts = |graph: &Graph| graph.nodes().iter().filter(|node| node.op_name() == "amp_cast").count();
    let after = autocast(graph, runtime.ops(), dtype)?;
    Ok((n_casts(&after) > n_casts(graph)).then_some(after))
}

/// A parameter of a network and the work of its layer.
pub struct ParameterWork {
    /// Number of elements.
    pub n_elements: usize,
    /// Number of multiplications by elements of the parameter in the forward pass of one image.
    pub n_products: f64,
}

/// The parameters of a network, in the order of its layers, each with the work of its layer.
///
/// # Errors
/// Returns an error if the name is unknown.
pub fn parameter_work(name: &str) -> Result<Vec<ParameterWork>> {
    let built = model(name, &ModelOptions::default())?;
    let graph = built.symbol.graph()?;
    let shapes = shapes(&graph, &built.image, &HashMap::new())?;
    let is_parameter = |id: &&NodeId| graph.node(**id).name != INPUT && !graph.is_label(**id);
    let auxiliary = graph.aux_state_names();
    let parameters = graph.variables().iter().filter(is_parameter);
    let trained = parameters.filter(|id| !auxiliary.contains(&graph.node(**id).name.as_str()));
    let work = |id: &NodeId| {
        let shape = &shapes[graph.output_id(*id, 0).index()];
        let n_elements = shape.n_elements();
        // Finds the layer that reads a weight. Each element of a weight is multiplied once per output position. A bias has
        // one axis and counts no multiplications.
        let reads = |node: &mxrs::graph::Node| node.inputs.iter().any(|input| input.node == *id);
        let layer = graph.iter().find(|(_, node)| reads(node)).map(|(layer, _)| layer);
        let positions = layer
            .filter(|_| shape.ndim() > 1)
            .map_or(0, |layer| shapes[graph.output_id(layer, 0).index()].iter().skip(2).product::<usize>());
        ParameterWork { n_elements, n_products: n_elements as f64 * positions as f64 }
    };
    Ok(trained.map(work).collect())
}

/// A network that can be bound to any batch size.
pub struct Network {
    graph: Graph,
    image: Vec<usize>,
    input: String,
    params: Vec<(String, Tensor)>,
}

impl Network {
    /// A network of the benchmark, with Xavier weights of magnitude 2.
    ///
    /// # Errors
    /// Returns an error if the name is unknown or the network does not support the dtype.
    pub fn named(name: &str, dtype: DType) -> Result<Self> {
        Self::seeded(name, dtype, SEED)
    }

    /// Like [`Self::named`], but the random parameters depend on `seed`.
    ///
    /// # Errors
    /// Fails as [`Self::named`] does.
    pub fn seeded(name: &str, dtype: DType, seed: u64) -> Result<Self> {
        let built = model(name, &ModelOptions { dtype, ..ModelOptions::default() })?;
        let (graph, none) = (built.symbol.graph()?, HashMap::new());
        let shapes = shapes(&graph, &built.image, &none)?;
        Self::with_parameters(graph, &built.image, &shapes, &none, seed)
    }

    /// A network from a symbol file, with the parameters of a file or random ones. If `dtype` is not float32, matrix
    /// products and convolutions compute in `dtype`, as in mixed precision; inputs and outputs stay in float32.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read; [`Failure::Usage`] if the image does not fit the network, or if no
    /// operator would compute in the dtype; [`Failure::Run`] if the memory for the parameters is not available.
    pub fn from_files(
        runtime: &Runtime,
        symbol: &Path,
        params: Option<&Path>,
        image: &[usize],
        dtype: DType,
    ) -> Outcome<Self> {
        let graph = Model::load_graph(runtime, symbol).map_err(Failure::input)?;
        let loaded: HashMap<String, Tensor> = match params {
            None => HashMap::new(),
            Some(path) => {
                let file = Checkpoint::open(path, &Options::default()).map_err(Failure::input)?.value;
                file.arg.into_iter().chain(file.aux).collect()
            }
        };
        if !graph.argument_names().contains(&INPUT) {
            let error = Error::invalid("input of the network", "none called `data`", "an input called `data`");
            return Err(Failure::Input(error));
        }
        let shapes = shapes(&graph, image, &loaded).map_err(Failure::binding)?;
        let network = Self::with_parameters(graph, image, &shapes, &loaded, SEED).map_err(Failure::input)?;
        if dtype == DType::F32 {
            return Ok(network);
        }
        let graph = cast(&network.graph, runtime, dtype)?.ok_or_else(|| Failure::Usage(useless(symbol, dtype)))?;
        Ok(Self { graph, ..network })
    }

    /// The network with the loaded parameters, and random ones for the other variables. `shapes` has the
    /// shape of every output of every node of the graph.
    fn with_parameters(
        graph: Graph,
        image: &[usize],
        shapes: &[Shape],
        loaded: &HashMap<String, Tensor>,
        seed: u64,
    ) -> Result<Self> {
        let given = of_variables(&graph, loaded).filter_map(|(name, tensor)| Some((name, tensor.dtype()?)));
        let dtypes = infer_dtypes(&graph, given, Some(DType::F32))?.complete(&graph)?;
        let is_parameter = |id: &NodeId| graph.node(*id).name != INPUT && !graph.is_label(*id);
        let parameters: Vec<NodeId> = graph.variables().iter().copied().filter(is_parameter).collect();
        let entry = |id: NodeId| graph.output_id(id, 0).index();
        let mut missing = parameters.iter().filter(|id| !loaded.contains_key(&graph.node(**id).name));
        let bytes = missing.try_fold(0u64, |sum, id| {
            let (shape, dtype) = (&shapes[entry(*id)], dtypes[entry(*id)]);
            sum.checked_add(shape.checked_size_bytes(dtype).ok()? as u64)
        });
        room::expect("random parameters", bytes)?;
        let mut params = Vec::with_capacity(parameters.len());
        for &id in &parameters {
            let node = graph.node(id);
            let tensor = match loaded.get(&node.name) {
                Some(tensor) => tensor.clone(),
                None => random(&node.name, node.attrs.get("__init__"), &shapes[entry(id)], dtypes[entry(id)], seed)?,
            };
            params.push((node.name.clone(), tensor));
        }
        Ok(Self { graph, image: image.to_vec(), input: INPUT.to_owned(), params })
    }

    /// Splits the network into graph, parameters and input.
    pub fn into_parts(self) -> Parts {
        let Self { graph, image, input, params } = self;
        Parts { graph, params, input: Input { name: input, image } }
    }

    /// Builds a model, which holds the parameters as arrays.
    ///
    /// # Errors
    /// Returns an error if memory is exhausted.
    pub fn into_model(self, runtime: &Runtime) -> Result<(Model, Input)> {
        let Self { graph, image, input, params } = self;
        Ok((Model::from_parts(runtime, graph, params)?, Input { name: input, image }))
    }
}

/// The parts of a network.
pub struct Parts {
    /// The graph.
    pub graph: Graph,
    /// Parameters and auxiliary states by name.
    pub params: Vec<(String, Tensor)>,
    /// Name and shape of the input.
    pub input: Input,
}

/// Name and shape of the network's input.
pub struct Input {
    /// Name of the input.
    pub name: String,
    /// Shape of one image, without the batch axis.
    pub image: Vec<usize>,
}

impl Input {
    /// Shape of a batch of this size.
    pub fn shape(&self, batch_size: usize) -> Shape {
        std::iter::once(batch_size).chain(self.image.iter().copied()).collect()
    }

    /// Fills the array with random numbers, uniform from -1 to 1.
    ///
    /// # Errors
    /// Returns an error if memory is exhausted.
    pub fn fill(&self, array: &NdArray) -> Result<()> {
        let uniform = Some("[\"uniform\", {\"scale\": 1.0}]");
        let tensor = random(&self.name, uniform, array.shape(), array.dtype(), SEED)?;
        array.copy_from_bytes(tensor.stored_bytes())
    }
}

/// The loaded parameters for which the graph has a variable of the same name.
fn of_variables<'a>(
    graph: &'a Graph,
    loaded: &'a HashMap<String, Tensor>,
) -> impl Iterator<Item = (&'a str, &'a Tensor)> {
    let tensors = loaded.iter().map(|(name, tensor)| (name.as_str(), tensor));
    tensors.filter(move |(name, _)| graph.find(name).is_some_and(|id| graph.node(id).is_variable()))
}

/// Shapes of all outputs of all nodes of a graph whose input is one image.
///
/// # Errors
/// Returns an error if the image or the parameters do not fit the network.
fn shapes(graph: &Graph, image: &[usize], loaded: &HashMap<String, Tensor>) -> Result<Vec<Shape>> {
    let data: Shape = std::iter::once(1).chain(image.iter().copied()).collect();
    let doing = format!("fitting the network to `{INPUT}` {data}");
    let given = of_variables(graph, loaded);
    let given = given.filter_map(|(name, tensor)| Some((name, PartialShape::from(tensor.shape()?))));
    let shapes = infer_shapes(graph, given.chain([(INPUT, data.into())]));
    shapes.and_then(|shapes| shapes.complete(graph)).context(|| doing)
}

fn random(name: &str, init: Option<&str>, shape: &Shape, dtype: DType, seed: u64) -> Result<Tensor> {
    let values = Initializer::xavier(2.0).values(name, init, shape, seed)?;
    let tensor = Tensor::from_slice(shape.clone(), &values)?;
    Ok(if dtype == DType::F32 { tensor } else { tensor.cast(dtype) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_network_of_the_benchmark_is_built() {
        assert!(mxrs::models::BENCHMARK_NETWORKS.into_iter().all(is_built));
        assert!(is_built("vgg") && is_built("vgg-19") && is_built("resnext-50") && !is_built("resnest-50"));
    }
}
