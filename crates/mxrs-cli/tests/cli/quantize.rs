//! `mxrs quantize` on the digits data set: files that `mxrs predict` can run, the report, and error messages.
//!
//! Debug builds are slow, so their quantized network runs only on the first images.

use crate::mxrs::{Ran, SCALE, digits, mxrs, mxrs_with};
use crate::predict::first_records;
use mxrs_format::{Checkpoint, Options};
use std::fs;
use std::path::Path;

fn quantize(model: &str, data: &str, output: &Path, more: &[&str]) -> Ran {
    let (model, output) = (digits(model), output.display().to_string());
    let start = ["quantize", "--prefix", &model, "--epoch", "10", "--data-val", data, "--scale", SCALE];
    let shape = ["--image-shape", "1,28,28", "--output", &output];
    // A flag that occurs twice is an error, so a shape in `more` replaces the default one.
    let shape = if more.contains(&"--image-shape") { &shape[2..] } else { &shape[..] };
    mxrs(start.into_iter().chain(shape.iter().copied()).chain(more.iter().copied()))
}

fn correct(prefix: &str, data: &str) -> i64 {
    let start = ["predict", "--model", prefix, "--epoch", "10", "--data", data, "--data-shape", "1,28,28"];
    let json = mxrs(start.into_iter().chain(["--scale", SCALE, "--format", "json"])).json();
    json["correct"].as_i64().expect("a number")
}

#[test]
fn what_is_written_predicts_as_well_as_what_was_read() {
    let dir = tempfile::tempdir().unwrap();
    let tried = first_records(dir.path(), if cfg!(debug_assertions) { 8 } else { 297 });
    let data = first_records(dir.path(), 64);
    for (model, mode) in [("lenet", "naive"), ("resnet8", "entropy")] {
        let out = dir.path().join(model);
        let flags = ["--calib-mode", mode, "--batch-size", "16", "--num-calib-batches", "3", "--format", "json"];
        let json = quantize(model, &data, &out, &flags).json();
        assert_eq!((json["examples"].as_u64(), json["calib_mode"].as_str()), (Some(48), Some(mode)));
        assert!(json["bytes_before"].as_f64().unwrap() > 3.0 * json["bytes_after"].as_f64().unwrap());
        let files = json["files"].as_array().unwrap();
        assert_eq!(files.len(), 3);
        assert!(files.iter().all(|file| Path::new(file.as_str().unwrap()).is_file()), "{files:?}");
        let prefix = format!("{}-quantized", out.display());
        assert!(correct(&prefix, &tried) + 1 >= correct(&digits(model), &tried), "{model}");
        let symbol = format!("{prefix}-symbol.json");
        let flags = ["plan", &symbol, "--shape", "data=4,1,28,28", "--format", "json"];
        let ran = mxrs_with(&[("MXNET_ONEDNN_ENABLED", "0")], flags);
        assert!(!ran.err.contains("runs on the reference kernels"), "{model}: {}", ran.err);
        ran.ok();
    }
}

/// Checks that `mxrs evaluate` can run a quantized network, which it binds before parameters are loaded. Channel-wise ranges
/// have one element per channel.
#[test]
fn what_is_written_is_evaluated() {
    let dir = tempfile::tempdir().unwrap();
    let data = first_records(dir.path(), 8);
    for granularity in ["channel-wise", "tensor-wise"] {
        let out = dir.path().join(granularity);
        let flags = ["--calib-mode", "naive", "--batch-size", "4", "--num-calib-batches", "2"];
        quantize("lenet", &data, &out, &[&flags[..], &["--granularity", granularity]].concat()).ok();
        let prefix = format!("{}-quantized", out.display());
        let start = ["evaluate", "--model", &prefix, "--load-epoch", "10", "--data-val", &data, "--json"];
        // The last batch is smaller than the others, so the network is bound with two batch sizes.
        let rest = ["--image-shape", "1,28,28", "--rgb-std", "255", "--batch-size", "5", "--top-k", "0"];
        let json = mxrs(start.into_iter().chain(rest)).json();
        let accuracy = json["metrics"]["accuracy"].as_f64().expect("a number");
        assert_eq!(json["images"], 8);
        assert_eq!(accuracy * 8.0, correct(&prefix, &data) as f64, "{granularity}");
    }
}

#[test]
fn the_report_names_layers_reasons_and_ranges() {
    let dir = tempfile::tempdir().unwrap();
    let data = first_records(dir.path(), 4);
    let flags = ["--calib-mode", "naive", "--exclude", "fc2", "--granularity", "tensor-wise"];
    let text = quantize("lenet", &data, &dir.path().join("net"), &flags).ok();
    for word in ["conv1", "excluded", "only relu has a quantized form", "pool1_output", "3 layers quantized", "written"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    let path = dir.path().join("net-quantized-0010.params");
    let checkpoint = Checkpoint::open(path, &Options::default()).unwrap().value;
    assert_eq!(checkpoint.arg["conv1_weight_quantize_max"].as_slice::<f32>().unwrap().len(), 1);
    assert!(checkpoint.arg.contains_key("fc2_weight") && checkpoint.arg.contains_key("conv1_bias_quantize"));
}

#[test]
fn bad_usage_is_told_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let data = first_records(dir.path(), 2);
    for (more, word) in [
        (&["--exclude", "conv9"][..], "`conv9`"),
        (&["--exclude-op", "Convolution,FullyConnected"], "excluded"),
        (&["--calib-mode", "kl"], "none, naive, entropy"),
        (&["--quantized-dtype", "int4"], "int8, uint8, auto"),
        (&["--granularity", "row"], "channel-wise"),
        (&["--image-shape", "3,28,28"], "conv1"),
        (&["--image-shape", "1,4,4"], "conv"),
        (&["--quantized-dtype", "uint8"], "negative"),
        (&["--num-calib-batches", "0"], "--num-calib-batches"),
        (&["--batch-size", "4294967295"], "--batch-size: 4294967295 images of (1, 28, 28) do not fit into memory"),
        (&["--symbol", "x.json", "--params", "x.params"], "cannot be used with"),
    ] {
        let err = quantize("lenet", &data, &dir.path().join("net"), more).failed(2);
        assert!(err.contains(word), "{more:?}: {err}");
    }
    let err = quantize("lenet", &data, &dir.path().join("absent/net"), &[]).failed(2);
    assert!(err.contains("there is no folder"), "{err}");
    let (model, out) = (digits("lenet"), dir.path().join("net").display().to_string());
    let err = mxrs(["quantize", "--prefix", &model, "--epoch", "10", "--output", &out]).failed(2);
    assert!(err.contains("--data-val"), "{err}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "only the records are there");
}

#[test]
fn bad_files_are_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("net");
    let empty = dir.path().join("empty.rec").display().to_string();
    fs::write(&empty, "").unwrap();
    let err = quantize("lenet", &empty, &out, &[]).failed(3);
    assert!(err.contains("empty.rec"), "{err}");
    let cut = dir.path().join("cut.rec").display().to_string();
    let bytes = fs::read(digits("digits_val.rec")).unwrap();
    fs::write(&cut, &bytes[..1001]).unwrap();
    let err = quantize("lenet", &cut, &out, &[]).failed(3);
    assert!(err.contains("cut.rec"), "{err}");
    assert!(quantize("lenet", "absent.rec", &out, &[]).failed(3).contains("absent.rec"));
    assert!(quantize("absent", &cut, &out, &[]).failed(3).contains("absent-symbol.json"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing was written");
}

#[test]
fn without_calibration_no_records_are_needed() {
    let dir = tempfile::tempdir().unwrap();
    let (model, out) = (digits("lenet"), dir.path().join("net").display().to_string());
    let start = ["quantize", "--prefix", &model, "--epoch", "10", "--output", &out, "--calib-mode", "none"];
    let text = mxrs(start).ok();
    assert!(text.contains("at each run"), "{text}");
    assert!(!dir.path().join("net-quantized-calibration.json").exists());
    let tried = first_records(dir.path(), 8);
    assert_eq!(correct(&format!("{out}-quantized"), &tried), 8);
}

/// The quantized network is measured and tuned with its parameters: random parameters would not contain ranges.
#[test]
fn what_is_written_is_measured_and_tuned() {
    let dir = tempfile::tempdir().unwrap();
    let data = first_records(dir.path(), 4);
    let out = dir.path().join("net");
    quantize("lenet", &data, &out, &["--calib-mode", "naive"]).ok();
    let (symbol, params) =
        (format!("{}-quantized-symbol.json", out.display()), format!("{}-quantized-0010.params", out.display()));
    let run = |command: &str, more: &[&str]| {
        let start = [command, "--symbol", &symbol, "--data-shape", "1,28,28", "--batch-size", "1"];
        mxrs(start.into_iter().chain(more.iter().copied()))
    };
    let once = ["--params", &params, "--num-batches", "1", "--warmup", "0"];
    let ran = run("score", &once);
    assert!(ran.err.contains("batch size  1, dtype float32, images/sec: "), "{}", ran.err);
    ran.ok();
    run("tune", &["--params", &params, "--budget", "0"]).ok();
    assert!(run("tune", &["--budget", "0"]).failed(3).contains("_quantize"));
    // All convolutions and matrix products are quantized, so no operator would compute in bfloat16.
    for command in ["score", "tune"] {
        let err = run(command, &["--params", &params, "--dtype", "bfloat16"]).failed(2);
        assert!(err.contains("--dtype bfloat16: no operator of"), "{command}: {err}");
    }
    // If another dtype is given too, a dtype without effect is reported as not built, and no search starts for it.
    let ran = run("score", &[&once[..], &["--dtype", "bfloat16,float32"]].concat());
    for words in
        ["dtype bfloat16, images/sec: not built", "--dtype bfloat16: no operator of", "dtype float32, images/sec: "]
    {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    ran.ok();
    let ran = run("tune", &["--params", &params, "--budget", "0", "--dtype", "float32,bfloat16"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
}
