//! Tests of the quantized network and its files: MXNet's node names, reading files back, and refusals.

use crate::mxnet::LENET;
use crate::{images, load, machine, quantize};
use mxrs_format::{Options, Tensor};
use mxrs_graph::Graph;
use mxrs_quantize::{CalibMode, Granularity, Outcome, QuantizeOptions, QuantizedDType, Quantizer};
use mxrs_symbol::{Registry, graph_from_bytes, graph_to_file};
use mxrs_types::{DType, Shape};

/// The nodes, without variables, of lenet as quantized by MXNet 1.9.1's `quantize_model` with `auto`. One name differs:
/// MXNet calls the node after the flatten `flatten0_0_quantize`.
const MXNET: &str = "\
    _contrib_quantize_v2 data_quantize, _contrib_quantized_conv quantized_conv1, _contrib_requantize requantize_conv1, \
    _contrib_dequantize conv1_dequantize, Activation tanh1, Pooling pool1, _contrib_quantize_v2 pool1_output_quantize, \
    _contrib_quantized_conv quantized_conv2, _contrib_requantize requantize_conv2, _contrib_dequantize conv2_dequantize, \
    Activation tanh2, Pooling pool2, Flatten flatten0, _contrib_quantize_v2 flatten0_output_quantize, \
    _contrib_quantized_fully_connected quantized_fc1, _contrib_requantize requantize_fc1, \
    _contrib_dequantize fc1_dequantize, Activation tanh3, _contrib_quantize_v2 tanh3_output_quantize, \
    _contrib_quantized_fully_connected quantized_fc2, _contrib_requantize requantize_fc2, \
    _contrib_dequantize fc2_dequantize, SoftmaxOutput softmax";

fn calls(graph: &Graph) -> String {
    let calls = graph.nodes().iter().filter(|node| !node.is_variable());
    calls.map(|node| format!("{} {}", node.op_name(), node.name)).collect::<Vec<_>>().join(", ")
}

fn per_tensor() -> QuantizeOptions {
    let (granularity, calib_mode) = (Granularity::Tensor, CalibMode::Naive);
    QuantizeOptions { granularity, calib_mode, ..QuantizeOptions::default() }
}

#[test]
fn per_tensor_the_graph_is_that_of_mxnet() {
    let net = load("lenet");
    let (quantized, _) = quantize(&net, &per_tensor(), &images(297));
    let graph = &quantized.graph;
    assert_eq!(calls(graph), MXNET);
    let conv = graph.node(graph.find("quantized_conv1").unwrap());
    let inputs: Vec<String> = conv.inputs.iter().map(|entry| graph.entry_name(graph.entry_id(*entry))).collect();
    let w = |suffix| format!("conv1_weight_quantize{suffix}");
    let b = |suffix| format!("conv1_bias_quantize{suffix}");
    let d = |suffix| format!("data_quantize_{suffix}");
    assert_eq!(
        inputs,
        [d("output"), w(""), b(""), d("min_output"), d("max_output"), w("_min"), w("_max"), b("_min"), b("_max")]
    );
    assert_eq!(conv.attrs.get("num_filter"), Some("20"));
    // The attributes hold the ranges that MXNet computed.
    for (node, value) in [("requantize_conv2", "conv2_output"), ("pool1_output_quantize", "pool1_output")] {
        let attrs = &graph.node(graph.find(node).unwrap()).attrs;
        let number = |key| attrs.get(key).unwrap().parse::<f32>().unwrap();
        let row = LENET.iter().find(|row| row.0 == value).unwrap();
        assert!((number("min_calib_range") - row.1).abs() < 1e-3, "{node}");
        assert!((number("max_calib_range") - row.2).abs() < 1e-3, "{node}");
        assert_eq!(attrs.get("out_type"), Some("auto"));
    }
    let arg = &quantized.checkpoint.arg;
    let kind = |name: &str| (arg[name].dtype().unwrap(), arg[name].shape().unwrap().clone());
    assert_eq!(kind("fc1_weight_quantize"), (DType::I8, Shape::from([500, 800])));
    assert_eq!(kind("fc1_bias_quantize"), (DType::I8, Shape::from([500])));
    assert_eq!(kind("fc1_weight_quantize_min"), (DType::F32, Shape::from([1])));
    assert_eq!((arg.len(), quantized.checkpoint.aux.len()), (24, 0));
}

#[test]
fn the_files_come_back_as_the_network_that_was_written() {
    let net = load("resnet8");
    for options in [QuantizeOptions::default(), per_tensor()] {
        let (quantized, table) = quantize(&net, &options, &images(54));
        let json = graph_to_file(&quantized.graph).to_json();
        let back = graph_from_bytes(json.as_bytes(), &Registry::new(&net.ops), &Options::default()).unwrap().value;
        assert_eq!(calls(&back), calls(&quantized.graph));
        let ranges = table.ranges.keys().map(String::as_str).collect::<Vec<_>>();
        let written: Vec<&str> = quantized.report.ranges.iter().map(|range| range.value.as_str()).collect();
        assert!(
            written.iter().all(|value| ranges.contains(value)) && ranges.iter().all(|value| written.contains(value))
        );
        // Every array of the checkpoint has a variable in the graph, and every variable except the inputs has an array.
        for id in back.variables() {
            let name = &back.node(*id).name;
            let is_there = quantized.checkpoint.arg.contains_key(name) || quantized.checkpoint.aux.contains_key(name);
            assert_eq!(is_there, name != "data" && name != "softmax_label", "{name}");
        }
    }
}

#[test]
fn per_channel_each_channel_has_a_range_and_biases_stay_floats() {
    let net = load("resnet8");
    let (quantized, _) = quantize(&net, &QuantizeOptions::default(), &images(54));
    let arg = &quantized.checkpoint.arg;
    assert_eq!(arg["stage2_conv1_weight_quantize_max"].shape().unwrap(), &Shape::from([32]));
    assert_eq!(arg["stage2_conv1_bias"].dtype(), Some(DType::F32));
    assert!(!arg.contains_key("stage2_conv1_weight") && !arg.contains_key("stage2_b_bn_gamma"));
    // A normalization whose input is a sum is not folded and keeps its statistics.
    assert!(arg.contains_key("stage2_a_bn_gamma") && quantized.checkpoint.aux.contains_key("stage2_a_bn_moving_var"));
    let outcome = |name: &str| &quantized.report.nodes.iter().find(|node| node.name == name).unwrap().outcome;
    assert_eq!(outcome("stage2_b_bn"), &Outcome::Folded { into: "stage2_conv1".into() });
    assert_eq!(outcome("stage2_b_relu"), &Outcome::Quantized);
    // The sum `_plus1`, which the normalization `stage2_a_bn` reads, and the tensors that are added are 8-bit integers.
    assert_eq!(outcome("_plus1"), &Outcome::Quantized);
    assert_eq!(outcome("stage2_a_bn"), &Outcome::Left { reason: "no quantized form".into() });
    let range = |node: &str| quantized.report.ranges.iter().find(|range| range.node == node).map(|r| r.range.unwrap());
    assert!(["requantize__plus1", "requantize_stage2_sc"].iter().all(|node| range(node).unwrap().min < 0.0));
    let negative = QuantizeOptions { dtype: QuantizedDType::UInt8, ..QuantizeOptions::default() };
    let unsigned = Quantizer::new(&net.graph, &net.params, &net.ops, &negative).unwrap();
    assert!(unsigned.needed().iter().all(|value| !value.starts_with("_plus")), "{:?}", unsigned.needed());
    // If a relu is the only reader of a convolution, the convolution gets the range of the relu's result, which has no
    // negative numbers.
    let range = quantized.report.ranges.iter().find(|range| range.node == "requantize_stage2_conv1").unwrap();
    assert_eq!((range.value.as_str(), range.range.unwrap().min), ("stage2_b_relu_output", 0.0));
}

#[test]
fn what_is_excluded_stays() {
    let net = load("lenet");
    let options = QuantizeOptions {
        excluded_names: vec!["fc2".into()],
        excluded_ops: vec!["Convolution".into()],
        ..QuantizeOptions::default()
    };
    let (quantized, _) = quantize(&net, &options, &images(27));
    assert_eq!(quantized.report.n_quantized(), 1);
    assert!(quantized.checkpoint.arg.contains_key("conv1_weight") && quantized.graph.find("fc2").is_some());
    let refused = |options: QuantizeOptions| {
        Quantizer::new(&net.graph, &net.params, &net.ops, &options).err().expect("it is refused").to_string()
    };
    let names = refused(QuantizeOptions { excluded_names: vec!["fc3".into()], ..Default::default() });
    assert!(names.contains("`fc3`"), "{names}");
    let ops = refused(QuantizeOptions { excluded_ops: vec!["Convolutoin".into()], ..Default::default() });
    assert!(ops.contains("`Convolutoin`"), "{ops}");
    let excluded_ops = vec!["Convolution".into(), "FullyConnected".into()];
    let nothing = refused(QuantizeOptions { excluded_ops, ..Default::default() });
    assert!(nothing.contains("excluded"), "{nothing}");
}

#[test]
fn uint8_is_for_what_is_never_negative() {
    let net = load("lenet");
    let options = QuantizeOptions { dtype: QuantizedDType::UInt8, ..QuantizeOptions::default() };
    let quantizer = Quantizer::new(&net.graph, &net.params, &net.ops, &options).unwrap();
    let (context, bind) = machine();
    let mut calibrator = quantizer.calibrator(&context, &bind).unwrap().unwrap();
    crate::feed(&mut calibrator, &images(27)).unwrap();
    let error = quantizer.finish(&calibrator.finish().unwrap()).unwrap_err().to_string();
    assert!(error.contains("negative") && error.contains("pool1_output"), "{error}");
    let options = QuantizeOptions { calib_mode: CalibMode::None, ..options };
    assert!(Quantizer::new(&net.graph, &net.params, &net.ops, &options).is_err());
}

#[test]
fn bad_examples_are_told() {
    let mut net = load("lenet");
    let (context, bind) = machine();
    // Ranges of int32 sums are needed only with one range per tensor.
    let options = QuantizeOptions { granularity: Granularity::Tensor, ..QuantizeOptions::default() };
    let start = |net: &crate::Net| {
        let quantizer = Quantizer::new(&net.graph, &net.params, &net.ops, &options).unwrap();
        quantizer.calibrator(&context, &bind).unwrap().unwrap()
    };
    let error = start(&net).finish().unwrap_err().to_string();
    assert!(error.contains("no examples"), "{error}");
    let rows = vec![0.5f32; 3 * 784];
    let error = start(&net).feed(&[("data", [1, 3, 28, 28].into(), &rows)]).unwrap_err().to_string();
    assert!(error.contains("conv1") && error.contains("(1, 3, 28, 28)"), "{error}");
    let mut bad = vec![0.5f32; 784];
    bad[100] = f32::NAN;
    let error = start(&net).feed(&[("data", [1, 1, 28, 28].into(), &bad)]).unwrap_err().to_string();
    assert!(error.contains("`data`") && error.contains("finite"), "{error}");
    // With this weight the products overflow, so the results are infinite.
    let huge = vec![1e38f32; 500];
    net.params.insert("conv1_weight".into(), Tensor::from_slice([20, 1, 5, 5], &huge).unwrap());
    let error = start(&net).feed(&[("data", [1, 1, 28, 28].into(), &rows[..784])]).unwrap_err().to_string();
    assert!(error.contains("finite"), "{error}");
}
