//! `mxrs score --explain`: the figures of each layer, and the peak with which they are compared.

use crate::mxrs::{digits, has_bfloat16, mxrs};
use serde_json::Value;

/// The explanation of a network of the digits data set, as JSON and as a table.
fn explained(network: &str, flags: &[&str]) -> (Value, String) {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("score.json").display().to_string();
    let symbol = digits(&format!("{network}-symbol.json"));
    let start =
        ["score", "--symbol", &symbol, "--data-shape", "1,28,28", "--threads", "1", "--explain", "--json", &json];
    let table = mxrs(start.into_iter().chain(flags.iter().copied())).ok();
    let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    (report["cells"][0]["explained"].clone(), table)
}

#[track_caller]
fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("no number `{name}` in {value}"))
}

/// Layers that compute matrix products or convolutions: only these have a speed in GFLOP/s.
fn products(explained: &Value) -> Vec<&Value> {
    let layers = explained["layers"].as_array().expect("layers");
    layers.iter().filter(|layer| layer.get("gflops").is_some()).collect()
}

#[test]
fn layers_have_speeds_and_make_up_the_whole() {
    let (explained, table) = explained("resnet8", &["--batch-size", "16", "--num-batches", "20"]);
    let (together, whole) = (number(&explained, "layers_ms"), number(&explained, "whole_ms"));
    let layers = explained["layers"].as_array().expect("layers");
    let sum: f64 = layers.iter().map(|layer| number(layer, "milliseconds")).sum();
    assert!((sum - together).abs() <= 1e-6 * together, "{sum} {together}");
    // The tolerance is wide, because other programs may run on the machine.
    assert!(together > 0.5 * whole && together < 2.0 * whole, "{together} ms together, {whole} ms whole");
    let peak = number(&explained["peak_gflops"], "float32");
    let products = products(&explained);
    // At least the nine convolutions and the last fully-connected layer.
    assert!(products.len() >= 10, "{explained}");
    for layer in products {
        assert_eq!(layer["dtype"], "float32", "{layer}");
        let (speed, share) = (number(layer, "gflops"), number(layer, "of_peak"));
        assert!(speed > 0.0 && (share * peak - speed).abs() <= 1e-6 * speed, "{peak}: {layer}");
    }
    assert!(table.contains(" GFLOP/s in float32\n"), "{table}");
}

/// The share must refer to the peak in the layer's own dtype: bfloat16 matrix products can be twice as fast as float32
/// ones.
#[test]
fn shares_are_of_the_peak_in_the_layers_type() {
    let flags = ["--batch-size", "1", "--num-batches", "1", "--warmup", "0", "--dtype", "bfloat16"];
    let (explained, table) = explained("lenet", &flags);
    let peaks = explained["peak_gflops"].as_object().expect("peaks by type");
    let products = products(&explained);
    let expected = if has_bfloat16() { "bfloat16" } else { "float32" };
    assert!(products.iter().any(|layer| layer["dtype"] == expected), "{explained}");
    for layer in products {
        let dtype = layer["dtype"].as_str().expect("a type");
        assert_eq!(layer.get("of_peak").is_some(), peaks.contains_key(dtype), "{layer}");
        assert!(table.contains(&format!(" in {dtype}")), "{dtype}: {table}");
    }
}
