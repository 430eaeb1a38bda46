//! Tests export followed by import: for every sample of every operator, the imported graph computes the same as the original
//! graph, both on the reference kernels. Export and import share no code, so an error in one is not hidden by the same error
//! in the other. `tests/onnx` runs exported models on another runtime and compares the results.

mod common;

use common::Values;
use mxrs_format::onnx;
use mxrs_format::{AlignedBytes, Options, Tensor};
use mxrs_graph::{Entry, Graph, GraphBuilder, infer_dtypes, infer_shapes};
use mxrs_onnx::{ExportOptions, export, import};
use mxrs_op::{Attrs, OpDef, Sample, TensorDesc};
use mxrs_testkit::{AlignedBuffer, Tolerance, compare, fill::Seeded, fill_input};
use mxrs_types::{DType, ErrorKind};
use std::collections::HashMap;
use std::sync::Arc;

fn one_call(op: &Arc<OpDef>, sample: &Sample) -> (Graph, Vec<String>) {
    let names: Vec<String> =
        op.input_names(&op.parse(&sample.attrs).unwrap()).iter().map(ToString::to_string).collect();
    let mut builder = GraphBuilder::new();
    let inputs = names.iter().map(|name| Entry::new(builder.add_variable(name, Attrs::new()), 0)).collect();
    let node = builder.add_op(op, "call", sample.attrs.clone(), inputs).unwrap();
    builder.set_heads(vec![Entry::new(node, 0)]);
    (builder.build().unwrap(), names)
}

/// The first output of the graph, computed by the reference kernels.
fn run(graph: &Graph, given: &Values) -> (TensorDesc, Vec<f64>) {
    common::outputs(graph, given).remove(0)
}

/// Samples of operators that export or import refuses.
const ONE_WAY: [(&str, &str); 10] = [
    ("Dropout", "always"),
    ("Pooling", "lp_3"),
    ("Reshape", "no_rows"),
    ("softmax", "length"),
    ("softmax", "length_axis"),
    // This sample has padding only at the end, which import accepts only if the convention `full` has the same windows.
    ("Pooling", "same"),
    // Import turns these samples into `_full`. But `_full` without a shape, or with a size of 0, takes its shape from
    // the operators that read it.
    ("ones_like", "scalar"),
    ("ones_like", "empty"),
    ("zeros_like", "scalar"),
    ("zeros_like", "empty"),
];

fn check(op: &Arc<OpDef>, sample: &Sample, has_dynamic_batch: bool) -> Result<(), String> {
    let (graph, names) = one_call(op, sample);
    let given = || names.iter().zip(&sample.inputs).map(|(name, input)| (name.as_str(), input));
    let shapes = infer_shapes(&graph, given().map(|(name, input)| (name, input.shape.clone().into()))).unwrap();
    let shapes = shapes.complete(&graph).unwrap();
    let dtypes = given().map(|(name, input)| (name, input.dtype.unwrap_or(DType::F32)));
    let dtypes = infer_dtypes(&graph, dtypes, Some(DType::F32)).unwrap().complete(&graph).unwrap();
    let mut seed = Seeded::from_text(sample.name);
    let mut values = Values::new();
    let (mut fed, mut params) = (Vec::new(), Vec::new());
    for (index, (name, input)) in given().enumerate() {
        let entry = graph.output_id(graph.find(name).unwrap(), 0).index();
        let desc = TensorDesc::dense(shapes[entry].clone(), dtypes[entry]);
        let data = fill_input(input, desc.dtype, &mut seed);
        // As in a network, the first input is data that the user feeds, and all other inputs are parameters.
        if index == 0 && desc.dtype == DType::F32 {
            fed.push((name, desc.shape.clone()));
        } else {
            let bytes = AlignedBytes::copy_of(data.bytes());
            params.push((name.to_owned(), Tensor::dense(desc.dtype, desc.shape.clone(), bytes).unwrap()));
        }
        values.insert(name.to_owned(), (desc, data));
    }
    let options = ExportOptions { has_dynamic_batch, ..ExportOptions::new(fed) };
    let model = export(&graph, params, &options).map_err(|error| error.to_string())?;
    let bytes = onnx::to_bytes(&model).unwrap();
    let read = onnx::from_bytes(&bytes, &Options::default()).unwrap().value;
    let imported = import(&read, &Options::default()).map_err(|error| error.to_string())?;
    let expected = run(&graph, &values);
    values.retain(|name, _| imported.inputs.iter().any(|input| input.name == *name));
    for (name, tensor) in &imported.params {
        let dense = tensor.as_dense().unwrap();
        let desc = TensorDesc::dense(dense.shape().clone(), dense.dtype());
        values.insert(name.clone(), (desc, AlignedBuffer::from_bytes(dense.bytes())));
    }
    let got = run(&imported.graph, &values);
    if got.0 != expected.0 {
        return Err(format!("got {}, expected {}", got.0, expected.0));
    }
    compare(&got.1, &expected.1, Tolerance::of(op.accuracy, DType::F32)).map_err(|mismatch| format!("{mismatch:?}"))
}

#[test]
fn every_sample_comes_back() {
    let (mut n_checked, mut n_one_way) = (0, 0);
    let mut failures = Vec::new();
    let is_exported = |name: &str| mxrs_onnx::exported_operators().any(|exported| exported == name);
    for op in mxrs_ops::catalog().iter().filter(|op| is_exported(op.name)) {
        for sample in (op.samples)().iter().filter(|sample| !sample.is_train) {
            let is_one_way = ONE_WAY.contains(&(op.name, sample.name));
            match check(op, sample, false) {
                Ok(()) if is_one_way => {
                    failures.push(format!("{} {}: comes back, though listed", op.name, sample.name))
                }
                Err(text) if !is_one_way => failures.push(format!("{} {}: {text}", op.name, sample.name)),
                Ok(()) => n_checked += 1,
                Err(_) => n_one_way += 1,
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(n_one_way, ONE_WAY.len());
    // At least five sixths of all samples are checked.
    assert!(n_checked > 300, "{n_checked}");
}

#[test]
fn networks_come_back_with_their_names() {
    use mxrs_models::{ModelOptions, model};
    let network = model("resnet-50", &ModelOptions { n_classes: 10, ..ModelOptions::default() }).unwrap();
    let graph = network.symbol.graph().unwrap();
    let data = mxrs_types::Shape::from([1, 3, 224, 224]);
    let shapes = infer_shapes(&graph, [("data", data.clone().into())]).unwrap().complete(&graph).unwrap();
    let params = graph.variables().iter().filter(|id| !graph.is_label(**id) && graph.node(**id).name != "data");
    let params: Vec<(String, Tensor)> = params
        .map(|id| {
            let shape = shapes[graph.output_id(*id, 0).index()].clone();
            let bytes = AlignedBytes::zeroed(shape.n_elements() * 4);
            (graph.node(*id).name.clone(), Tensor::dense(DType::F32, shape, bytes).unwrap())
        })
        .collect();
    let model = export(&graph, params, &ExportOptions::new([("data", data)])).unwrap();
    let imported = import(&model, &Options::default()).unwrap();
    assert_eq!(imported.graph.output_names(), ["softmax_output"]);
    let names = |graph: &Graph| {
        let mut names: Vec<String> =
            graph.nodes().iter().filter(|node| node.op_name() == "Convolution").map(|node| node.name.clone()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&imported.graph), names(&graph));
    let aux = |graph: &Graph| graph.aux_state_names().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(aux(&imported.graph), aux(&graph));
    // Exports the imported graph: the second model must have the same operators in the same order as the first.
    let again =
        export(&imported.graph, imported.params, &ExportOptions::new([("data", [1, 3, 224, 224].into())])).unwrap();
    let op_types = |model: &onnx::ModelProto| {
        model.graph.iter().flat_map(|g| &g.node).map(|n| n.op_type.clone()).collect::<Vec<_>>()
    };
    assert_eq!(op_types(&again), op_types(&model));
}

#[test]
fn hard_sigmoid_and_hard_swish_are_what_onnx_defines() {
    let shape = mxrs_types::Shape::from([9]);
    let value = |name: &str| onnx::ValueInfoProto::of(name, DType::F32, &shape);
    let xs = [-7.0f32, -3.0, -2.5, -0.5, 0.0, 0.25, 2.0, 3.5, 9.0];
    let number = onnx::AttributeProto::float;
    let line = |alpha: f64, beta: f64, x: f64| (alpha * x + beta).clamp(0.0, 1.0);
    type Expected<'a> = &'a dyn Fn(f64) -> f64;
    let cases: [(&str, Vec<onnx::AttributeProto>, Expected<'_>); 3] = [
        ("HardSigmoid", vec![], &|x| line(0.2, 0.5, x)),
        ("HardSigmoid", vec![number("alpha", 1.0 / 6.0), number("beta", 0.25)], &|x| line(1.0 / 6.0, 0.25, x)),
        ("HardSwish", vec![], &|x| x * line(1.0 / 6.0, 0.5, x)),
    ];
    for (op, attribute, expected) in cases {
        let node = onnx::NodeProto { attribute, ..onnx::NodeProto::new(op, "call", ["x"], ["y"]) };
        let (input, output) = (vec![value("x")], vec![value("y")]);
        let graph = onnx::GraphProto { node: vec![node], input, output, ..onnx::GraphProto::default() };
        let imported = import(&onnx::ModelProto::of(graph, 14), &Options::default()).unwrap();
        let desc = TensorDesc::dense(shape.clone(), DType::F32);
        let given = HashMap::from([("x".to_owned(), (desc, AlignedBuffer::from_f64(&xs.map(f64::from), DType::F32)))]);
        let (_, got) = run(&imported.graph, &given);
        for (x, got) in xs.iter().zip(got) {
            assert!((got - expected(f64::from(*x))).abs() < 1e-6, "{op}({x}) = {got}");
        }
    }
}

#[test]
fn all_nodes_without_a_counterpart_are_named_at_once() {
    let shape = mxrs_types::Shape::from([2, 3]);
    let value = |name: &str| onnx::ValueInfoProto::of(name, DType::F32, &shape);
    let mut relu = onnx::NodeProto::new("Relu", "strange", ["b"], ["c"]);
    relu.attribute.push(onnx::AttributeProto::int("slope", 1));
    let foreign = onnx::NodeProto { domain: "com.example".into(), ..onnx::NodeProto::new("Relu", "far", ["x"], ["d"]) };
    let graph = onnx::GraphProto {
        node: vec![
            onnx::NodeProto::new("NonZero", "first", ["x"], ["a"]),
            onnx::NodeProto::new("Relu", "behind", ["a"], ["y"]),
            onnx::NodeProto::new("Relu", "fine", ["x"], ["b"]),
            relu,
            foreign,
        ],
        input: vec![value("x")],
        output: vec![value("y")],
        ..onnx::GraphProto::default()
    };
    let error = import(&onnx::ModelProto::of(graph, 13), &Options::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotBuilt { .. }));
    let text = error.to_string();
    for words in ["3 nodes", "`first` (NonZero)", "`strange` (Relu): attribute `slope`", "`far` (Relu)", "com.example"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("behind") && !text.contains("fine"), "{text}");
}

/// Numbers that overflow in unchecked arithmetic.
const EXTREMES: [i64; 6] = [i64::MIN, -1, 0, 1 << 31, 1 << 62, i64::MAX];

/// Imports every exported sample model with one number replaced: an attribute, an element of a constant list, or a size of
/// an input.
#[test]
fn extreme_numbers_are_errors_and_no_panics() {
    let mut n_models = 0;
    for op in mxrs_ops::catalog().iter() {
        for sample in (op.samples)().iter().filter(|sample| !sample.is_train) {
            if op.parse(&sample.attrs).is_ok_and(|params| op.n_outputs.get(&params) == 0) {
                continue; // A graph needs a head.
            }
            let (graph, names) = one_call(op, sample);
            let inputs = names.iter().zip(&sample.inputs).map(|(name, input)| (name.as_str(), input.shape.clone()));
            let Ok(model) = export(&graph, [], &ExportOptions::new(inputs)) else { continue };
            for extreme in EXTREMES {
                for changed in with_one_changed(&model, extreme) {
                    let _ = import(&changed, &Options::default());
                    n_models += 1;
                }
            }
        }
    }
    assert!(n_models > 5000, "{n_models}");
}

fn with_one_changed(model: &onnx::ModelProto, extreme: i64) -> Vec<onnx::ModelProto> {
    let mut changed = Vec::new();
    let graph = model.graph.as_ref().unwrap();
    let mut push = |change: &dyn Fn(&mut onnx::GraphProto)| {
        let mut other = model.clone();
        change(other.graph.as_mut().unwrap());
        changed.push(other);
    };
    for (at, node) in graph.node.iter().enumerate() {
        for (index, attribute) in node.attribute.iter().enumerate() {
            if attribute.i.is_some() {
                push(&|graph| graph.node[at].attribute[index].i = Some(extreme));
            }
            for place in 0..attribute.ints.len() {
                push(&|graph| graph.node[at].attribute[index].ints[place] = extreme);
            }
            if !attribute.ints.is_empty() {
                push(&|graph| graph.node[at].attribute[index].ints.clear());
                push(&|graph| graph.node[at].attribute[index].ints.fill(extreme));
            }
        }
        if !node.input.is_empty() {
            push(&|graph| graph.node[at].input.truncate(1));
            push(&|graph| graph.node[at].input.clear());
        }
    }
    for (at, array) in graph.initializer.iter().enumerate() {
        let is_list = array.data_type == onnx::DataType::Int64 as i32;
        for place in 0..array.raw_data.as_ref().map_or(0, |raw| raw.len() / 8).min(if is_list { 8 } else { 0 }) {
            push(&|graph| {
                let mut raw = graph.initializer[at].raw_data.as_deref().unwrap().to_vec();
                raw[place * 8..][..8].copy_from_slice(&extreme.to_le_bytes());
                graph.initializer[at].raw_data = Some(raw.into());
            });
        }
    }
    for at in 0..graph.input.len() {
        push(&|graph| {
            let shape = graph.input[at].kind.as_mut().and_then(|kind| kind.tensor_type.as_mut()?.shape.as_mut());
            for dim in shape.into_iter().flat_map(|shape| &mut shape.dim) {
                dim.value = Some(onnx::DimensionValue::Size(extreme));
            }
        });
    }
    changed
}
