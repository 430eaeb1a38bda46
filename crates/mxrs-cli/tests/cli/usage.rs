//! Usage errors: exit code 2, and a message that says what is valid.

use crate::mxrs::{SCALE, digits, mxrs};

#[test]
fn an_unknown_flag_is_told_the_nearest() {
    let err = mxrs(["predict", "--modle", "x"]).failed(2);
    assert!(err.contains("--modle") && err.contains("'--model'"), "{err}");
    let err = mxrs(["score", "--batch-sise", "1"]).failed(2);
    assert!(err.contains("'--batch-size'"), "{err}");
    let err = mxrs(["predit"]).failed(2);
    assert!(err.contains("'predict'"), "{err}");
}

#[test]
fn no_command_is_bad_usage() {
    assert!(mxrs([""; 0]).failed(2).contains("Usage: mxrs"));
}

#[test]
fn unique_prefixes_and_both_spellings_are_accepted() {
    let area = |flags: &[&str]| mxrs(["env"].iter().chain(flags)).ok();
    assert_eq!(area(&["--ar", "engine", "--form=markdown"]), area(&["--area=engine", "--format", "markdown"]));
}

#[test]
fn values_are_checked_before_any_work() {
    let predict = |flags: &[&str]| {
        let model = digits("lenet");
        let start = ["predict", "--model", &model, "--epoch", "10", "none.png"].map(str::to_owned);
        mxrs(start.into_iter().chain(flags.iter().map(|f| f.to_string())))
    };
    for (flags, word) in [
        (&["--data-shape", "1,28"][..], "C,H,W"),
        (&["--data-shape", "1,0,28"], "1 or more"),
        (&["--batch-size", "0"], "--batch-size"),
        (&["--scale", "nan"], "expected a number"),
        (&["--std-rgb", "1,0,1"], "above 0"),
        (&["--output", "x.txt"], ".npy or .npz"),
        (&["--device", "gpu:0"], "not built"),
        (&["--threads", "0"], "--threads"),
        (&["--data", "x.rec"], "cannot be used with"),
    ] {
        let err = predict(flags).failed(2);
        assert!(err.contains(word), "{flags:?}: {err}");
    }
}

#[test]
fn a_backend_that_is_not_there_is_refused() {
    let model = digits("lenet");
    let err = mxrs(["predict", "--model", &model, "--epoch", "10", "--backend", "cudnn", "none.png"]).failed(2);
    assert!(err.contains("backend: got `cudnn`, expected one of "), "{err}");
}

#[test]
fn a_shape_that_does_not_fit_the_network_is_explained() {
    let (model, data) = (digits("lenet"), digits("digits_val.rec"));
    let start = ["predict", "--model", &model, "--epoch", "10", "--data", &data, "--scale", SCALE];
    let err = mxrs(start.into_iter().chain(["--data-shape", "3,28,28"])).failed(2);
    assert!(err.contains("conv1") && err.contains("binding the network to `data` (32, 3, 28, 28)"), "{err}");
}

/// The shape of `--data-shape` is checked against the parameter file, or without one, against the network alone. Random
/// parameters get their sizes from the shape, so they would not reveal a wrong one.
#[test]
fn a_shape_is_refused_wherever_it_is_a_flag() {
    let (symbol, params) = (digits("lenet-symbol.json"), digits("lenet-0010.params"));
    for command in ["score", "tune"] {
        let start = [command, "--symbol", &symbol, "--data-shape"];
        let err = mxrs(start.into_iter().chain(["3,28,28", "--params", &params])).failed(2);
        assert!(err.contains("conv1") && err.contains("`data` (1, 3, 28, 28)"), "{command}: {err}");
        let err = mxrs(start.into_iter().chain(["1,4,4"])).failed(2);
        assert!(err.contains("conv") && err.contains("`data` (1, 1, 4, 4)"), "{command}: {err}");
        let err = mxrs(start.into_iter().chain(["1,28,28", "--params", "absent.params"])).failed(3);
        assert!(err.contains("absent.params"), "{command}: {err}");
    }
}

#[test]
fn bounds_of_errors_say_when_they_hold() {
    assert!(mxrs(["score", "--help"]).ok().contains("Differences of at most 8e-6, with 256 input channels"));
}
