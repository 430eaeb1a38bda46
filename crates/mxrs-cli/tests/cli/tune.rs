//! `mxrs tune`, and the use of its results by other commands.

use crate::mxrs::{digits, has_bfloat16, mxrs, mxrs_with};
use serde_json::Value;
use std::path::Path;

/// The layers that `score --explain` reports for a small network.
fn layers(vars: &[(&str, &str)], flags: &[&str], folder: &Path) -> Vec<Value> {
    let (symbol, json) = (digits("resnet8-symbol.json"), folder.join("score.json").display().to_string());
    let start = ["score", "--symbol", &symbol, "--data-shape", "1,28,28", "--batch-size", "1", "--explain"];
    let rest = ["--num-batches", "1", "--warmup", "0", "--json", &json];
    mxrs_with(vars, start.into_iter().chain(rest).chain(flags.iter().copied())).ok();
    let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    report["cells"][0]["explained"]["layers"].as_array().expect("layers").clone()
}

fn tune<'a>(symbol: &'a str, flags: &[&'a str]) -> Vec<&'a str> {
    let all = ["tune", "--symbol", symbol, "--data-shape", "1,28,28", "--budget", "0", "--format", "json"];
    all.iter().chain(flags).copied().collect()
}

#[test]
fn results_are_kept_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let symbol = digits("resnet8-symbol.json");
    let file = folder.path().join("tuning.json").display().to_string();
    let vars = [("MXRS_TUNING_CACHE", file.as_str())];
    let found = mxrs_with(&vars, tune(&symbol, &[])).json();
    let tried: Vec<u64> = found[0]["layers"].as_array().unwrap().iter().map(|l| l["tried"].as_u64().unwrap()).collect();
    assert!(!tried.is_empty() && tried[0] > 1 && tried.iter().all(|n| *n != 1), "{tried:?}");
    assert_eq!(found[0]["file"].as_str(), Some(file.as_str()));

    let by = |vars: &[(&str, &str)], word: &str| {
        let layers = layers(vars, &[], folder.path());
        layers.iter().filter(|layer| layer["chosen_by"] == word).count()
    };
    assert_eq!((by(&vars, "cache"), by(&vars, "search")), (tried.len(), 0));
    assert_eq!(by(&[], "cache"), 0);
    assert_eq!(by(&[vars[0], ("MXNET_ENFORCE_DETERMINISM", "1")], "cache"), 0);
    // All results are stored now, so a second run times nothing.
    let again = mxrs_with(&vars, tune(&symbol, &[])).json();
    assert!(again[0]["layers"].as_array().unwrap().iter().all(|layer| layer["tried"] == 0), "{again}");
}

#[test]
fn timing_that_is_forbidden_is_bad_usage() {
    let symbol = digits("lenet-symbol.json");
    let refused = |name: &str, value: &str| mxrs_with(&[(name, value)], tune(&symbol, &[])).failed(2);
    assert!(refused("MXNET_ENFORCE_DETERMINISM", "1").contains("MXNET_ENFORCE_DETERMINISM=1"));
    assert!(refused("MXNET_USE_OPERATOR_TUNING", "0").contains("MXNET_USE_OPERATOR_TUNING=0"));
}

#[test]
fn without_winograd_no_kernel_is_one_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let is_winograd = |layer: &Value| layer["kernel"].as_str().is_some_and(|kernel| kernel.contains("nnpack:f"));
    let any = |flags: &[&str]| layers(&[], flags, folder.path()).iter().any(is_winograd);
    assert!(any(&["--backend", "nnpack"]), "with them there are some");
    assert!(!any(&["--backend", "nnpack", "--no-winograd"]));
    assert!(!any(&["--no-winograd", "--tune"]));
    let err = mxrs(["score", "--no-winograd", "--accuracy", "loose"]).failed(2);
    assert!(err.contains("cannot be used with"), "{err}");
}

#[test]
fn each_type_is_tuned_for_itself() {
    let symbol = digits("resnet8-symbol.json");
    let found = mxrs(tune(&symbol, &["--dtype", "float32,bfloat16"])).json();
    assert_eq!([&found[0]["dtype"], &found[1]["dtype"]], ["float32", "bfloat16"]);
    assert!(found[0]["layers"].as_array().is_some_and(|layers| !layers.is_empty()), "{found}");
    for of_type in found.as_array().expect("two findings") {
        let asked = of_type["dtype"].as_str().expect("a type");
        let dtype = if has_bfloat16() { asked } else { "float32" };
        // A BatchNorm layer before the first convolution has a float32 output in every case, so BatchNorm layers are skipped.
        let mut products =
            of_type["layers"].as_array().expect("layers").iter().filter(|layer| layer["operator"] != "BatchNorm");
        let is_of_type = |layer: &Value| layer["output"].as_str().is_some_and(|output| output.starts_with(dtype));
        assert!(products.all(is_of_type), "{dtype}: {found}");
    }
    assert!(mxrs(tune(&symbol, &["--dtype", "int8"])).failed(2).contains("bfloat16"));
}
