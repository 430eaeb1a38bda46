//! `mxrs fine-tune` on a network with dropout, whose layer names begin like the parameters of the new classifier (`fc`).

use crate::mxrs::{Ran, mxrs};
use crate::small::Small;
use ::mxrs::format::{Checkpoint, Options, Tensor};
use ::mxrs::graph::{NameManager, Symbol, SymbolCall};
use ::mxrs::symbol::graph_to_file;

/// A perceptron `fc_in`, `act`, `drop`, `fc`, `softmax` for four classes, as a checkpoint `old` of epoch 0.
fn write_old(small: &Small) {
    let ops = ::mxrs::ops::catalog();
    let mut names = NameManager::new();
    let mut call = |op: &str, name: &str, attr: Option<(&str, &str)>, input: &Symbol| {
        let call = SymbolCall::new(ops.get(op).unwrap()).name(name).input(input);
        let call = attr.into_iter().fold(call, |call, (key, value)| call.attr(key, value));
        call.build(&mut names).unwrap()
    };
    let x = call("Flatten", "flat", None, &Symbol::variable("data"));
    let x = call("FullyConnected", "fc_in", Some(("num_hidden", "8")), &x);
    let x = call("Activation", "act", Some(("act_type", "relu")), &x);
    let x = call("Dropout", "drop", Some(("p", "0.5")), &x);
    let x = call("FullyConnected", "fc", Some(("num_hidden", "4")), &x);
    let x = call("SoftmaxOutput", "softmax", None, &x);
    graph_to_file(&x.graph().unwrap()).save(small.at("old-symbol.json")).unwrap();
    let tensor = |sizes: &[usize]| {
        let n = sizes.iter().product::<usize>();
        let values: Vec<f32> = (0..n).map(|i| (i % 13) as f32 * 0.01 - 0.06).collect();
        Tensor::from_slice(sizes, &values).unwrap()
    };
    let shapes = [("fc_in_weight", &[8, 784][..]), ("fc_in_bias", &[8]), ("fc_weight", &[4, 8]), ("fc_bias", &[4])];
    let arg = shapes.into_iter().map(|(name, sizes)| (name.to_owned(), tensor(sizes))).collect();
    Checkpoint::new(arg, Default::default()).save(small.at("old-0000.params")).unwrap();
}

/// Trains a classifier of ten classes on the output of `layer` in the network that [`write_old`] writes.
fn fine_tune(small: &Small, layer: &str, more: &[&str]) -> Ran {
    let (old, new) = (small.path("old"), small.path("new"));
    let start = ["fine-tune", "--pretrained-model", &old, "--layer-before-fullc", layer, "--model-prefix", &new];
    let data = ["--data-train", &small.records, "--num-classes", "10", "--image-shape", "1,28,28"];
    let size = ["--rgb-mean", "0", "--rgb-std", "255", "--batch-size", "10", "--num-epochs", "2"];
    mxrs(start.into_iter().chain(data).chain(size).chain(more.iter().copied()))
}

#[test]
fn a_seed_decides_dropout_too() {
    let small = Small::new();
    write_old(&small);
    let weights = |seed: &str| {
        fine_tune(&small, "drop", &["--seed", seed]).ok();
        std::fs::read(small.at("new-0002.params")).unwrap()
    };
    let [first, again, other] = ["3", "3", "4"].map(weights);
    assert!(first == again, "dropout has another seed");
    assert!(first != other);
}

#[test]
fn layers_that_stay_keep_their_parameters_whatever_they_are_called() {
    let small = Small::new();
    write_old(&small);
    fine_tune(&small, "drop", &["--lr", "0"]).ok();
    let params = |name: &str| Checkpoint::open(small.at(name), &Options::default()).unwrap().value.arg;
    let (old, new) = (params("old-0000.params"), params("new-0002.params"));
    for kept in ["fc_in_weight", "fc_in_bias"] {
        assert_eq!(old[kept], new[kept], "{kept}");
    }
    assert_eq!(new["fc_weight"].shape().unwrap()[..], [10, 8]);
    let error = fine_tune(&small, "fc", &[]).failed(2);
    assert!(error.contains("--layer-before-fullc") && error.contains("`fc_weight` twice"), "{error}");
}

#[test]
fn labels_of_the_new_classifier_are_smoothed() {
    let small = Small::new();
    write_old(&small);
    let symbol = |more: &[&str]| {
        fine_tune(&small, "drop", more).ok();
        std::fs::read_to_string(small.at("new-symbol.json")).unwrap()
    };
    assert!(!symbol(&[]).contains("smooth_alpha"));
    let smooth = symbol(&["--label-smoothing", "0.1"]);
    assert!(smooth.contains("\"smooth_alpha\"") && smooth.contains("\"0.1\""), "{smooth}");
}
