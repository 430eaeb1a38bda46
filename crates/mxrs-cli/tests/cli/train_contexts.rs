//! `mxrs train` and `mxrs evaluate` on several CPU devices: stores, compression, resuming, and devices that do not exist.

use crate::mxrs::{Ran, digits, mxrs};
use std::path::Path;

/// Trains the perceptron on the digits data set with these flags in addition.
fn train(more: &[&str]) -> Ran {
    let (train, val) = (digits("digits_train.rec"), digits("digits_val.rec"));
    let start = ["train", "imagenet", "--network", "mlp", "--image-shape", "1,28,28", "--num-classes", "10"];
    let data = ["--data-train", &train, "--data-val", &val, "--rgb-mean", "0", "--rgb-std", "255"];
    let size = ["--batch-size", "50", "--lr-step-epochs", "8"];
    mxrs(start.into_iter().chain(data).chain(size).chain(more.iter().copied()))
}

fn path(dir: &Path, name: &str) -> String {
    dir.join(name).display().to_string()
}

fn accuracy(log: &str) -> f64 {
    let line = log.lines().rev().find(|line| line.contains("Validation-accuracy=")).unwrap_or_else(|| panic!("{log}"));
    line.rsplit('=').next().unwrap().parse().unwrap()
}

#[test]
fn several_devices_train_as_one_does_up_to_rounding() {
    let dir = tempfile::tempdir().unwrap();
    // After one epoch the weights differ by rounding only. In a second epoch, rounding may change the sign of a value before
    // a ReLU, and this can change the accuracy by several percent.
    let one = accuracy(&train(&["--num-epochs", "1"]).err);
    assert!(one > 0.7, "{one}");
    let mut files = Vec::new();
    for (name, flags) in [
        ("local", &["--cpus", "0,1", "--kv-store", "local"][..]),
        ("device", &["--cpus", "0,1", "--kv-store", "device"]),
        ("three", &["--cpus", "0,1,2"]),
        ("2bit", &["--cpus", "0,1", "--gc-type", "2bit", "--gc-threshold", "0.1"]),
    ] {
        let prefix = path(dir.path(), name);
        let ran = train(&[flags, &["--num-epochs", "1", "--model-prefix", &prefix]].concat());
        let least = if name == "2bit" { 0.3 } else { one - 0.01 };
        assert!(accuracy(&ran.err) >= least, "{name}: {}", ran.err);
        ran.ok();
        files.push(std::fs::read(format!("{prefix}-0001.params")).unwrap());
    }
    // The sum of two gradients does not depend on their order, so both stores give the same bits.
    assert!(files[0] == files[1], "the stores differ");
    assert!(files[0] != files[3], "compression changes nothing");
}

#[test]
fn a_training_on_several_devices_resumes_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    for flags in [&["--cpus", "0,1,2"][..], &["--cpus", "0,1", "--gc-type", "1bit", "--lr", "0.001"]] {
        let (whole, broken) = (path(dir.path(), "whole"), path(dir.path(), "broken"));
        train(&[flags, &["--num-epochs", "2", "--model-prefix", &whole]].concat()).ok();
        train(&[flags, &["--num-epochs", "1", "--model-prefix", &broken]].concat()).ok();
        train(&[flags, &["--num-epochs", "2", "--resume", "--model-prefix", &broken]].concat()).ok();
        let params = |prefix: &str| std::fs::read(format!("{prefix}-0002.params")).unwrap();
        assert!(params(&whole) == params(&broken), "{flags:?}: weights differ");
    }
}

#[test]
fn evaluate_has_the_same_figures_on_every_number_of_devices() {
    let (model, val) = (digits("lenet"), digits("digits_val.rec"));
    let figures = |more: &[&str]| {
        let start = ["evaluate", "--model", &model, "--load-epoch", "10", "--data-val", &val, "--json"];
        let flags = ["--image-shape", "1,28,28", "--rgb-std", "255", "--batch-size", "40", "--top-k", "3"];
        mxrs(start.into_iter().chain(flags).chain(more.iter().copied())).json()["metrics"].clone()
    };
    let one = figures(&[]);
    assert!(one["accuracy"].as_f64().unwrap() > 0.9, "{one}");
    assert_eq!(figures(&["--cpus", "0,1,2"]), one);
}

#[test]
fn devices_that_do_not_exist_are_named() {
    let model = digits("lenet");
    let evaluate = |flags: &[&str]| {
        let start = ["evaluate", "--model", &model, "--load-epoch", "10", "--data-val", "none.rec"];
        mxrs(start.into_iter().chain(flags.iter().copied())).failed(2)
    };
    for (flags, words) in [
        (&["--gpus", "0,1"][..], "--gpus: there is no gpu(0): this build and machine have the CPU only"),
        (&["--gpus", "x"], "--gpus: `x` is not a list of numbers"),
        (&["--cpus", "1,1"], "--cpus: `1,1` has 1 twice"),
        (&["--cpus", "0", "--gpus", "0"], "cannot be used with"),
    ] {
        for error in [train(flags).failed(2), evaluate(flags)] {
            assert!(error.contains(words), "{words}: {error}");
        }
    }
    let records = digits("digits_train.rec");
    let start = ["train", "imagenet", "--network", "mlp", "--image-shape", "1,28,28", "--data-train", &records];
    let error = mxrs(start.into_iter().chain(["--cpus", "0,1,2", "--batch-size", "2"])).failed(2);
    assert!(error.contains("--batch-size: `2` is not at least 3"), "{error}");
}
