//! Tests that networks are found by name and checked against their options.

use mxrs_models::{BENCHMARK_NETWORKS, ModelOptions, model, networks};
use mxrs_types::DType;

#[test]
fn every_listed_name_builds() {
    for (name, image) in networks() {
        let built = model(&name, &ModelOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!((built.image, built.symbol.outputs()), (image, vec!["softmax_output".to_string()]), "{name}");
    }
    let names: Vec<String> = networks().into_iter().map(|(n, _)| n).collect();
    assert!(BENCHMARK_NETWORKS.iter().all(|b| names.iter().any(|n| n == b)));
    let is_listed = |name: &str| names.iter().any(|n| n == name);
    assert!(is_listed("resnext-50") && is_listed("googlenet") && is_listed("mobilenetv2"));
}

#[test]
fn a_depth_may_be_an_option() {
    let options = ModelOptions { n_layers: Some(50), ..ModelOptions::default() };
    let nodes = |name: &str, options: &ModelOptions| model(name, options).unwrap().symbol.graph().unwrap().n_nodes();
    assert_eq!(nodes("resnet", &options), nodes("resnet-50", &ModelOptions::default()));
    assert_eq!(nodes("resnet-v1", &options), nodes("resnetv1-50", &ModelOptions::default()));
    assert_ne!(nodes("resnet-v1", &options), nodes("resnet", &options));
}

#[test]
fn wrong_names_and_options_are_refused() {
    let fails = |name: &str, options: &ModelOptions, words: &str| {
        let error = model(name, options).unwrap_err().to_string();
        assert!(error.contains(words), "{error}: {words}");
    };
    let default = ModelOptions::default();
    fails("resnest-50", &default, "resnet-50");
    fails("alexnet-5", &default, "`alexnet-5`");
    fails("resnet", &default, "layers of resnet for 224 pixels");
    fails("resnet-51", &default, "got 51");
    fails("vgg-12", &default, "11, 13, 16 or 19");
    fails("resnet-21", &ModelOptions { image: Some([3, 28, 28]), ..default.clone() }, "6n + 2");
    // For resnext, images of 32 pixels are small; for resnet, they are large.
    fails("resnext-51", &ModelOptions { image: Some([3, 32, 32]), ..default.clone() }, "6n + 2");
    fails("resnet-51", &ModelOptions { image: Some([3, 32, 32]), ..default.clone() }, "269");
    fails("mobilenet", &ModelOptions { image: Some([3, 100, 100]), ..default.clone() }, "multiple of 32");
    for name in ["mobilenet", "mobilenetv2", "googlenet", "inception-resnet-v2", "densenet121", "squeezenet1.1"] {
        fails(name, &ModelOptions { dtype: DType::F16, ..default.clone() }, &format!("dtype of {name}"));
    }
}
