//! Compares every network with MXNet 1.9.1's own example or model zoo, node by node: operators, names, order, inputs,
//! attributes and all shapes. `tests/mxnet/check_models.py` wrote the listings to compare with.

use mxrs_graph::{Graph, infer_shapes};
use mxrs_models::{Model, ModelOptions, model};
use mxrs_types::{DType, Shape};
use std::fmt::Write;

fn build(name: &str, options: &ModelOptions) -> (Model, Graph, Vec<Shape>) {
    let model = model(name, options).unwrap_or_else(|e| panic!("{name}: {e}"));
    let graph = model.symbol.graph().unwrap();
    let [c, h, w] = model.image;
    let shapes = infer_shapes(&graph, [("data", Shape::from([1, c, h, w]).into())]).unwrap_or_else(|e| panic!("{e}"));
    let shapes = shapes.complete(&graph).unwrap_or_else(|e| panic!("{name}: {e}"));
    (model, graph, shapes)
}

/// The number of elements of parameters and of auxiliary states, and the number of nodes.
fn counts(graph: &Graph, shapes: &[Shape]) -> [usize; 3] {
    let elements = |id| shapes[graph.output_id(id, 0).index()].n_elements();
    let is_parameter = |id: &mxrs_graph::NodeId| !["data", "softmax_label"].contains(&graph.node(*id).name.as_str());
    let parameters = graph.arguments().filter(is_parameter).map(elements).sum();
    [parameters, graph.aux_states().map(elements).sum(), graph.n_nodes()]
}

fn listing(graph: &Graph, shapes: &[Shape]) -> String {
    let [parameters, aux, nodes] = counts(graph, shapes);
    let mut text = format!("{parameters} {aux} {nodes}\n");
    for (id, node) in graph.iter() {
        let shape: Vec<String> = shapes[graph.output_id(id, 0).index()].iter().map(usize::to_string).collect();
        let input = |e: &mxrs_graph::Entry| format!("{}:{}", graph.node(e.node).name, e.index);
        let inputs: Vec<String> = node.inputs.iter().map(input).collect();
        let mut attrs: Vec<String> = node.attrs.iter().map(|(k, v)| format!("{k}={v}")).collect();
        attrs.sort();
        let is_listed = !node.is_variable() || node.attrs.get("__shape__").is_some();
        let attrs = if is_listed { attrs.join(" ") } else { String::new() };
        let line = format!("{} {} {} [{}] {attrs}", node.op_name(), node.name, shape.join("x"), inputs.join(","));
        writeln!(text, "{}", line.trim_end()).unwrap();
    }
    text
}

fn check(golden: &str, name: &str, options: &ModelOptions) {
    let path = format!("{}/tests/mxnet/golden/{golden}.txt", env!("CARGO_MANIFEST_DIR"));
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let (_, graph, shapes) = build(name, options);
    let got = listing(&graph, &shapes);
    for (line, (expected, got)) in expected.lines().zip(got.lines()).enumerate() {
        assert_eq!(got, expected, "{golden}, line {}", line + 1);
    }
    assert_eq!(got.lines().count(), expected.lines().count(), "{golden}");
}

fn classes(n_classes: usize) -> ModelOptions {
    ModelOptions { n_classes, ..ModelOptions::default() }
}

#[test]
fn networks_for_digits() {
    check("mlp", "mlp", &classes(10));
    check("lenet", "lenet", &classes(10));
}

#[test]
fn alexnet() {
    check("alexnet", "alexnet", &ModelOptions::default());
    check("alexnet-f16", "alexnet", &ModelOptions { dtype: DType::F16, ..ModelOptions::default() });
}

#[test]
fn vgg() {
    check("vgg-16", "vgg-16", &ModelOptions::default());
    check("vgg-11-bn", "vgg", &ModelOptions { n_layers: Some(11), batch_norm: true, ..ModelOptions::default() });
}

#[test]
fn inception_bn() {
    check("inception-bn", "inception-bn", &ModelOptions::default());
    check("inception-bn-28", "inception-bn", &ModelOptions { image: Some([3, 28, 28]), ..classes(10) });
}

#[test]
fn inception_v3() {
    check("inception-v3", "inception-v3", &ModelOptions::default());
}

#[test]
fn resnet() {
    check("resnet-18", "resnet-18", &ModelOptions::default());
    check("resnet-50", "resnet-50", &ModelOptions::default());
    let small = ModelOptions { image: Some([3, 28, 28]), ..classes(10) };
    check("resnet-20-28", "resnet-20", &small);
    check("resnet-20-28-f16", "resnet-20", &ModelOptions { dtype: DType::F16, ..small });
}

#[test]
fn resnet_v1() {
    check("resnetv1-18", "resnetv1-18", &ModelOptions::default());
    check("resnetv1-50", "resnet-v1-50", &ModelOptions::default());
    check("resnetv1-20-28", "resnetv1-20", &ModelOptions { image: Some([3, 28, 28]), ..classes(10) });
}

#[test]
fn mobilenet() {
    check("mobilenet", "mobilenet", &ModelOptions::default());
}

#[test]
fn mobilenet_v2() {
    check("mobilenetv2", "mobilenetv2", &ModelOptions::default());
}

#[test]
fn googlenet() {
    check("googlenet", "googlenet", &ModelOptions::default());
}

#[test]
fn inception_v4() {
    check("inception-v4", "inception-v4", &ModelOptions::default());
}

#[test]
fn inception_resnet_v2() {
    check("inception-resnet-v2", "inception-resnet-v2", &ModelOptions::default());
}

#[test]
fn resnext() {
    check("resnext-18", "resnext-18", &ModelOptions::default());
    check("resnext-50", "resnext-50", &ModelOptions::default());
    let small = ModelOptions { image: Some([3, 32, 32]), dtype: DType::F16, ..classes(10) };
    check("resnext-20-32-f16", "resnext-20", &small);
}

#[test]
fn densenet() {
    check("densenet121", "densenet121", &ModelOptions::default());
}

#[test]
fn squeezenet() {
    check("squeezenet1.1", "squeezenet1.1", &classes(10));
}

#[test]
fn counts_of_networks_without_a_listing() {
    let count = |name: &str, options: &ModelOptions| {
        let (_, graph, shapes) = build(name, options);
        counts(&graph, &shapes)
    };
    // The expected numbers come from the same example in MXNet 1.9.1.
    assert_eq!(count("resnet-152", &ModelOptions::default()), [60_185_262, 143_878, 1287]);
    let small = ModelOptions { image: Some([3, 28, 28]), ..classes(10) };
    assert_eq!(count("resnet-164", &small), [1_703_264, 24_230, 1378]);
}
