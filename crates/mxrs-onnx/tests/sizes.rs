//! Models with open sizes: the import is given the sizes, or says which ones it needs.

mod common;

use common::{array, model, node, run, tensor};
use mxrs_format::onnx::{AttributeProto, Dimension, ModelProto, NodeProto, ValueInfoProto};
use mxrs_format::{Options, Tensor};
use mxrs_onnx::{ImportOptions, import, import_with};
use mxrs_types::{DType, ErrorKind, Shape};

fn ints(values: &[i64]) -> Tensor {
    Tensor::from_slice([values.len()], values).unwrap()
}

fn input(name: &str, dims: Vec<Dimension>) -> ValueInfoProto {
    ValueInfoProto::with_dims(name, DType::F32, dims)
}

/// A model as exporters write it for an open batch size: it computes sizes from the shape of its input `x`, which is
/// `[batch, 4, 6]`. Its outputs are `y`, `z` and `w`.
fn dynamic() -> ModelProto {
    let constants = [
        ("zero", Tensor::from_slice(Shape::scalar(), &[0i64]).unwrap()),
        ("axis_0", ints(&[0])),
        ("axis_1", ints(&[1])),
        ("rows", ints(&[2, 12])),
        ("row", ints(&[2, 6])),
        ("image", ints(&[1, 8, 12])),
        ("scale", tensor(DType::F32, &[2, 12], &[2.0; 24])),
        ("bias", tensor(DType::F32, &[1, 6], &[0.5, 1.0, 1.5, 2.0, 2.5, 3.0])),
        ("ones", ints(&[1, 1])),
        ("minus_one", ints(&[-1])),
        ("ends", ints(&[-i64::MAX])),
    ];
    let axis = |axis| vec![AttributeProto::int("axis", axis)];
    let nodes = vec![
        node("Shape", &["x"], &["sizes"], vec![]),
        node("Gather", &["sizes", "zero"], &["batch"], axis(0)),
        node("Unsqueeze", &["batch", "axis_0"], &["batches"], vec![]),
        node("Concat", &["batches", "rows"], &["to_rows"], axis(0)),
        node("Reshape", &["x", "to_rows"], &["matrices"], vec![]),
        node("LayerNormalization", &["matrices", "scale"], &["normal"], axis(1)),
        node("Split", &["normal", ""], &["left", "right"], axis(2)),
        node("Concat", &["batches", "row"], &["to_row"], axis(0)),
        node("Expand", &["bias", "to_row"], &["biases"], vec![]),
        node("Add", &["left", "biases"], &["sum"], vec![]),
        // The batch in reverse order.
        node("Slice", &["sum", "minus_one", "ends", "axis_0", "minus_one"], &["y"], vec![]),
        node("Unsqueeze", &["x", "axis_1"], &["images"], vec![]),
        node("Concat", &["batches", "image"], &["to_image"], axis(0)),
        node("Resize", &["images", "", "", "to_image"], &["w"], vec![]),
        node("Identity", &["right"], &["z"], vec![]),
    ];
    let x = input("x", vec![Dimension::named("batch"), Dimension::size(4), Dimension::size(6)]);
    let constants = constants.map(|(name, tensor)| (name.to_owned(), tensor));
    let mut model = model(18, vec![x], constants, nodes);
    let output = |name: &str| input(name, Vec::new());
    model.graph.as_mut().unwrap().output = ["y", "z", "w"].map(output).to_vec();
    model
}

/// The outputs `y`, `z` and `w` of [`dynamic`].
fn expected(x: &[f64]) -> [Vec<f64>; 3] {
    let [mut y, mut z, mut w] = [Vec::new(), Vec::new(), Vec::new()];
    for example in x.chunks(24).rev() {
        for row in normalized(example).chunks(12) {
            y.extend(row[..6].iter().enumerate().map(|(i, x)| x + 0.5 * (i as f64 + 1.0)));
        }
    }
    for example in x.chunks(24) {
        for row in normalized(example).chunks(12) {
            z.extend_from_slice(&row[6..]);
        }
        for row in example.chunks(6) {
            let wide: Vec<f64> = row.iter().flat_map(|x| [*x, *x]).collect();
            w.extend([&wide[..], &wide[..]].concat());
        }
    }
    [y, z, w]
}

/// An example with mean 0 and deviation 2.
fn normalized(example: &[f64]) -> Vec<f64> {
    let mean = example.iter().sum::<f64>() / 24.0;
    let variance = example.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 24.0;
    example.iter().map(|x| 2.0 * (x - mean) / (variance + 1e-5).sqrt()).collect()
}

#[test]
fn one_file_is_imported_for_several_sizes() {
    let model = dynamic();
    for batch in [1, 8] {
        let x: Vec<f64> = (0..batch * 24).map(|i| f64::from(i as u8 % 17) / 4.0 + i as f64 / 100.0).collect();
        let by_name = ImportOptions::default().size("batch", batch);
        let by_input = ImportOptions::default().shape("x", [batch, 4, 6]);
        for options in [by_name, by_input] {
            let imported = import_with(&model, &options).unwrap();
            assert_eq!(imported.inputs[0].shape.known().unwrap(), Shape::from([batch, 4, 6]));
            let outputs = run(&imported, [("x".to_owned(), array(DType::F32, &[batch, 4, 6], &x))]);
            let shapes = [vec![batch, 2, 6], vec![batch, 2, 6], vec![batch, 1, 8, 12]];
            for (((desc, got), want), shape) in outputs.iter().zip(expected(&x)).zip(shapes) {
                assert_eq!(desc.shape[..], shape, "batch of {batch}");
                assert_eq!(got.len(), want.len());
                let is_near = |(got, want): (&f64, &f64)| (got - want).abs() <= 1e-4 * (1.0 + want.abs());
                assert!(got.iter().zip(&want).all(is_near), "batch of {batch}: {got:?}, expected {want:?}");
            }
        }
    }
}

/// A batch of 1 makes the sizes 1, which stretch.
#[test]
fn a_batch_of_one_has_an_axis_of_one() {
    let target = ("target".to_owned(), ints(&[1, 3]));
    let nodes = vec![
        node("Expand", &["x", "target"], &["wide"], vec![]),
        node("Shape", &["wide"], &["sizes"], vec![]),
        node("ConstantOfShape", &["sizes"], &["zeros"], vec![]),
        node("Sub", &["zeros", "wide"], &["y"], vec![]),
    ];
    let x = input("x", vec![Dimension::named("N"), Dimension::size(1)]);
    let model = model(13, vec![x], [target], nodes);
    for batch in [1, 8] {
        let imported = import_with(&model, &ImportOptions::default().size("N", batch)).unwrap();
        let x: Vec<f64> = (0..batch).map(|i| i as f64).collect();
        let outputs = run(&imported, [("x".to_owned(), array(DType::F32, &[batch, 1], &x))]);
        let want: Vec<f64> = x.iter().flat_map(|x| [0.0 - x; 3]).collect();
        assert_eq!((&outputs[0].0.shape[..], &outputs[0].1), (&[batch, 3][..], &want));
    }
}

#[test]
fn an_operator_that_needs_sizes_names_the_open_one() {
    let ints = |name: &str, values: &[i64]| (name.to_owned(), ints(values));
    let cases: Vec<(NodeProto, Vec<(String, Tensor)>)> = vec![
        (node("Shape", &["x"], &["y"], vec![]), vec![]),
        (node("Size", &["x"], &["y"], vec![]), vec![]),
        (
            node("LayerNormalization", &["x", "s"], &["y"], vec![AttributeProto::int("axis", 1)]),
            vec![("s".to_owned(), tensor(DType::F32, &[1, 2, 2], &[1.0; 4]))],
        ),
        (node("Expand", &["x", "s"], &["y"], vec![]), vec![ints("s", &[2, 1, 2, 2])]),
        (node("Split", &["x"], &["y", "z"], vec![]), vec![]),
        (
            node("Slice", &["x", "s", "e", "a", "t"], &["y"], vec![]),
            vec![ints("s", &[-1]), ints("e", &[0]), ints("a", &[0]), ints("t", &[-1])],
        ),
        (node("Resize", &["x", "", "", "s"], &["y"], vec![]), vec![ints("s", &[1, 1, 4, 4])]),
        (
            node("ScatterND", &["x", "i", "u"], &["y"], vec![]),
            vec![ints("i", &[0]), ("u".to_owned(), tensor(DType::F32, &[1, 2, 2], &[1.0; 4]))],
        ),
        (node("EyeLike", &["x"], &["y"], vec![]), vec![]),
    ];
    let dims = || vec![Dimension::named("batch"), Dimension::size(1), Dimension::unknown(), Dimension::size(2)];
    for (node, constants) in cases {
        let op = node.op_type.clone();
        // A value between the input and the node does not hide the input.
        let between = common::node("Relu", &["data"], &["x"], vec![]);
        let model = model(18, vec![input("data", dims())], constants, vec![between, node]);
        let error = import(&model, &Options::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotBuilt { .. }), "{error}");
        let text = error.to_string();
        let open = "axis 0 (`batch`) and axis 2 of the model's input `data`";
        for words in [op.as_str(), "(?, 1, ?, 2)", open, "`ImportOptions::size(\"batch\", …)`"] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}

#[test]
fn operators_that_need_no_sizes_leave_them_open() {
    let dims = vec![Dimension::named("batch"), Dimension::size(1), Dimension::size(2), Dimension::size(2)];
    let scales = ("scales".to_owned(), tensor(DType::F32, &[4], &[1.0, 1.0, 2.0, 2.0]));
    let factor = ("factor".to_owned(), tensor(DType::F32, &[4], &[1.0; 4]));
    let inner = vec![AttributeProto::int("start", 2)];
    let nodes = vec![
        node("Resize", &["x", "", "scales"], &["large"], vec![]),
        node("LayerNormalization", &["large", "factor"], &["normal"], vec![]),
        node("Shape", &["normal"], &["sizes"], inner),
        node("ConstantOfShape", &["sizes"], &["zeros"], vec![]),
        node("Add", &["normal", "zeros"], &["y"], vec![]),
    ];
    let imported = import(&model(18, vec![input("x", dims)], [scales, factor], nodes), &Options::default()).unwrap();
    assert_eq!(imported.inputs[0].shape.to_string(), "(?, 1, 2, 2)");
    for batch in [1, 3] {
        let x = vec![1.0; batch * 4];
        let outputs = run(&imported, [("x".to_owned(), array(DType::F32, &[batch, 1, 2, 2], &x))]);
        assert_eq!(outputs[0].0.shape[..], [batch, 1, 4, 4]);
    }
}

#[test]
fn sizes_of_unknown_names_are_errors() {
    let error = import_with(&dynamic(), &ImportOptions::default().size("N", 8)).unwrap_err().to_string();
    assert!(error.contains("`N`") && error.contains("`batch`"), "{error}");
    let error = import_with(&dynamic(), &ImportOptions::default().shape("x", [8, 4, 7])).unwrap_err().to_string();
    assert!(error.contains("(8, 4, 7)") && error.contains("(?, 4, 6)"), "{error}");
    // A constant is not an input that the user feeds.
    let error = import_with(&dynamic(), &ImportOptions::default().shape("bias", [1, 6])).unwrap_err().to_string();
    assert!(error.contains("`bias`") && error.contains("one of `x`"), "{error}");
}
