//! Tests of ONNX models whose arrays are in other files: good models, and models that name what they must not read.

use mxrs_format::onnx::{self, AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto};
use mxrs_format::{Limits, Options, Tensor};
use mxrs_types::{DType, Error, Result, Shape};
use std::fs;
use std::path::PathBuf;

/// A float32 array whose elements are in another file.
fn outside(name: &str, dims: &[i64], place: &[(&str, &str)]) -> TensorProto {
    let entry =
        |(key, value): &(&str, &str)| onnx::StringStringEntryProto { key: key.to_string(), value: value.to_string() };
    TensorProto {
        name: name.into(),
        dims: dims.to_vec(),
        data_type: onnx::DataType::Float as i32,
        external_data: place.iter().map(entry).collect(),
        data_location: 1,
        ..TensorProto::default()
    }
}

fn model(arrays: Vec<TensorProto>) -> ModelProto {
    let value = |name: &str| ValueInfoProto::of(name, DType::F32, &Shape::from([2]));
    let graph = GraphProto {
        node: vec![NodeProto::new("Relu", "relu", ["x"], ["y"])],
        initializer: arrays,
        input: vec![value("x")],
        output: vec![value("y")],
        ..GraphProto::default()
    };
    ModelProto::of(graph, 13)
}

/// A folder with a model in a folder of its own, and a file next to that folder.
struct Files {
    all: tempfile::TempDir,
    dir: PathBuf,
}

impl Files {
    /// The file `w.bin` has the floats 0 to 5.
    fn new() -> Self {
        let all = tempfile::tempdir().unwrap();
        let dir = all.path().join("model");
        fs::create_dir(&dir).unwrap();
        let bytes: Vec<u8> = (0..6u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
        fs::write(dir.join("w.bin"), &bytes).unwrap();
        fs::write(all.path().join("secret.bin"), &bytes).unwrap();
        Self { all, dir }
    }

    /// Writes the model as a file and reads it.
    fn open(&self, model: &ModelProto) -> Result<ModelProto> {
        let path = self.dir.join("model.onnx");
        onnx::save(&path, model).unwrap();
        Ok(onnx::open(&path, &Options::default())?.value)
    }

    /// The elements of the model's arrays.
    fn elements(&self, arrays: Vec<TensorProto>) -> Result<Vec<Vec<f32>>> {
        let graph = self.open(&model(arrays))?.graph.unwrap();
        let limits = Limits::default();
        graph.initializer.iter().map(|array| onnx::to_tensor(array, &limits)?.to_f32_vec()).collect()
    }

    #[track_caller]
    fn refused(&self, array: TensorProto, words: &[&str]) {
        let error: Error = self.open(&model(vec![array])).unwrap_err();
        let text = error.to_string();
        for words in words.iter().chain(&["`w`"]) {
            assert!(text.contains(words), "{words:?}: {text}");
        }
    }
}

#[test]
fn elements_are_read_from_the_folder_of_the_model() {
    let files = Files::new();
    fs::create_dir(files.dir.join("sub")).unwrap();
    fs::copy(files.dir.join("w.bin"), files.dir.join("sub/v.bin")).unwrap();
    let arrays = vec![
        outside("a", &[2, 2], &[("location", "w.bin"), ("offset", "8"), ("length", "16")]),
        outside("b", &[6], &[("checksum", "0"), ("location", "./sub/v.bin")]),
        // The same elements as those of `a`.
        outside("c", &[4], &[("location", "w.bin"), ("offset", "8"), ("length", "16")]),
        outside("d", &[1], &[("location", "w.bin"), ("length", "4")]),
        outside("none", &[0, 7], &[("location", "w.bin"), ("offset", "24")]),
        onnx::from_tensor("inside", Tensor::from_slice([1], &[9.0f32]).unwrap()).unwrap(),
    ];
    let expected = [vec![2.0, 3.0, 4.0, 5.0], (0..6u8).map(f32::from).collect(), vec![2.0, 3.0, 4.0, 5.0]];
    let rest = [vec![0.0], vec![], vec![9.0]];
    assert_eq!(files.elements(arrays).unwrap(), [&expected[..], &rest].concat());
}

#[test]
fn a_model_that_was_read_needs_its_folder_no_longer() {
    let files = Files::new();
    let array = outside("w", &[6], &[("location", "w.bin")]);
    let constant = NodeProto {
        attribute: vec![AttributeProto::tensor("value", outside("t", &[6], &[("location", "w.bin")]))],
        ..NodeProto::new("Constant", "constant", [""; 0], ["c"])
    };
    let mut with_constant = model(vec![array]);
    with_constant.graph.as_mut().unwrap().node.push(constant);
    let bytes = onnx::to_bytes(&files.open(&with_constant).unwrap()).unwrap();
    let graph = onnx::from_bytes(&bytes, &Options::default()).unwrap().value.graph.unwrap();
    let expected = Tensor::from_slice([6], &[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    let of_node = graph.node[1].attr("value").unwrap().t.as_deref().unwrap();
    for array in [&graph.initializer[0], of_node] {
        assert_eq!(onnx::to_tensor(array, &Limits::default()).unwrap(), expected);
    }
}

#[test]
fn a_model_in_memory_has_no_folder() {
    let array = outside("w", &[6], &[("location", "w.bin")]);
    let bytes = onnx::to_bytes(&model(vec![array])).unwrap();
    let error = onnx::from_bytes(&bytes, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("`w`") && error.contains("read its file by `onnx::open`"), "{error}");
}

#[test]
fn paths_out_of_the_folder_are_refused() {
    let files = Files::new();
    let absolute = files.all.path().join("secret.bin");
    for (location, words) in [
        ("../secret.bin", "`..`"),
        ("sub/../../secret.bin", "`..`"),
        ("../model/w.bin", "`..`"),
        ("..\\secret.bin", "`..`"),
        (absolute.to_str().unwrap(), "an absolute path"),
        ("C:\\secret.bin", "a drive"),
        ("w.bin\0", "NUL"),
        ("", "no file"),
        (".", "no file"),
    ] {
        files.refused(outside("w", &[6], &[("location", location)]), &[words, "model.onnx", "expected a path"]);
    }
}

#[test]
fn what_is_not_a_file_is_refused() {
    let files = Files::new();
    files.refused(outside("w", &[6], &[("location", "missing.bin")]), &["missing.bin"]);
    files.refused(outside("w", &[6], &[("location", "w.bin/x")]), &["w.bin"]);
    fs::create_dir(files.dir.join("sub")).unwrap();
    files.refused(outside("w", &[6], &[("location", "sub")]), &["sub"]);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_at_once() {
    use std::time::{Duration, Instant};
    let files = Files::new();
    let pipe = files.dir.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let began = Instant::now();
    files.refused(outside("w", &[6], &[("location", "pipe")]), &["a device or a pipe"]);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[cfg(unix)]
#[test]
fn links_must_stay_in_the_folder() {
    use std::os::unix::fs::symlink;
    use std::path::Path;
    let files = Files::new();
    let link = |to: &Path, name: &str| symlink(to, files.dir.join(name)).unwrap();
    let array = |location: &str| outside("w", &[6], &[("location", location)]);
    link(Path::new("w.bin"), "near.bin");
    assert_eq!(files.elements(vec![array("near.bin")]).unwrap()[0].len(), 6);
    link(&files.all.path().join("secret.bin"), "far.bin");
    link(Path::new("../secret.bin"), "up.bin");
    link(Path::new("far.bin"), "chain.bin");
    link(files.all.path(), "all");
    for location in ["far.bin", "up.bin", "chain.bin", "all/secret.bin"] {
        let words = ["symbolic link", "copy the file into the folder", location];
        files.refused(array(location), &words);
    }
    // The way out and back in ends in the folder.
    assert_eq!(files.elements(vec![array("all/model/w.bin")]).unwrap()[0].len(), 6);
    link(Path::new("loop.bin"), "loop.bin");
    files.refused(array("loop.bin"), &["loop.bin"]);
    // The folder itself may be a link.
    let alias = files.all.path().join("alias");
    symlink(&files.dir, &alias).unwrap();
    onnx::save(files.dir.join("model.onnx"), &model(vec![array("w.bin")])).unwrap();
    onnx::open(alias.join("model.onnx"), &Options::default()).unwrap();
}

#[test]
fn ranges_that_do_not_fit_are_refused() {
    let files = Files::new();
    let at = |dims: &[i64], offset: &str, length: &str| {
        outside("w", dims, &[("location", "w.bin"), ("offset", offset), ("length", length)])
    };
    let huge = u64::MAX.to_string();
    for (array, words) in [
        (at(&[1], "25", "4"), "behind the end of the file, which has 24 bytes"),
        (at(&[1], &huge, "4"), "behind the end"),
        (at(&[6], "4", "24"), "20 left"),
        (at(&[6], "4", &huge), "20 left"),
        (at(&[1], "0", "8"), "8 bytes are given to the array, its sizes ask for 4"),
        (at(&[3], "0", "8"), "ask for 12"),
        // The array would have 4 TiB. Nothing is allocated, because the file is shorter.
        (at(&[1 << 40], "0", "4398046511104"), "24 left"),
        (at(&[i64::MAX, 4], "0", "24"), "too many elements"),
        (at(&[-1], "0", "24"), "size -1"),
        (at(&[1], "-4", "4"), "`offset` is `-4`, expected a number of bytes"),
        (at(&[1], "0", "four"), "`length` is `four`"),
        (at(&[1], "99999999999999999999", "4"), "`offset`"),
        (outside("w", &[5], &[("location", "w.bin")]), "24 bytes are given to the array, its sizes ask for 20"),
        (outside("w", &[6], &[("offset", "0")]), "no `location`"),
        (outside("w", &[6], &[("location", "w.bin"), ("location", "w.bin")]), "`location`"),
        (outside("w", &[6], &[("location", "w.bin"), ("basepath", "..")]), "key `basepath`"),
        (TensorProto { float_data: vec![1.0], ..at(&[1], "0", "4") }, "both in the model and in another file"),
    ] {
        files.refused(array, &[words]);
    }
}

/// Without a limit, a small file could fill the memory: a million arrays could share all but one byte.
#[test]
fn ranges_that_overlap_are_refused() {
    let files = Files::new();
    let at =
        |name: &str, offset: &str| outside(name, &[4], &[("location", "w.bin"), ("offset", offset), ("length", "16")]);
    let error = files.elements(vec![at("v", "0"), at("w", "4")]).unwrap_err().to_string();
    assert!(error.contains("overlap") && error.contains("w.bin") && error.contains("`w`"), "{error}");
}

/// The elements are in memory once, but each array that is used is a copy of them.
#[test]
fn arrays_with_equal_ranges_are_limited() {
    let files = Files::new();
    fs::write(files.dir.join("zeros.bin"), vec![0u8; 1 << 20]).unwrap();
    let arrays = |n: usize| -> Vec<TensorProto> {
        (0..n).map(|i| outside(&format!("w{i}"), &[1 << 18], &[("location", "zeros.bin")])).collect()
    };
    // The first array is read, and 1025 MiB are left for the others.
    files.open(&model(arrays(1026))).unwrap();
    let error = files.open(&model(arrays(1027))).unwrap_err().to_string();
    assert!(error.contains("the same elements") && error.contains("zeros.bin"), "{error}");
    assert!(error.contains("`w1026`") && error.contains("1074790400"), "{error}");
}
