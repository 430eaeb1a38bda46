//! Tests the export: the structure and the names of exported models, and which graphs are refused. `tests/onnx` compares the
//! results of the models with those of a runtime.

use mxrs_format::onnx::{self, AttributeProto, Dimension, GraphProto, ModelProto, NodeProto};
use mxrs_format::{Limits, Options, Tensor};
use mxrs_graph::{Graph, NameManager, Symbol, SymbolCall, infer_shapes};
use mxrs_models::{ModelOptions, model};
use mxrs_onnx::{ExportOptions, OPSETS, export};
use mxrs_types::{DType, ErrorKind, Shape};

/// A graph with a chain of calls that starts at `data`. Each call is an operator with its attributes; the nodes are named
/// `n0`, `n1`, ….
fn chain(calls: &[(&str, &[(&str, &str)])]) -> Graph {
    let ops = mxrs_ops::catalog();
    let mut names = NameManager::new();
    let mut last = Symbol::variable("data");
    for (i, (op, attrs)) in calls.iter().enumerate() {
        let mut call = SymbolCall::new(ops.get(op).unwrap()).name(format!("n{i}")).input(&last);
        for (key, value) in *attrs {
            call = call.attr(*key, value);
        }
        last = call.build(&mut names).unwrap();
    }
    last.graph().unwrap()
}

/// Parameters of ones for every variable except `data` and labels.
fn ones(graph: &Graph, data: &Shape) -> Vec<(String, Tensor)> {
    let shapes = infer_shapes(graph, [("data", data.clone().into())]).unwrap().complete(graph).unwrap();
    let variables = graph.variables().iter().filter(|id| !graph.is_label(**id) && graph.node(**id).name != "data");
    let one = |id: &mxrs_graph::NodeId| {
        let shape = shapes[graph.output_id(*id, 0).index()].clone();
        let values = vec![1.0f32; shape.n_elements()];
        (graph.node(*id).name.clone(), Tensor::from_slice(shape, &values).unwrap())
    };
    variables.map(one).collect()
}

fn exported_with(graph: &Graph, options: &ExportOptions) -> ModelProto {
    let model = export(graph, ones(graph, &options.inputs[0].1), options).unwrap();
    // Every exported model passes the checks of ONNX.
    assert_eq!(onnx::check(&model, &Options::default()).unwrap(), Vec::<String>::new());
    model
}

fn exported(calls: &[(&str, &[(&str, &str)])], data: &[usize]) -> GraphProto {
    exported_with(&chain(calls), &ExportOptions::new([("data", Shape::from(data))])).graph.unwrap()
}

fn op_types(graph: &GraphProto) -> Vec<&str> {
    graph.node.iter().map(|node| node.op_type.as_str()).collect()
}

fn ints<'a>(node: &'a NodeProto, name: &str) -> &'a [i64] {
    &node.attr(name).unwrap_or_else(|| panic!("no {name}")).ints
}

fn int(node: &NodeProto, name: &str) -> Option<i64> {
    node.attr(name).and_then(|attribute| attribute.i)
}

fn constant(graph: &GraphProto, name: &str) -> Tensor {
    let array = graph.initializer.iter().find(|array| array.name == name).unwrap_or_else(|| panic!("no {name}"));
    onnx::to_tensor(array, &Limits::default()).unwrap()
}

#[test]
fn every_network_is_exported_and_counts_its_layers() {
    // Each case: a network, how many convolutions its definition has, and how many fully connected layers.
    let counts = [
        ("lenet", 2, 2),
        ("mlp", 0, 3),
        ("alexnet", 5, 3),
        ("vgg-16", 13, 3),
        ("inception-bn", 69, 1),
        ("inception-v3", 94, 1),
        ("resnet-50", 53, 1),
        ("resnet-152", 155, 1),
        ("mobilenet", 27, 1),
        ("resnetv1-50", 53, 1),
        ("resnext-50", 53, 1),
        ("googlenet", 57, 1),
        ("inception-v4", 149, 1),
        ("inception-resnet-v2", 244, 1),
        ("mobilenetv2", 53, 1),
        ("densenet121", 120, 1),
        // Its last convolution is the classifier.
        ("squeezenet1.1", 26, 0),
    ];
    for (name, n_convolutions, n_dense) in counts {
        let network = model(name, &ModelOptions { n_classes: 10, ..ModelOptions::default() }).unwrap();
        let graph = network.symbol.graph().unwrap();
        let shape: Shape = [2].into_iter().chain(network.image).collect();
        // The parameters are zeros, which take no physical memory until they are read; this test examines only nodes.
        let shapes = infer_shapes(&graph, [("data", shape.clone().into())]).unwrap().complete(&graph).unwrap();
        let params = graph.variables().iter().filter(|id| !graph.is_label(**id) && graph.node(**id).name != "data");
        let params = params.map(|id| {
            let shape = &shapes[graph.output_id(*id, 0).index()];
            let bytes = mxrs_format::AlignedBytes::zeroed(shape.n_elements() * 4);
            (graph.node(*id).name.clone(), Tensor::dense(DType::F32, shape.clone(), bytes).unwrap())
        });
        let params: Vec<_> = params.collect();
        let model = export(&graph, params, &ExportOptions::new([("data", shape)])).unwrap();
        onnx::check(&model, &Options::default()).unwrap();
        let graph = model.graph.unwrap();
        let count = |op_type: &str| graph.node.iter().filter(|node| node.op_type == op_type).count();
        assert_eq!((count("Conv"), count("Gemm"), count("Softmax")), (n_convolutions, n_dense, 1), "{name}");
        assert_eq!(graph.input.iter().map(|value| value.name.as_str()).collect::<Vec<_>>(), ["data"], "{name}");
        assert_eq!(graph.output[0].name, "softmax_output", "{name}");
        assert_eq!(graph.output[0].tensor_type().unwrap().shape.as_ref().unwrap().dim.len(), 2);
        assert_eq!(count("Dropout"), 0);
    }
}

#[test]
fn a_fixed_gamma_is_written_as_ones_and_a_free_one_as_it_is() {
    let graph = chain(&[("BatchNorm", &[("fix_gamma", "True"), ("eps", "0.01")])]);
    let twos = Tensor::from_slice([3], &[2.0f32; 3]).unwrap();
    let mut params = ones(&graph, &Shape::from([2, 3, 4, 4]));
    params.iter_mut().filter(|(name, _)| name.ends_with("gamma")).for_each(|(_, gamma)| *gamma = twos.clone());
    let options = ExportOptions::new([("data", Shape::from([2, 3, 4, 4]))]);
    let fixed = export(&graph, params.clone(), &options).unwrap().graph.unwrap();
    let scale = constant(&fixed, &fixed.node[0].input[1]);
    assert_eq!(scale.to_f32_vec().unwrap(), [1.0; 3]);
    assert!(fixed.initializer.iter().all(|array| array.name != "n0_gamma"), "what nothing reads is left out");
    assert_eq!(fixed.node[0].attr("epsilon").and_then(|a| a.f), Some(0.01));
    let graph = chain(&[("BatchNorm", &[("fix_gamma", "False")])]);
    let free = export(&graph, params, &options).unwrap().graph.unwrap();
    assert_eq!(constant(&free, &free.node[0].input[1]), twos);
}

#[test]
fn pooling_conventions() {
    let pool = |attrs: &[(&str, &str)], data: &[usize]| exported(&[("Pooling", attrs)], data);
    let full = [("kernel", "(3, 3)"), ("stride", "(2, 2)"), ("pooling_convention", "full")];
    let max = pool(&full, &[1, 2, 8, 8]);
    assert_eq!((op_types(&max), int(&max.node[0], "ceil_mode")), (vec!["MaxPool"], Some(1)));
    // The windows cover an axis of size 7 exactly, so the number of windows is not rounded.
    assert_eq!(int(&pool(&full, &[1, 2, 7, 7]).node[0], "ceil_mode"), None);
    // The mean counts the padding, but not the positions beyond the padding that the convention `full` adds, so the
    // padding is exported as a `Pad` node.
    let mean = [&full[..], &[("pool_type", "avg"), ("pad", "(1, 1)")]].concat();
    let padded = pool(&mean, &[1, 2, 8, 8]);
    assert_eq!(op_types(&padded), ["Pad", "AveragePool"]);
    assert_eq!(
        (int(&padded.node[1], "count_include_pad"), ints(&padded.node[1], "pads")),
        (Some(0), &[0, 0, 1, 1][..])
    );
    // By default, an average includes padding in MXNet, but not in ONNX.
    let valid = [("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("pool_type", "avg")];
    assert_eq!(int(&pool(&valid, &[1, 2, 5, 5]).node[0], "count_include_pad"), Some(1));
    let global = [("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("pool_type", "avg"), ("global_pool", "True")];
    let global = pool(&global, &[1, 2, 5, 5]);
    assert_eq!((op_types(&global), global.node[0].attribute.len()), (vec!["GlobalAveragePool"], 0));
}

#[test]
fn fully_connected_is_a_product_of_matrices() {
    let rows = exported(&[("FullyConnected", &[("num_hidden", "2")])], &[3, 4]);
    assert_eq!((op_types(&rows), int(&rows.node[0], "transB")), (vec!["Gemm"], Some(1)));
    let images = exported(&[("FullyConnected", &[("num_hidden", "2"), ("no_bias", "True")])], &[3, 4, 5]);
    assert_eq!((op_types(&images), images.node[1].input.len()), (vec!["Flatten", "Gemm"], 2));
    let last = exported(&[("FullyConnected", &[("num_hidden", "2"), ("flatten", "False")])], &[3, 4, 5]);
    assert_eq!(op_types(&last), ["Transpose", "MatMul", "Add"]);
}

#[test]
fn a_loss_head_loses_its_label_and_dropout_disappears() {
    let graph = exported(&[("Dropout", &[]), ("SoftmaxOutput", &[])], &[2, 5]);
    assert_eq!((op_types(&graph), graph.node[0].input[0].as_str()), (vec!["Softmax"], "data"));
    assert_eq!((graph.input.len(), graph.output[0].name.as_str()), (1, "n1_output"));
    // A graph output must be the output of a node, so Dropout as the last node becomes Identity.
    let graph = exported(&[("Dropout", &[])], &[2, 5]);
    assert_eq!((op_types(&graph), graph.output[0].name.as_str()), (vec!["Identity"], "n0_output"));
}

#[test]
fn codes_of_reshape_are_resolved() {
    let graph = exported(&[("Reshape", &[("shape", "(-3, -4, 2, -1, 0)")])], &[2, 3, 4, 5]);
    assert_eq!(constant(&graph, &graph.node[0].input[1]).to_f32_vec().unwrap(), [6.0, 2.0, 2.0, 5.0]);
}

#[test]
fn the_batch_may_stay_open() {
    let calls: [(&str, &[(&str, &str)]); 3] =
        [("Reshape", &[("shape", "(0, -3, 0)")]), ("zeros_like", &[]), ("sum", &[("axis", "(1, 2)")])];
    let options =
        ExportOptions { has_dynamic_batch: true, ..ExportOptions::new([("data", Shape::from([2, 3, 4, 5]))]) };
    let graph = exported_with(&chain(&calls), &options).graph.unwrap();
    let target = constant(&graph, &graph.node[0].input[1]);
    assert_eq!(target.to_f32_vec().unwrap(), [-1.0, 12.0, 5.0]);
    assert_eq!(op_types(&graph), ["Reshape", "Shape", "ConstantOfShape", "ReduceSum"]);
    for value in [&graph.input[0], &graph.output[0]] {
        let dims = &value.tensor_type().unwrap().shape.as_ref().unwrap().dim;
        assert_eq!(dims[0], Dimension::named("N"));
    }
    // With an open batch size, export fails if a `Reshape` has sizes that are valid for only one batch size.
    let fixed = chain(&[("Reshape", &[("shape", "(2, -1)")]), ("Reshape", &[("shape", "(-1, 5)")])]);
    assert!(export(&fixed, [], &options).is_ok());
    let fixed = chain(&[("Reshape", &[("shape", "(6, 20)")])]);
    assert!(export(&fixed, [], &options).unwrap_err().to_string().contains("another batch size"));
}

#[test]
fn all_nodes_that_cannot_be_expressed_are_named_at_once() {
    let graph = chain(&[
        ("Dropout", &[("mode", "always")]),
        ("relu", &[]),
        ("Pooling", &[("kernel", "(2, 2)"), ("pool_type", "lp"), ("p_value", "3")]),
    ]);
    let error = export(&graph, [], &ExportOptions::new([("data", Shape::from([1, 1, 4, 4]))])).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotBuilt { .. }));
    let text = error.to_string();
    for words in ["2 nodes", "`n0` (Dropout)", "`n2` (Pooling)", "random", "p_value"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn outputs_that_onnx_does_not_compute_are_refused() {
    let ops = mxrs_ops::catalog();
    let call = SymbolCall::new(ops.get("BatchNorm").unwrap()).name("bn").attr("output_mean_var", "True");
    let graph = call.input(&Symbol::variable("data")).build(&mut NameManager::new()).unwrap().graph().unwrap();
    let shape = Shape::from([2, 3]);
    let error = export(&graph, ones(&graph, &shape), &ExportOptions::new([("data", shape)])).unwrap_err();
    assert!(error.to_string().contains("`bn_mean`"), "{error}");
}

#[test]
fn values_have_names_of_their_own_where_nodes_have_not() {
    let ops = mxrs_ops::catalog();
    let mut names = NameManager::new();
    let data = Symbol::variable("data");
    let same = |input: &Symbol, names: &mut NameManager| {
        SymbolCall::new(ops.get("relu").unwrap()).name("same").input(input).build(names).unwrap()
    };
    let first = same(&data, &mut names);
    let graph = Symbol::group([&same(&first, &mut names), &data]).graph().unwrap();
    let model = exported_with(&graph, &ExportOptions::new([("data", Shape::from([2]))]));
    let graph = model.graph.unwrap();
    assert_eq!(op_types(&graph), ["Relu", "Relu", "Identity"]);
    assert_ne!(graph.node[0].name, graph.node[1].name);
    let outputs: Vec<&str> = graph.output.iter().map(|value| value.name.as_str()).collect();
    assert_eq!(outputs, ["same_output", "data_output"]);
}

#[test]
fn parameters_follow_the_type_of_the_input() {
    let graph = chain(&[("FullyConnected", &[("num_hidden", "2")]), ("BatchNorm", &[])]);
    let options = ExportOptions { dtype: DType::F16, ..ExportOptions::new([("data", Shape::from([3, 4]))]) };
    let graph = exported_with(&graph, &options).graph.unwrap();
    assert_eq!(constant(&graph, "n0_weight").dtype(), Some(DType::F16));
    // The statistics stay float32, although the network is in half precision.
    assert_eq!(constant(&graph, "n1_moving_mean").dtype(), Some(DType::F32));
    assert_eq!(op_types(&graph), ["Gemm", "Cast", "BatchNormalization", "Cast"]);
}

#[test]
fn options_and_inputs_are_checked() {
    let graph = chain(&[("FullyConnected", &[("num_hidden", "2")])]);
    let options = ExportOptions::new([("data", Shape::from([3, 4]))]);
    let error = export(&graph, [], &options).unwrap_err().to_string();
    assert!(error.contains("`n0_weight`") && error.contains("`n0_bias`"), "{error}");
    for opset in [OPSETS.start() - 1, OPSETS.end() + 1] {
        let options = ExportOptions { opset, ..options.clone() };
        assert!(
            export(&graph, ones(&graph, &Shape::from([3, 4])), &options).unwrap_err().to_string().contains("13 to 17")
        );
    }
    let wrong = ExportOptions::new([("data", Shape::from([3, 5]))]);
    assert!(export(&graph, ones(&graph, &Shape::from([3, 4])), &wrong).is_err());
    let model = exported_with(&graph, &ExportOptions { opset: 15, ..options });
    assert_eq!((model.ir_version, model.opset()), (8, Some(15)));
    assert_eq!(model.graph.unwrap().node[0].attribute, [AttributeProto::int("transB", 1)]);
}
