//! Tests that an 8-bit network classifies at most one digit fewer correctly than the float32 network.

use crate::{Images, images, load, machine, quantize};
use indexmap::IndexMap;
use mxrs_exec::Executor;
use mxrs_format::{Checkpoint, Tensor};
use mxrs_graph::Graph;
use mxrs_ndarray::NdArray;
use mxrs_quantize::{CalibMode, Granularity, QuantizeMode, QuantizeOptions, QuantizedDType};
use mxrs_types::Shape;

/// Number of images on which quantized networks are tested. Reference kernels are slow in debug builds.
const N_TRIED: usize = if cfg!(debug_assertions) { 27 } else { 297 };

/// The probabilities of all classes for each image.
fn classify(graph: &Graph, params: impl Iterator<Item = (String, Tensor)>, images: &Images) -> Vec<f32> {
    let (context, options) = machine();
    let arrays: IndexMap<String, NdArray> = params
        .map(|(name, tensor)| {
            let dense = tensor.as_dense().unwrap();
            (name, NdArray::from_bytes(&context, dense.shape().clone(), dense.dtype(), dense.bytes()).unwrap())
        })
        .collect();
    let mut rows = Vec::new();
    for batch in images.rows.chunks(27 * 784) {
        let shape: Shape = [batch.len() / 784, 1, 28, 28].into();
        let executor = Executor::bind(graph, &context, &[("data", shape)], &arrays, &options).unwrap();
        executor.argument("data").unwrap().copy_from(batch).unwrap();
        executor.forward().unwrap();
        rows.extend(executor.outputs()[0].to_vec::<f32>().unwrap());
    }
    rows
}

fn n_correct(rows: &[f32], labels: &[f32]) -> usize {
    let best = |row: &[f32]| (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap();
    rows.chunks_exact(10).zip(labels).filter(|(row, label)| best(row) == **label as usize).count()
}

fn all(checkpoint: Checkpoint) -> impl Iterator<Item = (String, Tensor)> {
    checkpoint.arg.into_iter().chain(checkpoint.aux)
}

/// Quantizes a network and compares it with the float network on the same images. Returns the number of quantized nodes.
fn check(name: &str, options: &QuantizeOptions) -> usize {
    let (net, calibration, tried) = (load(name), images(297), images(N_TRIED));
    let (quantized, _) = quantize(&net, options, &calibration);
    let float = classify(&net.graph, net.params.clone().into_iter(), &tried);
    let bytes = classify(&quantized.graph, all(quantized.checkpoint), &tried);
    let (before, after) = (n_correct(&float, &tried.labels), n_correct(&bytes, &tried.labels));
    assert!(after + 1 >= before, "{name} {options:?}: {after} of {N_TRIED} right, {before} in float32");
    let far = float.iter().zip(&bytes).map(|(a, b)| (a - b).abs()).sum::<f32>() / tried.labels.len() as f32;
    println!("{name} {} {}: {after}/{before} of {N_TRIED}, off by {far:.4}", options.calib_mode, options.granularity);
    assert!(far < 0.05, "{name} {options:?}: probabilities of an image are off by {far} in sum");
    let ratio = quantized.report.bytes_before as f64 / quantized.report.bytes_after as f64;
    assert!(ratio > 3.0, "{name}: parameters are {ratio} times smaller");
    quantized.report.n_quantized()
}

#[test]
fn resnet8_by_entropy_and_by_extremes() {
    for calib_mode in [CalibMode::Entropy, CalibMode::Naive] {
        let n = check("resnet8", &QuantizeOptions { calib_mode, ..QuantizeOptions::default() });
        // The quantized nodes are 9 convolutions, a fully connected layer, 3 relus after folded normalizations, and 1
        // flatten.
        assert!(n >= 13, "{n} nodes");
    }
}

#[test]
fn lenet_by_entropy_and_by_extremes() {
    for calib_mode in [CalibMode::Entropy, CalibMode::Naive] {
        check("lenet", &QuantizeOptions { calib_mode, ..QuantizeOptions::default() });
    }
}

#[test]
fn with_one_range_per_tensor() {
    for name in ["lenet", "resnet8"] {
        check(name, &QuantizeOptions { granularity: Granularity::Tensor, ..QuantizeOptions::default() });
    }
}

#[test]
fn with_ranges_found_at_each_run() {
    check("resnet8", &QuantizeOptions { calib_mode: CalibMode::None, ..QuantizeOptions::default() });
}

#[test]
fn with_signed_integers_only_and_everything_quantized_that_can_be() {
    let options = QuantizeOptions { dtype: QuantizedDType::Int8, mode: QuantizeMode::Full, ..Default::default() };
    check("resnet8", &options);
}
