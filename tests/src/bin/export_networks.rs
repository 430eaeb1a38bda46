//! Writes networks with random weights, one input batch and our output, for other libraries to reproduce: each as a
//! checkpoint for MXNet, and as an ONNX model.
//!
//! `cargo run --release -p mxrs-tests --bin export_networks -- DIR [NAME…]`; then `tests/mxnet/compare_networks.py DIR`,
//! `tests/onnx/compare.py DIR`.

use mxrs::format::{Checkpoint, Tensor, npy, onnx, write_atomically};
use mxrs::graph::{infer_dtypes, infer_shapes};
use mxrs::models::{ModelOptions, model};
use mxrs::onnx::ExportOptions;
use mxrs::symbol::graph_to_file;
use mxrs::types::{DType, Error, Result, Shape};
use mxrs::{Model, Runtime};
use mxrs_tests::{parameter, uniform};
use std::path::Path;

const NETWORKS: [&str; 17] = [
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
    "resnext-50",
    "googlenet",
    "inception-v4",
    "inception-resnet-v2",
    "mobilenetv2",
    "densenet121",
    "squeezenet1.1",
];
const SEED: u64 = 20;
const BATCH: usize = 2;

fn save_npy(path: &Path, shape: Shape, values: &[f32]) -> Result<()> {
    let tensor = Tensor::from_slice(shape, values)?;
    write_atomically(path, |sink| npy::write(sink, tensor.as_dense()?))
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
        let values = parameter(&node.name, &shapes[entry], SEED)?;
        debug_assert_eq!(dtypes[entry], DType::F32);
        let tensor = Tensor::from_slice(shapes[entry].clone(), &values)?;
        all.push((node.name.clone(), tensor.clone()));
        let half = if graph.is_aux_state(id) { &mut checkpoint.aux } else { &mut checkpoint.arg };
        half.insert(node.name.clone(), tensor);
    }
    let input = uniform("data", &shape, 1.0, SEED)?;
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
