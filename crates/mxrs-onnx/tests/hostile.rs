//! Small models that ask for huge values. Each is an error that names the node, its operator and the size; nothing of that size
//! is allocated.

mod common;

use common::{model, node, tensor};
use mxrs_format::onnx::{AttributeProto, Dimension, ModelProto, NodeProto, ValueInfoProto};
use mxrs_format::{Options, Tensor};
use mxrs_onnx::{ImportOptions, import, import_with};
use mxrs_types::{DType, ErrorKind, FormatErrorKind, Shape};
use std::time::{Duration, Instant};

fn ints(name: &str, values: &[i64]) -> (String, Tensor) {
    (name.to_owned(), Tensor::from_slice([values.len()], values).unwrap())
}

fn floats(name: &str, shape: &[usize], values: &[f64]) -> (String, Tensor) {
    (name.to_owned(), tensor(DType::F32, shape, values))
}

fn zeros(name: &str, shape: &[usize]) -> (String, Tensor) {
    floats(name, shape, &vec![0.0; shape.iter().product()])
}

fn scalar(name: &str, value: f64) -> (String, Tensor) {
    floats(name, &[], &[value])
}

/// Calls that make gibibytes from a few constants.
fn calls() -> Vec<(NodeProto, Vec<(String, Tensor)>)> {
    let huge = 1 << 16;
    vec![
        (node("ConstantOfShape", &["s"], &["y"], vec![]), vec![ints("s", &[huge, huge])]),
        (node("Range", &["a", "b", "c"], &["y"], vec![]), vec![scalar("a", 0.0), scalar("b", 3e9), scalar("c", 1.0)]),
        (node("Expand", &["x", "s"], &["y"], vec![]), vec![zeros("x", &[1]), ints("s", &[huge, huge])]),
        (node("Tile", &["x", "s"], &["y"], vec![]), vec![zeros("x", &[1, 1]), ints("s", &[huge, huge])]),
        (
            node("Pad", &["x", "s"], &["y"], vec![]),
            vec![zeros("x", &[1, 1, 1, 1]), ints("s", &[0, 0, 0, 0, 0, 0, huge, huge])],
        ),
        (
            node("OneHot", &["x", "d", "v"], &["y"], vec![]),
            vec![ints("x", &[0, 1, 2, 3]), scalar("d", f64::from(1 << 30)), floats("v", &[2], &[0.0, 1.0])],
        ),
        (
            node("Resize", &["x", "", "s"], &["y"], vec![]),
            vec![zeros("x", &[1, 1, 64, 64]), floats("s", &[4], &[1.0, 1.0, 1024.0, 1024.0])],
        ),
    ]
}

#[track_caller]
fn refused(model: &ModelProto, words: &[&str]) -> String {
    let began = Instant::now();
    let error = import(model, &Options::default()).unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}: {error}", began.elapsed());
    let is_limit = matches!(error.kind(), ErrorKind::Format { kind: FormatErrorKind::LimitExceeded { .. }, .. });
    assert!(is_limit, "{error}");
    let text = error.to_string();
    for words in words {
        assert!(text.contains(words), "{words}: {text}");
    }
    text
}

#[test]
fn huge_constants_are_refused() {
    for (node, constants) in calls() {
        let op = node.op_type.clone();
        let model = model(13, Vec::new(), constants, vec![node]);
        let name = format!("reading node `{op}_node` ({op})");
        let text = refused(&model, &[&name, "constant output", "ImportOptions::max_constant_bytes"]);
        assert!(text.contains(" > 10737"), "{text}");
        // A user who trusts the model can raise the limit. The import itself still makes nothing of that size.
        let options = ImportOptions { max_constant_bytes: 1 << 40, ..ImportOptions::default() };
        import_with(&model, &options).unwrap_or_else(|e| panic!("{op}: {e}"));
    }
}

#[test]
fn huge_values_that_depend_on_inputs_are_refused() {
    let huge = 1 << 17;
    for (node, constants, shape) in [
        (node("Expand", &["x", "s"], &["y"], vec![]), vec![ints("s", &[huge, huge])], vec![1]),
        (node("Tile", &["x", "s"], &["y"], vec![]), vec![ints("s", &[huge, huge])], vec![1, 1]),
        (node("Pad", &["x", "s"], &["y"], vec![]), vec![ints("s", &[0, 0, 0, 0, 0, 0, huge, huge])], vec![1; 4]),
        (
            node("OneHot", &["x", "d", "v"], &["y"], vec![]),
            vec![scalar("d", f64::from(1 << 30)), floats("v", &[2], &[0.0, 1.0])],
            vec![16],
        ),
        (
            node("Upsample", &["x", "s"], &["y"], vec![]),
            vec![floats("s", &[4], &[1.0, 1.0, 1024.0, 1024.0])],
            vec![1, 1, 256, 256],
        ),
        // Nothing but the shapes of the inputs is large.
        (node("MatMul", &["x", "x2"], &["y"], vec![]), vec![], vec![1 << 17, 1]),
    ] {
        let op = node.op_type.clone();
        let value = |name: &str, shape: &[usize]| ValueInfoProto::of(name, DType::F32, &Shape::from(shape));
        let mut inputs = vec![value("x", &shape)];
        if op == "MatMul" {
            inputs.push(value("x2", &[1, 1 << 17]));
        }
        let opset = if op == "Upsample" { 9 } else { 13 };
        let name = format!("reading node `{op}_node` ({op})");
        let model = model(opset, inputs, constants, vec![node]);
        refused(&model, &[&name, "bytes of the output", "ImportOptions::max_value_bytes"]);
        let options = ImportOptions { max_value_bytes: 1 << 40, ..ImportOptions::default() };
        import_with(&model, &options).unwrap_or_else(|e| panic!("{op}: {e}"));
    }
}

/// Each constant is within the limit, but there are many.
#[test]
fn many_large_constants_are_refused() {
    let shape = ints("s", &[1 << 28]);
    let many = |n: usize| {
        let made = (0..n).map(|i| node("ConstantOfShape", &["s"], &[&format!("c{i}")], vec![]));
        let sum = node("Concat", &["c0", "x"], &["y"], vec![AttributeProto::int("axis", 0)]);
        let x = ValueInfoProto::of("x", DType::F32, &Shape::from([1]));
        model(13, vec![x], [shape.clone()], made.chain([sum]).collect())
    };
    import(&many(8), &Options::default()).unwrap();
    refused(&many(9), &["all constants", "(268435456,) float32", "(ConstantOfShape)"]);
}

#[test]
fn sizes_that_overflow_are_errors() {
    let shape = [i64::MAX, i64::MAX];
    for sizes in [&shape[..], &[1 << 40, 1 << 40], &[1 << 41], &[-1, 4]] {
        let node = node("ConstantOfShape", &["s"], &["y"], vec![]);
        let error = import(&model(13, Vec::new(), [ints("s", sizes)], vec![node]), &Options::default()).unwrap_err();
        assert!(error.to_string().contains("`ConstantOfShape_node` (ConstantOfShape)"), "{sizes:?}: {error}");
    }
    let ends = [scalar("a", 0.0), scalar("b", f64::from(f32::MAX)), scalar("c", 1e-30)];
    let model = model(13, Vec::new(), ends, vec![node("Range", &["a", "b", "c"], &["y"], vec![])]);
    let error = import(&model, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("`Range_node` (Range)"), "{error}");
}

/// An open size counts as 1, and the other sizes alone are too many.
#[test]
fn huge_values_with_an_open_size_are_refused() {
    let x = ValueInfoProto::with_dims("x", DType::F32, vec![Dimension::named("N"), Dimension::size(1)]);
    let tile = node("Tile", &["x", "s"], &["y"], vec![]);
    refused(&model(13, vec![x], [ints("s", &[1, 1 << 33])], vec![tile]), &["(?, 8589934592) float32", "(Tile)"]);
}

/// A product over many letters has small inputs and a small output, but would take years.
#[test]
fn sums_over_many_letters_are_not_computed_during_the_import() {
    let began = Instant::now();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for n in [6, 8] {
        let constants = names[..n].iter().map(|name| zeros(name, &[63]));
        let equation = AttributeProto::text("equation", &format!("{}->", names[..n].join(",")));
        let einsum = node("Einsum", &names[..n], &["y"], vec![equation]);
        let imported = import(&model(13, Vec::new(), constants, vec![einsum]), &Options::default());
        match n {
            6 => assert!(imported.is_ok()),
            _ => assert!(imported.unwrap_err().to_string().contains("(Einsum)")),
        }
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn shapes_of_many_axes_are_refused() {
    let refused = |node: NodeProto, constants: Vec<(String, Tensor)>| {
        let op = node.op_type.clone();
        let error = import(&model(13, Vec::new(), constants, vec![node]), &Options::default()).unwrap_err().to_string();
        assert!(error.contains("at most 32") && error.contains(&op), "{error}");
    };
    let ones = [1; 40];
    refused(node("ConstantOfShape", &["s"], &["y"], vec![]), vec![ints("s", &ones)]);
    let places: Vec<i64> = (0..60_000).collect();
    refused(node("Unsqueeze", &["x", "s"], &["y"], vec![]), vec![zeros("x", &[1]), ints("s", &places)]);
    // Many nodes could read the same lists, and each would become many calls.
    refused(node("Slice", &["x", "s", "s", "s"], &["y"], vec![]), vec![zeros("x", &[1]), ints("s", &places)]);
    let wide = ValueInfoProto::of("x", DType::F32, &Shape::from(&[1; 40][..]));
    let shape = node("Relu", &["x"], &["y"], vec![]);
    let error = import(&model(13, vec![wide], [], vec![shape]), &Options::default()).unwrap_err().to_string();
    assert!(error.contains("input `x`") && error.contains("at most 32"), "{error}");
}

/// Many nodes can read one large constant. It is not copied for each of them.
#[test]
fn large_constants_are_not_copied_for_each_node() {
    let n = 20_000;
    let value = |i: usize| if i == 0 { "x".to_owned() } else { format!("y{i}") };
    let nodes = (0..n).map(|i| node("Add", &[&value(i), "w"], &[&value(i + 1)], vec![])).collect();
    let x = ValueInfoProto::of("x", DType::F32, &Shape::from([1 << 20]));
    let model = model(13, vec![x], [zeros("w", &[1 << 20])], nodes);
    let began = Instant::now();
    import(&model, &Options::default()).unwrap();
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn long_lists_of_sizes_are_refused() {
    let reshape = node("Reshape", &["x", "s"], &["y"], vec![]);
    let model = model(13, Vec::new(), [zeros("x", &[1]), ints("s", &[1; 70_000])], vec![reshape]);
    let error = import(&model, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("(Reshape)") && error.contains("70000 elements, at most 65536"), "{error}");
}

/// The sum of the sizes does not fit into 64 bits.
#[test]
fn parts_that_are_not_the_whole_axis_are_refused() {
    for sizes in [[i64::MAX, i64::MAX, 4], [1, 2, 4]] {
        let split = node("Split", &["x"], &["a", "b", "c"], vec![AttributeProto::ints("split", sizes)]);
        let x = ValueInfoProto::of("x", DType::F32, &Shape::from([6]));
        let error = import(&model(11, vec![x], [], vec![split]), &Options::default()).unwrap_err().to_string();
        assert!(error.contains("3 parts of sizes") && error.contains("6 elements"), "{error}");
    }
}

/// The number of elements of a window does not fit into 64 bits. This mean of a constant would be computed by the import.
#[test]
fn huge_windows_are_errors_and_no_panics() {
    let huge = 1 << 31;
    let lists = [("kernel_shape", 3), ("strides", 3), ("pads", 6)];
    let attributes = lists.map(|(name, n)| AttributeProto::ints(name, vec![huge; n]));
    let pool = node("AveragePool", &["x"], &["y"], attributes.to_vec());
    let model = model(11, Vec::new(), [zeros("x", &[1; 5])], vec![pool]);
    let error = import(&model, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("(AveragePool)") && error.contains("too many elements"), "{error}");
}

/// A model can have millions of nodes that are refused. The error stays readable.
#[test]
fn errors_list_some_of_many_nodes() {
    let nodes = (0..10_000).map(|i| node("Unknown", &["x"], &[&format!("y{i}")], vec![])).collect();
    let x = ValueInfoProto::of("x", DType::F32, &Shape::from([1]));
    let error = import(&model(13, vec![x], [], nodes), &Options::default()).unwrap_err().to_string();
    assert!(error.contains("10000 nodes") && error.contains("other nodes"), "{error}");
    assert!(error.len() < 100_000, "{}", error.len());
}

/// A reversed slice of an axis without elements.
#[test]
fn slices_of_empty_axes_are_errors_and_no_panics() {
    let x = ValueInfoProto::of("x", DType::F32, &Shape::from([0, 3]));
    let constants = [ints("s", &[-1]), ints("e", &[0]), ints("a", &[0]), ints("t", &[-1])];
    let slice = node("Slice", &["x", "s", "e", "a", "t"], &["y"], vec![]);
    let error = import(&model(13, vec![x], constants, vec![slice]), &Options::default()).unwrap_err().to_string();
    assert!(error.contains("without elements"), "{error}");
}
