//! `mxrs predict` returns the same predictions as MXNet.
//!
//! Debug builds are slow, so most of their runs use only the first images; release builds use all.

use crate::mxrs::{Ran, SCALE, digits, fixture, mxrs, mxrs_with};
use mxrs_format::recordio::{RecordReader, RecordWriter};
use mxrs_format::{ArrayFile, Arrays, Options, Tensor};
use std::fs;
use std::path::Path;

const N_IMAGES: usize = 297;

/// Writes the first `n` validation records into a file in `dir`.
pub(crate) fn first_records(dir: &Path, n: usize) -> String {
    let bytes = fs::read(digits("digits_val.rec")).unwrap();
    let mut reader = RecordReader::from_slice(&bytes, &Options::default());
    let mut writer = RecordWriter::new(Vec::new());
    for _ in 0..n {
        writer.write(&reader.next_record().unwrap().expect("a record")).unwrap();
    }
    let path = dir.join(format!("first{n}.rec"));
    fs::write(&path, writer.into_inner()).unwrap();
    path.display().to_string()
}

fn predict(vars: &[(&str, &str)], model: &str, data: &str, more: &[&str]) -> Ran {
    let model = digits(model);
    let start = ["predict", "--model", &model, "--epoch", "10", "--data", data, "--data-shape", "1,28,28"];
    mxrs_with(vars, start.into_iter().chain(["--scale", SCALE]).chain(more.iter().copied()))
}

fn array(path: &str, name: &str) -> Vec<f32> {
    let file = ArrayFile::open(path, &Options::default()).unwrap().value;
    let array: Tensor = match file.arrays {
        Arrays::Named(mut named) => named.swap_remove(name).unwrap_or_else(|| panic!("no {name} in {path}")),
        Arrays::Unnamed(list) => list.into_iter().next().expect("an array"),
    };
    array.as_slice::<f32>().unwrap().to_vec()
}

/// Compares rows with the probabilities that MXNet 1.9.1 computed for the same records.
#[track_caller]
fn assert_like_mxnet(model: &str, rows: &[f32], n: usize) {
    let expected = array(&digits(&format!("{model}-val-prob.npz")), "prob");
    assert_eq!(rows.len(), n * 10);
    for (i, (got, want)) in rows.iter().zip(&expected).enumerate() {
        assert!((got - want).abs() <= 1e-5, "{model}: image {}, class {}: {got}, MXNet {want}", i / 10, i % 10);
    }
}

/// Predicts with every engine and every pool type in turn.
#[test]
fn settings_do_not_change_the_answers() {
    let n = if cfg!(debug_assertions) { 5 } else { N_IMAGES };
    let dir = tempfile::tempdir().unwrap();
    let data = first_records(dir.path(), n);
    let engines = [
        "NaiveEngine",
        "NaiveEngineAsync",
        "ThreadedEngine",
        "ThreadedEngineAsync",
        "ThreadedEnginePerDevice",
        "ThreadedEnginePerDeviceAsync",
    ];
    let pools = ["Naive", "Round", "Unpooled"];
    for (i, engine) in engines.into_iter().enumerate() {
        for (j, pool) in pools.into_iter().enumerate() {
            let bulk = if (i + j) % 2 == 0 { "1" } else { "0" };
            let vars = [
                ("MXNET_ENGINE_TYPE", engine),
                ("MXNET_CPU_MEM_POOL_TYPE", pool),
                ("MXNET_EXEC_BULK_EXEC_INFERENCE", bulk),
            ];
            let out = dir.path().join(format!("{engine}-{pool}.npy")).display().to_string();
            let more = ["--backend", "reference", "--batch-size", "4", "--output", &out];
            predict(&vars, "lenet", &data, &more).ok();
            assert_like_mxnet("lenet", &array(&out, "prob"), n);
        }
    }
}

/// Predicts the whole validation set with LeNet on all backends of this build.
#[test]
fn lenet_has_the_accuracy_it_had_in_mxnet() {
    whole_set("lenet", 293, 0.986532, &[]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "the reference kernels are slow in debug builds")]
fn resnet8_has_the_accuracy_it_had_in_mxnet() {
    whole_set("resnet8", 292, 0.983165, &[]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "the reference kernels are slow in debug builds")]
fn the_reference_kernels_have_the_accuracies_too() {
    whole_set("lenet", 293, 0.986532, &["--backend", "reference"]);
    whole_set("resnet8", 292, 0.983165, &["--backend", "reference"]);
}

fn whole_set(model: &str, correct: u64, accuracy: f64, more: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.npz").display().to_string();
    let flags: Vec<&str> = ["--format", "json", "--output", &out].into_iter().chain(more.iter().copied()).collect();
    let json = predict(&[], model, &digits("digits_val.rec"), &flags).json();
    assert_eq!((json["images"].as_u64(), json["correct"].as_u64()), (Some(297), Some(correct)));
    assert!((json["accuracy"].as_f64().expect("a number") - accuracy).abs() < 5e-7);
    assert!(json["seconds"].as_f64().expect("a number") > 0.0);
    assert_like_mxnet(model, &array(&out, "prob"), N_IMAGES);
    assert_eq!(array(&out, "label"), array(&digits(&format!("{model}-val-prob.npz")), "label"));
    let predictions = json["predictions"].as_array().expect("predictions");
    for (row, expected) in predictions.iter().zip(array(&out, "prob").chunks_exact(10)) {
        let top = row["top"].as_array().expect("top");
        assert_eq!(top.len(), 5);
        let class = top[0]["class"].as_u64().expect("a class") as usize;
        assert!(expected.iter().all(|prob| *prob <= expected[class]), "{row}");
    }
    assert_eq!((predictions.len(), &predictions[3]["index"]), (N_IMAGES, &3.into()));
}

#[test]
fn resnet8_gives_the_answers_of_mxnet() {
    let dir = tempfile::tempdir().unwrap();
    let data = first_records(dir.path(), 6);
    let out = dir.path().join("out.npy").display().to_string();
    predict(&[], "resnet8", &data, &["--batch-size", "4", "--output", &out]).ok();
    assert_like_mxnet("resnet8", &array(&out, "prob"), 6);
}

#[test]
fn drawings_show_prediction_and_label() {
    let dir = tempfile::tempdir().unwrap();
    let data = first_records(dir.path(), 3);
    let text = predict(&[], "lenet", &data, &["--draw", "2"]).ok();
    assert_eq!(text.matches("label ").count(), 2, "{text}");
    assert!(text.contains('▀') && text.contains('█') && !text.contains('\u{1b}'), "{text}");
    assert!(text.contains("accuracy: 1.000000 (3 of 3 images)"), "{text}");
}

#[test]
fn image_files_have_no_labels() {
    let images = [fixture("china.jpg"), fixture("flower.jpg")];
    let [china, flower] = images.map(|path| path.display().to_string());
    let model = digits("lenet");
    let start =
        ["predict", "--model", &model, "--epoch", "10", "--data-shape", "1,28,28", "--scale", SCALE, "--top", "2"];
    let json = mxrs(start.into_iter().chain(["--format", "json", &china, &flower])).json();
    assert_eq!(json["images"], 2);
    assert!(json["accuracy"].is_null() && json["predictions"][1]["label"].is_null());
    assert_eq!(json["predictions"][1]["file"], flower.as_str());
    let text = mxrs(start.into_iter().chain([china.as_str()])).ok();
    assert_eq!(text.lines().next(), Some(china.as_str()));
    assert_eq!(text.matches("prob=").count(), 2, "{text}");
    assert!(text.contains(" class="), "{text}");
}

#[test]
fn classes_may_have_names() {
    let dir = tempfile::tempdir().unwrap();
    let data = first_records(dir.path(), 1);
    let synset = dir.path().join("synset.txt");
    let names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    fs::write(&synset, names.join("\n")).unwrap();
    let synset = synset.display().to_string();
    let json = predict(&[], "lenet", &data, &["--synset", &synset, "--format", "json"]).json();
    let (label, top) = (&json["predictions"][0]["label"], &json["predictions"][0]["top"][0]);
    assert_eq!(top["class"], *label);
    assert_eq!(top["name"], names[label.as_u64().expect("a label") as usize]);
    fs::write(&synset, "one\ntwo\n").unwrap();
    assert!(predict(&[], "lenet", &data, &["--synset", &synset]).failed(2).contains("names 2 classes"));
}

/// The output file is checked before the checkpoint is read. An existing file is not changed until there is a result.
#[test]
fn an_output_is_tried_before_it_is_computed() {
    let dir = tempfile::tempdir().unwrap();
    let data = first_records(dir.path(), 1);
    let missing = dir.path().join("none/prob.npy").display().to_string();
    let error = predict(&[], "no-such-model", &data, &["--output", &missing]).failed(1);
    assert!(error.contains(&missing), "{error}");
    let earlier = dir.path().join("prob.npy");
    fs::write(&earlier, "earlier").unwrap();
    predict(&[], "no-such-model", &data, &["--output", &earlier.display().to_string()]).failed(3);
    assert_eq!(fs::read_to_string(&earlier).unwrap(), "earlier");
}
