//! Writes networks with random weights, one input batch and our output, for others to repeat: as a checkpoint for MXNet, as
//! an ONNX model for any runtime of these.
//!
//! `cargo run --release -p mxrs-tests --bin export_networks -- DIR [NAME…]`; then `tests/mxnet/compare_networks.py DIR`,
//! `tests/onnx/compare.py DIR`.

use mxrs::format::symbol::graph_to_file;
use mxrs::format::{Checkpoint, Tensor, npy, onnx, write_atomically};
use mxrs::graph::{infer_dtypes, infer_shapes};
use mxrs::models::{FactorKind, Initializer, ModelOptions, RandomKind, model};
use mxrs::onnx::ExportOptions;
use mxrs::types::{DType, Error, Result, Shape};
use mxrs::{Model, Runtime};
use std::path::Path;

const NETWORKS: [&str; 10] = [
    "lenet",
    "mlp",
    "alexnet",
    "vgg-16",
    "inception-bn",
    "inception-v3",
    "resnet-50",
    "resnet-152",
    "resnetv1-50",
    "mobilenet",
];
const SEED: u64 = 20;
const BATCH: usize = 2;

fn save_npy(path: &Path, shape: Shape, values: &[f32]) -> Result<()> {
    let tensor = Tensor::from_slice(shape, values)?;
    write_atomically(path, |sink| npy::write(sink, tensor.as_dense()?))
}

/// Weights that keep activations at their size (He), and every other parameter away from the value that does nothing:
/// outputs must differ from class to class, or a comparison would show nothing.
fn parameter(name: &str, shape: &Shape) -> Result<Vec<f32>> {
    let he = Initializer::Xavier { rnd_type: RandomKind::Gaussian, factor_type: FactorKind::In, magnitude: 2.0 };
    let mut values = if name.ends_with("_weight") {
        he.values(name, None, shape, SEED)?
    } else {
        Initializer::Zero.values(name, Some("[\"uniform\", {\"scale\": 0.2}]"), shape, SEED)?
    };
    // The branches of residual networks add up: at full strength 50 of them would saturate the softmax.
    if name.ends_with("_conv3_weight") {
        values.iter_mut().for_each(|v| *v *= 0.2);
    }
    if name.ends_with("_gamma") || name.ends_with("_var") {
        values.iter_mut().for_each(|v| *v += 1.0);
    }
    Ok(values)
}

fn export(runtime: &Runtime, name: &str, dir: &Path) -> Result<()> {
    let built = model(name, &ModelOptions::default())?;
    let graph = built.symbol.graph()?;
    let shape: Shape = std::iter::once(BATCH).chain(built.image).collect();
    let shapes = infer_shapes(&graph, [("data", shape.clone().into())])?.complete(&graph)?;
    let dtypes = infer_dtypes(&graph, [], Some(DType::F32))?.complete(&graph)?;
    let mut checkpoint = Checkpoint::default();
    let mut all = Vec::new();
    for &id in graph.variables() {
        let node = graph.node(id);
        if node.name == "data" || graph.is_label(id) {
            continue;
        }
        let entry = graph.output_id(id, 0).index();
        let values = parameter(&node.name, &shapes[entry])?;
        debug_assert_eq!(dtypes[entry], DType::F32);
        let tensor = Tensor::from_slice(shapes[entry].clone(), &values)?;
        all.push((node.name.clone(), tensor.clone()));
        let half = if graph.is_aux_state(id) { &mut checkpoint.aux } else { &mut checkpoint.arg };
        half.insert(node.name.clone(), tensor);
    }
    let input =
        Initializer::Uniform { scale: 1.0 }.values("data", Some("[\"uniform\", {\"scale\": 1.0}]"), &shape, SEED)?;
    let file = |suffix: &str| dir.join(format!("{name}-{suffix}"));
    graph_to_file(&graph).save(file("symbol.json"))?;
    checkpoint.save(file("0000.params"))?;
    save_npy(&file("input.npy"), shape.clone(), &input)?;
    let model = mxrs::onnx::export(&graph, all.clone(), &ExportOptions::new([("data", shape.clone())]))?;
    onnx::save(dir.join(format!("{name}.onnx")), &model)?;
    drop(model);

    let bound = Model::from_parts(runtime, graph, all)?.bind(&[("data", shape)])?;
    let output = &bound.forward(&[("data", &input)])?[0];
    save_npy(&file("output.npy"), output.shape().clone(), &output.to_vec::<f32>()?)
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().ok_or_else(|| Error::invalid("arguments", "none", "DIR [NAME…]"))?;
    let chosen: Vec<String> = arguments.collect();
    let dir = Path::new(&dir);
    std::fs::create_dir_all(dir).map_err(|e| Error::io(dir, &e))?;
    let runtime = Runtime::from_env()?;
    for name in NETWORKS.iter().filter(|n| chosen.is_empty() || chosen.iter().any(|c| c == *n)) {
        export(&runtime, name, dir)?;
        println!("{name} written to {}", dir.display());
    }
    Ok(())
}
