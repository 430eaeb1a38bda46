//! `mxrs convert onnx`: conversion to ONNX and back, and error messages.

use crate::mxrs::{digits, mxrs};
use ::mxrs::types::DType;
use mxrs_format::onnx::{Dimension, GraphProto, ModelProto, NodeProto, ValueInfoProto, from_tensor};
use mxrs_format::{ArrayFile, Options, Tensor, onnx};
use std::path::Path;

fn file(dir: &Path, name: &str) -> String {
    dir.join(name).display().to_string()
}

/// Exports a checkpoint of the digits data set.
fn export(name: &str, out: &str, more: &[&str]) -> crate::mxrs::Ran {
    let (symbol, params) = (digits(&format!("{name}-symbol.json")), digits(&format!("{name}-0010.params")));
    mxrs(["convert", "onnx", "export", &symbol, &params, out].into_iter().chain(more.iter().copied()))
}

#[test]
fn a_checkpoint_goes_there_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let (model, prefix) = (file(dir.path(), "lenet.onnx"), file(dir.path(), "back"));
    let ran = export("lenet", &model, &["--shape", "1,1,28,28", "--dynamic-batch"]);
    assert!(ran.err.contains("largest difference"), "{}", ran.err);
    assert!(ran.ok().contains("lenet.onnx written: 11 nodes, 8 arrays, operators of version 13"));
    let ran = mxrs(["convert", "onnx", "import", &model, &prefix]);
    assert!(ran.err.contains("largest difference"), "{}", ran.err);
    ran.ok();
    // The parameters are the same, bit for bit.
    let params = |path: &str| ArrayFile::open(path, &Options::default()).unwrap().value.arrays.into_named().unwrap();
    let (mut before, mut after) = (params(&digits("lenet-0010.params")), params(&format!("{prefix}-0000.params")));
    before.sort_keys();
    after.sort_keys();
    assert_eq!(after, before);
    // The imported checkpoint can be exported again.
    let (symbol, params) = (format!("{prefix}-symbol.json"), format!("{prefix}-0000.params"));
    let again = file(dir.path(), "again.onnx");
    mxrs(["convert", "onnx", "export", &symbol, &params, &again, "--shape", "data=2,1,28,28"]).ok();
}

#[test]
fn a_network_has_the_parameters_of_its_seed() {
    let dir = tempfile::tempdir().unwrap();
    let written = |name: &str, seed: &str| {
        let (out, prefix) = (file(dir.path(), &format!("{name}.onnx")), file(dir.path(), name));
        let network = ["convert", "onnx", "export", "--network", "mlp", "--batch-size", "3", "--seed", seed];
        mxrs(network.into_iter().chain(["--save-params", &prefix, &out])).ok();
        assert!(dir.path().join(format!("{name}-symbol.json")).is_file());
        (std::fs::read(&out).unwrap(), std::fs::read(format!("{prefix}-0000.params")).unwrap())
    };
    let (first, same, other) = (written("a", "7"), written("b", "7"), written("c", "8"));
    assert!(first == same && first.0 != other.0 && first.1 != other.1);
    let model = onnx::from_bytes(&first.0, &Options::default()).unwrap().value;
    let shape = model.graph.unwrap().input[0].tensor_type().and_then(|tensor| tensor.shape.clone()).unwrap();
    assert_eq!(shape.dim, [3, 1, 28, 28].map(onnx::Dimension::size));
}

/// `Expand` needs the number of rows of `x`, which the model calls `batch`.
#[test]
fn an_open_size_is_given_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let (model, prefix) = (file(dir.path(), "rows.onnx"), file(dir.path(), "rows"));
    let dims = || vec![Dimension::named("batch"), Dimension::size(3)];
    let bias = Tensor::from_slice([3], &[1.0_f32, 2.0, 3.0]).unwrap();
    let graph = GraphProto {
        node: vec![
            NodeProto::new("Shape", "shape", ["x"], ["sizes"]),
            NodeProto::new("Expand", "expand", ["bias", "sizes"], ["wide"]),
            NodeProto::new("Add", "add", ["x", "wide"], ["y"]),
        ],
        initializer: vec![from_tensor("bias", bias).unwrap()],
        input: vec![ValueInfoProto::with_dims("x", DType::F32, dims())],
        output: vec![ValueInfoProto::with_dims("y", DType::F32, dims())],
        ..GraphProto::default()
    };
    onnx::save(&model, &ModelProto::of(graph, 13)).unwrap();
    let import =
        |flags: &[&str]| mxrs(["convert", "onnx", "import", &model, &prefix].into_iter().chain(flags.iter().copied()));
    let error = import(&[]).failed(3);
    assert!(error.contains("(`batch`)") && error.contains("rows.onnx; `--size NAME=N`"), "{error}");
    for (flags, words) in [
        (vec!["--size", "rows=2"], "got `rows`, expected one of `batch`"),
        (vec!["--size", "batch=2", "--size=batch=3"], "got `batch` twice"),
        (vec!["--size", "batch"], "expected NAME=N"),
        (vec!["--size", "batch=0"], "expected NAME=N"),
    ] {
        let error = import(&flags).failed(2);
        assert!(error.contains(words), "{words}: {error}");
    }
    assert!(!Path::new(&format!("{prefix}-symbol.json")).exists());
    let ran = import(&["--size", "batch=2"]);
    assert!(ran.err.contains("largest difference"), "{}", ran.err);
    ran.ok();
}

#[test]
fn bad_usage_is_told_from_bad_files() {
    let dir = tempfile::tempdir().unwrap();
    let out = file(dir.path(), "out.onnx");
    assert!(export("lenet", &out, &[]).failed(2).contains("--shape data=1,3,224,224"));
    assert!(export("lenet", &out, &["--shape", "1,3,28,28"]).failed(2).contains("Convolution"));
    assert!(export("lenet", &out, &["--shape", "1,1,28,28", "--opset", "12"]).failed(2).contains("13"));
    assert!(mxrs(["convert", "onnx", "export", "--network", "nonet", &out]).failed(2).contains("nonet"));
    assert!(mxrs(["convert", "onnx", "export", &out]).failed(2).contains("three files"));
    assert!(!Path::new(&out).exists());
    let symbol = digits("lenet-symbol.json");
    let absent = mxrs(["convert", "onnx", "export", &symbol, "absent.params", &out, "--shape", "1,1,28,28"]);
    assert!(absent.failed(3).contains("absent.params"));
    let prefix = file(dir.path(), "p");
    assert!(mxrs(["convert", "onnx", "import", &symbol, &prefix]).failed(3).contains("JSON"));
    export("lenet", &out, &["--shape", "1,1,28,28", "--no-check"]).ok();
    let bytes = std::fs::read(&out).unwrap();
    std::fs::write(&out, &bytes[..bytes.len() / 2]).unwrap();
    assert!(mxrs(["convert", "onnx", "import", &out, &prefix]).failed(3).contains("out.onnx"));
}

#[test]
fn a_node_without_a_counterpart_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (symbol, out) = (file(dir.path(), "net-symbol.json"), file(dir.path(), "net.onnx"));
    let nodes = r#"{"op": "null", "name": "data", "inputs": []},
        {"op": "relu", "name": "bounded", "inputs": [[0, 0, 0]]},
        {"op": "log_softmax", "name": "likely", "inputs": [[1, 0, 0]]}"#;
    let text = format!(r#"{{"nodes": [{nodes}], "arg_nodes": [0], "heads": [[2, 0, 0]]}}"#);
    std::fs::write(&symbol, text).unwrap();
    let params = digits("lenet-0010.params");
    let err = mxrs(["convert", "onnx", "export", &symbol, &params, &out, "--shape", "2,4"]).failed(3);
    assert!(err.contains("`likely` (log_softmax)") && err.contains("ONNX"), "{err}");
    assert!(!err.contains("bounded"), "what can be expressed is not named: {err}");
    assert!(!Path::new(&out).exists());
}
