//! Symbol files with sizes larger than any memory: they are refused with the operator's name before anything is allocated.

use crate::mxrs::mxrs;

/// An operator, its attributes and the names of its weights.
type Call<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

/// A symbol file with a chain of operators, each reading the output of the one before. The first one reads `data`.
fn chain(calls: &[Call<'_>]) -> String {
    let mut nodes = vec![serde_json::json!({"op": "null", "name": "data", "inputs": []})];
    let mut last = 0;
    for (op, attrs, weights) in calls {
        let mut inputs = vec![serde_json::json!([last, 0, 0])];
        for weight in *weights {
            inputs.push(serde_json::json!([nodes.len(), 0, 0]));
            nodes.push(serde_json::json!({"op": "null", "name": format!("{op}_{weight}"), "inputs": []}));
        }
        let attrs: serde_json::Map<String, serde_json::Value> =
            attrs.iter().map(|(name, value)| (name.to_string(), (*value).into())).collect();
        last = nodes.len();
        nodes.push(serde_json::json!({"op": op, "name": format!("{op}{last}"), "attrs": attrs, "inputs": inputs}));
    }
    let variables: Vec<usize> = (0..nodes.len()).filter(|i| nodes[*i]["op"] == "null").collect();
    serde_json::json!({
        "nodes": nodes, "arg_nodes": variables, "heads": [[last, 0, 0]],
        "attrs": {"mxnet_version": ["int", 10901]},
    })
    .to_string()
}

#[track_caller]
fn refused(symbol: &str, data_shape: &str, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile-symbol.json");
    std::fs::write(&path, symbol).unwrap();
    let path = path.to_str().unwrap();
    for backend in ["nnpack", "cpu", "reference"] {
        let line = ["score", "--symbol", path, "--data-shape", data_shape, "--batch-size", "1", "--num-batches", "1"];
        let ran = mxrs(line.into_iter().chain(["--warmup", "0", "--backend", backend]));
        let error = ran.failed(3);
        assert!(words.iter().all(|word| error.contains(word)), "{backend}: {error}");
    }
}

const WIDE_PADDING: &str = "(268419073, 268451841)";

/// 16 × (2^58 + 1) pixels of 4 bytes are 64 bytes modulo 2^64: with wrapping arithmetic the arena would have only 64 bytes.
#[test]
fn the_output_of_a_padded_convolution_does_not_wrap() {
    let conv = [("num_filter", "16"), ("kernel", "(3, 3)"), ("no_bias", "True"), ("pad", WIDE_PADDING)];
    let pool = [("kernel", "(1, 1)"), ("global_pool", "True"), ("pool_type", "max")];
    refused(
        &chain(&[("Convolution", &conv, &["weight"]), ("Pooling", &pool, &[])]),
        "1,1,1",
        &["Convolution2", "elements"],
    );
}

#[test]
fn a_flattened_shape_does_not_wrap() {
    let pool = [("kernel", "(1, 1)"), ("pad", "(0, 0)"), ("stride", "(1, 1)")];
    let pad = [("kernel", "(1, 1)"), ("pad", "(2147483647, 2147483647)"), ("num_filter", "4"), ("no_bias", "1")];
    refused(
        &chain(&[("Pooling", &pool, &[]), ("Convolution", &pad, &["weight"]), ("Flatten", &[], &[])]),
        "1,1,1",
        &["elements"],
    );
}

#[test]
fn a_weight_of_a_hostile_size_is_refused() {
    let dense = [("num_hidden", "9223372036854775807")];
    refused(&chain(&[("FullyConnected", &dense, &["weight", "bias"])]), "1,1,1", &["FullyConnected"]);
}

/// With a window of one pixel, the padding makes 2^32 rows of 121 pixels. That is less than the largest number of elements
/// of a tensor, but more than any memory. Kernels must not allocate memory for each row before the output is refused.
#[test]
fn rows_that_padding_makes_are_not_counted_in_advance() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile-symbol.json");
    let kernels = ["(1, 1)", "(2147483648, 61)"];
    for (kernel, pool_type) in kernels.into_iter().flat_map(|kernel| ["max", "avg"].map(|kind| (kernel, kind))) {
        let pool = [("kernel", kernel), ("pad", "(2147483647, 60)"), ("pool_type", pool_type)];
        std::fs::write(&path, chain(&[("Pooling", &pool, &[])])).unwrap();
        for backend in ["nnpack", "cpu", "reference"] {
            let symbol = path.to_str().unwrap();
            let line =
                ["score", "--symbol", symbol, "--data-shape", "1,1,1", "--batch-size", "1", "--num-batches", "1"];
            let ran = mxrs(line.into_iter().chain(["--warmup", "0", "--backend", backend]));
            // If a signal had ended the program, there would be no exit code.
            assert!(matches!(ran.code, Some(0 | 1 | 3)), "{backend} {kernel} {pool_type}: {:?} {}", ran.code, ran.err);
            let error = ran.err.to_lowercase();
            assert!(error.contains("memory") || error.contains("pooling"), "{backend} {kernel} {pool_type}: {error}");
        }
    }
}
