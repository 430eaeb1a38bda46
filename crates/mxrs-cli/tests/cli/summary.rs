//! Tests of `mxrs summary`.

use crate::mxrs::{digits, mxrs};

/// LeNet's parameters, computed by hand: 20·1·5·5 + 20, 50·20·5·5 + 50, 500·800 + 500, 10·500 + 10.
const LENET: [u64; 4] = [520, 25_050, 400_500, 5_010];

#[test]
fn layers_shapes_and_parameters() {
    let symbol = digits("lenet-symbol.json");
    let text = mxrs(["summary", &symbol, "--shape", "data=2,1,28,28"]).ok();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "_".repeat(120));
    for (start, column) in [("Layer (type)", 0), ("Output Shape", 52), ("Param #", 76), ("Previous Layer", 88)] {
        assert_eq!(lines[1].find(start), Some(column), "{}", lines[1]);
    }
    assert_eq!(lines[2], "=".repeat(120));
    let conv1 = lines.iter().find(|line| line.starts_with("conv1(Convolution)")).expect("conv1");
    let cells: Vec<&str> = conv1.split_whitespace().collect();
    assert_eq!(cells, ["conv1(Convolution)", "20x24x24", "520"]);
    let fc1 = lines.iter().find(|line| line.starts_with("fc1(FullyConnected)")).expect("fc1");
    assert_eq!(fc1.split_whitespace().collect::<Vec<_>>(), ["fc1(FullyConnected)", "500", "400500", "flatten0"]);
    assert!(text.contains(&format!("\nTotal params: {}\n", LENET.iter().sum::<u64>())), "{text}");
}

#[test]
fn auxiliary_parameters_are_counted_apart() {
    let symbol = digits("resnet8-symbol.json");
    let json = mxrs(["summary", &symbol, "--shape", "1,1,28,28", "--format", "json"]).json();
    let number = |key: &str| json[key].as_u64().unwrap_or_else(|| panic!("{key}"));
    assert_eq!(number("total_params"), number("trainable_params") + number("auxiliary_params"));
    let layers = json["layers"].as_array().expect("layers");
    let sum: u64 = layers.iter().filter_map(|layer| layer["params"].as_u64()).sum();
    assert_eq!(sum, number("total_params"));
    // There are as many running means and variances as gammas and betas.
    let norms = layers.iter().filter(|layer| layer["type"] == "BatchNorm");
    assert_eq!(norms.filter_map(|norm| norm["params"].as_u64()).sum::<u64>(), 2 * number("auxiliary_params"));
}

#[test]
fn without_a_shape_it_says_what_is_missing() {
    let text = mxrs(["summary", &digits("lenet-symbol.json")]).ok();
    assert!(text.contains("Total params: ?") && text.contains("--shape"), "{text}");
    let err = mxrs(["summary", &digits("lenet-symbol.json"), "--shape", "date=1,1,28,28"]).failed(2);
    assert!(err.contains("`date`") && err.contains("data"), "{err}");
}
