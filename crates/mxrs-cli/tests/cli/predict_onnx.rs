//! `mxrs predict --model FILE.onnx`: outputs computed by hand, names that are paths, and what does not fit.

use crate::mxrs::{Ran, digits, mxrs};
use ::mxrs::types::{DType, Shape};
use mxrs_format::onnx::{self, Dimension, GraphProto, ModelProto, NodeProto, ValueInfoProto, from_tensor};
use mxrs_format::{ArrayFile, Arrays, Element, Options, Tensor, npy};
use serde_json::json;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The inputs of the model as messages list them.
const INPUTS: &str = "the model has the inputs `x` float32 (?, 3), `ids` int64 (?,)";

/// A folder with a model and arrays for it.
struct Folder(TempDir);

impl Folder {
    /// The model computes `x w + b + table[ids]`, and has outputs whose names are paths.
    fn new() -> Self {
        let constant = |name: &str, tensor: Tensor| from_tensor(name, tensor).unwrap();
        let rows = |name: &str, dtype, sizes: &[usize]| {
            let sizes = sizes.iter().map(|size| Dimension::size(*size));
            ValueInfoProto::with_dims(name, dtype, [Dimension::named("rows")].into_iter().chain(sizes).collect())
        };
        let graph = GraphProto {
            name: "rows".into(),
            node: vec![
                NodeProto::new("Gemm", "dense", ["x", "w", "b"], ["h"]),
                NodeProto::new("Gather", "lookup", ["table", "ids"], ["../e"]),
                NodeProto::new("Add", "sum", ["h", "../e"], ["logits/y"]),
                NodeProto::new("Identity", "same", ["ids"], ["/tmp/ids"]),
            ],
            initializer: vec![
                constant("w", tensor([3, 2], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])),
                constant("b", tensor([2], &[10.0_f32, 20.0])),
                constant("table", tensor([4, 2], &[0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])),
            ],
            input: vec![rows("x", DType::F32, &[3]), rows("ids", DType::I64, &[])],
            output: vec![
                rows("logits/y", DType::F32, &[2]),
                rows("../e", DType::F32, &[2]),
                rows("/tmp/ids", DType::I64, &[]),
            ],
            ..GraphProto::default()
        };
        let folder = Self(tempfile::tempdir().unwrap());
        onnx::save(folder.path("model.onnx"), &ModelProto::of(graph, 13)).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Saves an array as `<input>.npy`, and returns the value of `--input`.
    fn input(&self, input: &str, tensor: &Tensor) -> String {
        let mut bytes = Vec::new();
        npy::write(&mut bytes, tensor.as_dense().unwrap()).unwrap();
        let path = self.path(&format!("{input}.npy"));
        std::fs::write(&path, bytes).unwrap();
        format!("{input}={}", path.display())
    }

    fn predict(&self, flags: &[&str]) -> Ran {
        predict(&self.text("model.onnx"), flags)
    }
}

fn predict(model: &str, flags: &[&str]) -> Ran {
    mxrs(["predict", "--model", model].into_iter().chain(flags.iter().copied()))
}

fn tensor<T: Element>(shape: impl Into<Shape>, elements: &[T]) -> Tensor {
    Tensor::from_slice(shape, elements).unwrap()
}

fn saved(path: &Path) -> Tensor {
    match ArrayFile::open(path, &Options::default()).unwrap().value.arrays {
        Arrays::Unnamed(mut list) => list.pop().expect("an array"),
        Arrays::Named(_) => panic!("{} has names", path.display()),
    }
}

/// (1 2 3) w + b = (32 48) and (4 5 6) w + b = (59 84). Rows 3 and 1 of the table, (6 7) and (2 3), are added.
#[test]
fn outputs_are_printed_and_written_into_the_folder() {
    let folder = Folder::new();
    let x = folder.input("x", &tensor([2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let ids = folder.input("ids", &tensor([2], &[3_i64, 1]));
    let out = folder.text("new/out");
    let inputs = ["--input", x.as_str(), "--input", &ids];
    let json = folder.predict(&[&inputs[..], &["--output-dir", &out, "--format", "json"]].concat()).json();
    assert_eq!(json["model"], folder.text("model.onnx"));
    assert_eq!(json["inputs"][1]["dtype"], "int64");
    assert!(json["seconds"].as_f64().expect("a number") > 0.0);
    let file = |name: &str| folder.path("new/out").join(name);
    let y = json!({
        "name": "logits/y", "shape": [2, 2], "dtype": "float32", "file": file("logits_y.npy"),
        "min": 38.0, "max": 87.0, "mean": 60.25, "not_finite": 0, "values": [38.0, 55.0, 61.0, 87.0],
    });
    assert_eq!(json["outputs"][0], y);
    assert_eq!(json["outputs"][1]["values"], json!([6.0, 7.0, 2.0, 3.0]));
    assert_eq!((&json["outputs"][2]["name"], &json["outputs"][2]["values"]), (&json!("/tmp/ids"), &json!([3, 1])));
    assert_eq!(saved(&file("logits_y.npy")), tensor([2, 2], &[38.0_f32, 55.0, 61.0, 87.0]));
    assert_eq!(saved(&file("_._e.npy")), tensor([2, 2], &[6.0_f32, 7.0, 2.0, 3.0]));
    assert_eq!(saved(&file("_tmp_ids.npy")), tensor([2], &[3_i64, 1]));
    let n_files = |name: &str| std::fs::read_dir(folder.path(name)).unwrap().count();
    assert_eq!((n_files("new/out"), n_files("new"), n_files("")), (3, 1, 4));
    let text = folder.predict(&inputs).ok();
    for words in ["logits/y", "(2, 2)", "float32", "38.0, 55.0, 61.0, 87.0", "int64", "3, 1", "3 outputs in "] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// One row: (0 0 1) w + b = (15 26), and row 0 of the table is (0 1).
#[test]
fn open_sizes_follow_the_arrays_and_types_are_converted() {
    let folder = Folder::new();
    let x = folder.input("x", &tensor([1, 3], &[0.0_f64, 0.0, 1.0]));
    let ids = folder.input("ids", &tensor([1], &[0_u8]));
    let json = folder.predict(&["--input", &ids, "--input", &x, "--format", "json"]).json();
    assert_eq!(json["outputs"][0]["values"], json!([15.0, 27.0]));
    assert_eq!(json["outputs"][2]["dtype"], "int64");
    assert!(json["outputs"][0].get("file").is_none());
}

#[test]
fn each_input_is_given_once_by_its_name() {
    let folder = Folder::new();
    let x = folder.input("x", &tensor([1, 3], &[0.0_f32; 3]));
    let ids = folder.input("ids", &tensor([1], &[0_i64]));
    let unknown = format!("z{x}");
    for (flags, words) in [
        (vec!["--input", &x, "--input", &ids, "--input", &unknown], "got `zx`"),
        (vec!["--input", &x], "nothing for `ids`"),
        (vec!["--input", &x, "--input", &ids, "--input", &x], "`x` twice"),
        (vec![], "nothing for `x`, `ids`"),
    ] {
        let error = folder.predict(&flags).failed(2);
        assert!(error.contains(words) && error.contains(INPUTS), "{words}: {error}");
    }
    for (flags, words) in [
        (vec!["--input", "x"], "expected NAME=FILE.npy"),
        (vec!["--input", &x, "--data", "a.rec"], "cannot be used with"),
        (vec!["--output-dir", "out", "--batch-size", "2"], "cannot be used with"),
        (vec!["photo.jpg"], "does not take images"),
        (vec!["--output", "y.npy"], "--output-dir"),
    ] {
        let error = folder.predict(&flags).failed(2);
        assert!(error.contains(words), "{words}: {error}");
    }
    folder.predict(&["--input", &x, "--output-dir", &folder.text("unused")]).failed(2);
    assert!(!folder.path("unused").exists(), "bad usage makes no folder");
    assert!(predict(&digits("lenet"), &["--input", &x]).failed(2).contains("are for ONNX models"));
    assert!(predict(&digits("lenet"), &[]).failed(2).contains("--data"));
}

#[test]
fn an_array_that_does_not_fit_is_named_with_its_file() {
    let folder = Folder::new();
    let good = folder.input("ids", &tensor([1], &[0_i64]));
    for (array, words) in [
        (tensor([1, 4], &[0.0_f32; 4]), "shape of input `x`: got (1, 4), expected (?, 3)"),
        (tensor([3], &[0.0_f32; 3]), "shape of input `x`: got (3,), expected (?, 3)"),
        (tensor([1, 3], &[1_i64, 2, (1 << 24) + 1]), "element type of input `x`: got int64 whose element 2"),
    ] {
        let x = folder.input("x", &array);
        let error = folder.predict(&["--input", &x, "--input", &good]).failed(3);
        assert!(error.contains(words) && error.contains(INPUTS) && error.contains("x.npy"), "{words}: {error}");
    }
    let x = folder.input("x", &tensor([1, 3], &[0.0_f32; 3]));
    let ids = folder.input("ids", &tensor([1], &[1.0_f32]));
    let error = folder.predict(&["--input", &x, "--input", &ids]).failed(3);
    assert!(error.contains("got float32, expected int64") && error.contains("array.astype(\"int64\")"), "{error}");
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = Folder::new();
    let ids = folder.input("ids", &tensor([1], &[0_i64]));
    std::fs::write(folder.path("text.npy"), "not an array, but long enough to have a header").unwrap();
    for name in ["absent.npy", "text.npy"] {
        let x = format!("x={}", folder.text(name));
        assert!(folder.predict(&["--input", &x, "--input", &ids]).failed(3).contains(name));
    }
    let two = [("a".to_owned(), tensor([1], &[0.0_f32])), ("b".to_owned(), tensor([1], &[0.0_f32]))];
    ArrayFile::named(two).save_npz(folder.path("two.npz")).unwrap();
    let x = format!("x={}", folder.text("two.npz"));
    let error = folder.predict(&["--input", &x, "--input", &ids]).failed(3);
    assert!(error.contains("two.npz: got 2, expected 1"), "{error}");
    assert!(predict(&folder.text("absent.onnx"), &[]).failed(3).contains("absent.onnx"));
    let x = folder.input("x", &tensor([1, 3], &[0.0_f32; 3]));
    let not_a_folder = folder.text("x.npy");
    let error = folder.predict(&["--input", &x, "--input", &ids, "--output-dir", &not_a_folder]).failed(1);
    assert!(error.contains("x.npy"), "{error}");
}

#[test]
fn a_node_without_a_counterpart_is_named_with_the_file() {
    let folder = Folder::new();
    let value = |name: &str| ValueInfoProto::of(name, DType::F32, &Shape::from([1]));
    let graph = GraphProto {
        node: vec![NodeProto::new("Mystery", "odd", ["x"], ["y"])],
        input: vec![value("x")],
        output: vec![value("y")],
        ..GraphProto::default()
    };
    let model = folder.text("odd.onnx");
    onnx::save(&model, &ModelProto::of(graph, 13)).unwrap();
    let x = folder.input("x", &tensor([1], &[0.0_f32]));
    let error = predict(&model, &["--input", &x]).failed(3);
    assert!(error.contains("`odd` (Mystery)") && error.contains("odd.onnx"), "{error}");
}
