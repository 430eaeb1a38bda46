//! Networks to measure: those of MXNet's benchmark by name, or one from files; with parameters and an input.

use mxrs::format::Tensor;
use mxrs::graph::{Graph, infer_dtypes, infer_shapes};
use mxrs::models::{Initializer, ModelOptions, model};
use mxrs::ndarray::NdArray;
use mxrs::types::{DType, Error, PartialShape, Result, Shape};
use mxrs::{Model, Runtime};
use std::collections::HashMap;
use std::path::Path;

/// What MXNet's benchmark measures, in its order.
pub const BENCHMARK: [&str; 12] = [
    "alexnet",
    "vgg-16",
    "resnetv1-50",
    "resnet-50",
    "resnet-152",
    "inception-bn",
    "inception-v3",
    "inception-v4",
    "inception-resnet-v2",
    "mobilenet",
    "densenet121",
    "squeezenet1.1",
];

/// Those whose definition has no float16 in MXNet.
pub const WITHOUT_FLOAT16: [&str; 2] = ["alexnet", "inception-bn"];

/// Seed of parameters and input.
const SEED: u64 = 0;

/// Whether a network of this name can be built.
pub fn is_built(name: &str) -> bool {
    mxrs::models::families().iter().any(|family| family.name == name || family.aliases.contains(&name))
        || mxrs::models::networks().iter().any(|(known, _)| known == name)
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
    /// A name or element type that the network does not have.
    pub fn named(name: &str, dtype: DType) -> Result<Self> {
        Self::seeded(name, dtype, SEED)
    }

    /// As [`Self::named`], with parameters of another seed.
    ///
    /// # Errors
    /// As [`Self::named`].
    pub fn seeded(name: &str, dtype: DType, seed: u64) -> Result<Self> {
        let built = model(name, &ModelOptions { dtype, ..ModelOptions::default() })?;
        Self::with_random_parameters(built.symbol.graph()?, built.image.to_vec(), &HashMap::new(), seed)
    }

    /// A network from a symbol file, with the parameters of a file or with random ones.
    ///
    /// # Errors
    /// What is wrong with the files; several inputs.
    pub fn from_files(runtime: &Runtime, symbol: &Path, params: Option<&Path>, image: &[usize]) -> Result<Self> {
        let graph = Model::load_graph(runtime, symbol)?;
        let loaded = match params {
            None => HashMap::new(),
            Some(path) => {
                let file = mxrs::format::Checkpoint::open(path, &mxrs::format::Options::default())?.value;
                file.arg.into_iter().chain(file.aux).collect()
            }
        };
        Self::with_random_parameters(graph, image.to_vec(), &loaded, SEED)
    }

    fn with_random_parameters(
        graph: Graph,
        image: Vec<usize>,
        loaded: &HashMap<String, Tensor>,
        seed: u64,
    ) -> Result<Self> {
        let input = "data".to_owned();
        if !graph.argument_names().contains(&input.as_str()) {
            return Err(Error::invalid("input of the network", "none called `data`", "an input called `data`"));
        }
        let data: Shape = std::iter::once(1).chain(image.iter().copied()).collect();
        let given =
            loaded.iter().filter_map(|(name, tensor)| Some((name.as_str(), PartialShape::from(tensor.shape()?))));
        let given = given.filter(|(name, _)| graph.find(name).is_some_and(|id| graph.node(id).is_variable()));
        let shapes = infer_shapes(&graph, given.chain([(input.as_str(), data.into())]))?.complete(&graph)?;
        let dtypes = infer_dtypes(&graph, [(input.as_str(), DType::F32)], Some(DType::F32))?.complete(&graph)?;
        let mut params = Vec::new();
        for &id in graph.variables() {
            let node = graph.node(id);
            if node.name == input || graph.is_label(id) {
                continue;
            }
            let entry = graph.output_id(id, 0).index();
            let tensor = match loaded.get(&node.name) {
                Some(tensor) => tensor.clone(),
                None => random(&node.name, node.attrs.get("__init__"), &shapes[entry], dtypes[entry], seed)?,
            };
            params.push((node.name.clone(), tensor));
        }
        Ok(Self { graph, image, input, params })
    }

    /// The graph and the parameters.
    pub fn into_parts(self) -> Parts {
        let Self { graph, image, input, params } = self;
        Parts { graph, params, input: Input { name: input, image } }
    }

    /// The parameters as arrays, and the graph: a model.
    ///
    /// # Errors
    /// Out of memory.
    pub fn into_model(self, runtime: &Runtime) -> Result<(Model, Input)> {
        let Self { graph, image, input, params } = self;
        Ok((Model::from_parts(runtime, graph, params)?, Input { name: input, image }))
    }
}

/// What a network consists of.
pub struct Parts {
    /// The graph.
    pub graph: Graph,
    /// Parameters and auxiliary states by name.
    pub params: Vec<(String, Tensor)>,
    /// What is fed.
    pub input: Input,
}

/// Name and shape of what is fed.
pub struct Input {
    /// Name.
    pub name: String,
    /// Shape of one item.
    pub image: Vec<usize>,
}

impl Input {
    /// Shape of a batch.
    pub fn shape(&self, batch_size: usize) -> Shape {
        std::iter::once(batch_size).chain(self.image.iter().copied()).collect()
    }

    /// Fills the array with uniform numbers from -1 to 1.
    ///
    /// # Errors
    /// Out of memory.
    pub fn fill(&self, array: &NdArray) -> Result<()> {
        let uniform = Some("[\"uniform\", {\"scale\": 1.0}]");
        let tensor = random(&self.name, uniform, array.shape(), array.dtype(), SEED)?;
        array.copy_from_bytes(tensor.stored_bytes())
    }
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
    fn every_built_benchmark_network_is_in_the_list() {
        let built: Vec<&str> = BENCHMARK.into_iter().filter(|name| is_built(name)).collect();
        assert_eq!(built, mxrs::models::BENCHMARK_NETWORKS);
        assert!(is_built("vgg") && is_built("vgg-19") && !is_built("resnext-50"));
    }
}
