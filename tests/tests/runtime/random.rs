//! Runs networks with random values on one random image, and compares their outputs and the steps that ran.

use mxrs::Runtime;
use mxrs::exec::{BindOptions, Executor, StepReport};
use mxrs::format::Tensor;
use mxrs::graph::{Graph, infer_shapes};
use mxrs::models::{ModelOptions, model};
use mxrs::types::{DType, Shape};
use mxrs_tests::{parameter, uniform};
use std::collections::BTreeMap;

const SEED: u64 = 7;
const N_CLASSES: usize = 40;
/// Names of the operators that compute convolutions and fully-connected layers at inference.
const PRODUCTS: [&str; 4] = ["Convolution", "_sg_conv", "FullyConnected", "_sg_fully_connected"];

/// A network of the models, with values for all its inputs.
pub struct Network {
    name: &'static str,
    image: [usize; 3],
    values: BTreeMap<String, Vec<f32>>,
}

impl Network {
    /// Makes random values for a network with images of this size, which should be as small as the network allows.
    pub fn new(name: &'static str, image: [usize; 3]) -> Self {
        let graph = graph(name, DType::F32, image);
        let shapes = infer_shapes(&graph, [("data", one_of(image).into())]).unwrap().complete(&graph).unwrap();
        let mut values = BTreeMap::new();
        for &id in graph.variables().iter().filter(|id| !graph.is_label(**id)) {
            let (name, shape) = (&graph.node(id).name, &shapes[graph.output_id(id, 0).index()]);
            let random = if name == "data" { uniform(name, shape, 1.0, SEED) } else { parameter(name, shape, SEED) };
            values.insert(name.clone(), random.unwrap());
        }
        Self { name, image, values }
    }

    /// Binds the network and runs it once, with the values rounded to the types in which the network stores them.
    pub fn run(&self, runtime: &Runtime, dtype: DType) -> Executor {
        self.run_with(runtime, dtype, &runtime.bind_options())
    }

    /// Does the same as [`Self::run`], with other options.
    pub fn run_with(&self, runtime: &Runtime, dtype: DType, options: &BindOptions) -> Executor {
        let graph = graph(self.name, dtype, self.image);
        bound_with(runtime, &graph, self.image, options, |name, _| self.values[name].clone())
    }
}

/// The graph of a network that computes in this type.
pub fn graph(name: &str, dtype: DType, image: [usize; 3]) -> Graph {
    let options = ModelOptions { image: Some(image), n_classes: N_CLASSES, dtype, ..ModelOptions::default() };
    model(name, &options).unwrap().symbol.graph().unwrap()
}

fn one_of(image: [usize; 3]) -> Shape {
    std::iter::once(1).chain(image).collect()
}

/// Binds a graph to one image and runs it once, with these values for all inputs but labels.
pub fn bound(
    runtime: &Runtime,
    graph: &Graph,
    image: [usize; 3],
    values: impl Fn(&str, &Shape) -> Vec<f32>,
) -> Executor {
    bound_with(runtime, graph, image, &runtime.bind_options(), values)
}

fn bound_with(
    runtime: &Runtime,
    graph: &Graph,
    image: [usize; 3],
    options: &BindOptions,
    values: impl Fn(&str, &Shape) -> Vec<f32>,
) -> Executor {
    let data = [("data", one_of(image))];
    let executor = Executor::simple_bind(graph, runtime.arrays(), &data, options).unwrap();
    for (name, array) in executor.arrays().iter().filter(|(name, _)| !name.ends_with("label")) {
        let values = Tensor::from_slice(array.shape().clone(), &values(name, array.shape())).unwrap();
        array.copy_from_bytes(values.cast(array.dtype()).stored_bytes()).unwrap();
    }
    executor.forward().unwrap();
    executor
}

/// The logits of a network, shifted so that their mean is 0: logarithms of the probabilities minus the mean of these
/// logarithms. Checks that classes differ and that no class is certain, so that comparing the logits is meaningful.
pub fn logits(executor: &Executor) -> Vec<f32> {
    let logs: Vec<f32> = executor.outputs()[0].to_vec::<f32>().unwrap().iter().map(|p| p.ln()).collect();
    let mean = logs.iter().sum::<f32>() / logs.len() as f32;
    let logits: Vec<f32> = logs.iter().map(|x| x - mean).collect();
    let spread = (logits.iter().map(|x| x * x).sum::<f32>() / logits.len() as f32).sqrt();
    assert!(logits.len() == N_CLASSES && (0.1..10.0).contains(&spread), "answers that show little: {logits:?}");
    logits
}

/// The class with the largest logit.
pub fn top(logits: &[f32]) -> Option<usize> {
    (0..logits.len()).max_by(|a, b| logits[*a].total_cmp(&logits[*b]))
}

/// The distance of two vectors, relative to the length of the second.
pub fn distance(got: &[f32], want: &[f32]) -> f64 {
    let square = |x: f64| x * x;
    let length: f64 = want.iter().map(|w| square(f64::from(*w))).sum();
    let apart: f64 = got.iter().zip(want).map(|(g, w)| square(f64::from(*g) - f64::from(*w))).sum();
    (apart / length.max(1e-24)).sqrt()
}

/// The steps of the program that run one of the operators in [`PRODUCTS`].
pub fn products(executor: &Executor) -> Vec<StepReport> {
    let steps = executor.report().unwrap().steps;
    steps.into_iter().filter(|step| PRODUCTS.contains(&step.op.as_str())).collect()
}

/// The number of type conversions in each forward pass; and for each step that is not a conversion, its operator,
/// kernel and outputs.
pub fn work(executor: &Executor) -> (usize, Vec<(String, String, Vec<String>)>) {
    let steps = executor.report().unwrap().steps.into_iter().filter(|step| !step.is_prepare && step.kernel != "view");
    let is_conversion = |step: &StepReport| step.op == "Cast" || step.op == "_FusedOp";
    let (conversions, work): (Vec<_>, Vec<_>) = steps.partition(is_conversion);
    (conversions.len(), work.into_iter().map(|step| (step.op, step.kernel, step.outputs)).collect())
}
