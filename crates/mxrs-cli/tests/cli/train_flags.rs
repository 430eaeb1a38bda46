//! The flags of `mxrs train`, one by one: the effect of each on weights, files or log lines.

use crate::mxrs::mxrs;
use crate::small::{COLOR, GRAY, Small, TEN};

#[test]
fn cifar10_has_defaults_of_its_own() {
    let small = Small::new();
    let prefix = small.path("cifar");
    let cifar = ["train", "cifar10", "--network", "mlp", "--data-train", &small.records, "--rgb-mean", "0"];
    let more = ["--rgb-std", "255", "--random-crop", "--num-epochs", "1", "--model-prefix", &prefix];
    mxrs(cifar.into_iter().chain(TEN).chain(more)).ok();
    let cifar = std::fs::read(small.at("cifar-0001.params")).unwrap();
    let alike = |lr: &str, pad: &str| {
        let said = ["--lr", lr, "--lr-step-epochs", "200,250", "--pad-size", pad, "--random-crop"];
        small.weights(&[&COLOR[..], &TEN, &said].concat())
    };
    assert!(alike("0.05", "4") == cifar);
    assert!(alike("0.1", "4") != cifar && alike("0.05", "0") != cifar);
}

#[test]
fn checkpoints_within_an_epoch_are_written_and_go_with_it() {
    let small = Small::new();
    let prefix = small.path("net");
    let log = small.log(&["--num-epochs", "2", "--model-prefix", &prefix, "--save-batches", "2"]);
    for place in ["0000-000002", "0000-000004", "0001", "0001-000002", "0001-000004", "0002"] {
        assert!(log.contains(&format!("Saved checkpoint to \"{prefix}-{place}.params\"")), "{place}: {log}");
    }
    assert_eq!(small.checkpoints("net"), ["0001", "0002"]);
}

#[test]
fn the_last_and_the_best_are_kept() {
    let small = Small::new();
    let val = ["--data-val", &small.records];
    let kept = |name: &str, more: &[&str]| {
        let prefix = small.path(name);
        // With a learning rate of 0 nothing is learned, so the first epoch stays the best.
        let start = ["--num-epochs", "4", "--lr", "0", "--keep-last", "2", "--model-prefix", &prefix];
        small.train(&[&start[..], &val, more].concat()).ok();
        small.checkpoints(name)
    };
    assert_eq!(kept("last", &[]), ["0003", "0004"]);
    assert_eq!(kept("best", &["--keep-best"]), ["0001", "0003", "0004"]);
    let prefix = small.path("none");
    let flags = ["--num-epochs", "1", "--keep-best", "--model-prefix", &prefix];
    for more in [&[][..], &["--data-val", &small.records, "--benchmark", "1"][..]] {
        let error = small.train(&[&flags[..], more].concat()).failed(2);
        assert!(error.contains("--keep-best") && error.contains("--data-val"), "{error}");
    }
}

#[test]
fn tensors_are_monitored_every_so_many_batches() {
    let small = Small::new();
    let log = small.log(&["--num-epochs", "1", "--monitor", "2"]);
    for (batch, tensor) in [(1, "softmax_output"), (3, "fc1_weight"), (5, "fc3_weight_grad")] {
        assert!(log.contains(&format!("INFO:root:Batch: {batch:7} {tensor} ")), "{tensor}: {log}");
    }
    assert!(!log.contains(&format!("Batch: {:7} ", 2)), "{log}");
}

#[test]
fn a_training_that_leaves_the_numbers_is_told_or_stopped() {
    let small = Small::new();
    let log = small.log(&["--num-epochs", "1", "--lr", "1e30"]);
    assert!(log.contains("the output is") && log.contains("--monitor-nan"), "{log}");
    let error = small.train(&["--num-epochs", "1", "--lr", "1e30", "--monitor-nan"]).failed(1);
    assert!(error.contains("tensor `") && error.contains("not finite"), "{error}");
    assert!(!error.contains("INFO:root:Batch: "), "{error}");
}

#[test]
fn an_index_says_which_records_there_are() {
    let small = Small::new();
    let index = small.path("some.idx");
    mxrs(["rec2idx", &small.records, &index]).ok();
    let lines = std::fs::read_to_string(&index).unwrap();
    let some: String = lines.lines().take(20).map(|line| format!("{line}\n")).collect();
    std::fs::write(&index, some).unwrap();
    let log = small.log(&["--test-io", "1", "--data-train-idx", &index]);
    assert!(log.contains("20 samples in 2 batches"), "{log}");
    assert!(small.log(&["--test-io", "1"]).contains("60 samples in 6 batches"));
}

#[test]
fn large_gradients_are_clipped() {
    let small = Small::new();
    let weights = |more: &[&str]| small.weights(&[&GRAY[..], &TEN, more].concat());
    let plain = weights(&[]);
    assert!(weights(&["--clip-norm", "1e9"]) == plain);
    assert!(weights(&["--clip-norm", "1e-3"]) != plain);
}

#[test]
fn smoothed_labels_are_in_the_symbol() {
    let small = Small::new();
    let weights = |more: &[&str]| {
        let weights = small.weights(&[&GRAY[..], &TEN, more].concat());
        (weights, std::fs::read_to_string(small.at("weights-symbol.json")).unwrap())
    };
    let (plain, symbol) = weights(&[]);
    assert!(!symbol.contains("smooth_alpha"), "{symbol}");
    let (smooth, symbol) = weights(&["--label-smoothing", "0.1"]);
    assert!(symbol.contains("\"smooth_alpha\"") && symbol.contains("\"0.1\""), "{symbol}");
    assert!(smooth != plain);
}

#[test]
fn the_set_for_imagenet_stands_for_its_flags() {
    let small = Small::new();
    let weights = |more: &[&str]| small.weights(&[&COLOR[..], &TEN, more].concat());
    let set = weights(&["--use-imagenet-data-augmentation", "1"]);
    let area = ["--random-resized-crop", "1", "--min-random-area", "0.08", "--random-mirror", "1"];
    let aspect = ["--min-random-aspect-ratio", "0.75", "--max-random-aspect-ratio", "1.3333333333333333"];
    let color = ["--brightness", "0.4", "--contrast", "0.4", "--saturation", "0.4", "--pca-noise", "0.1"];
    assert!(weights(&[&area[..], &aspect, &color].concat()) == set);
    assert!(weights(&["--use-imagenet-data-augmentation", "1", "--pca-noise", "0"]) != set, "a flag of its own wins");
    assert!(weights(&[]) != set);
}

#[test]
fn values_of_the_records_are_bad_usage_by_their_flags() {
    let small = Small::new();
    for (flags, words) in [
        (&["--brightness=-1"][..], "--brightness: got -1"),
        (&["--random-resized-crop", "--min-random-area", "2"], "--min-random-area: got 2, expected at most --max-"),
        (&["--max-random-rotate-angle=-5"], "--max-random-rotate-angle"),
        (&["--pca-noise", "0.1"], "--pca-noise"),
        (&["--seed", "9223372036854775808"], "--seed"),
    ] {
        let error = small.train(&[&["--num-epochs", "1"][..], flags].concat()).failed(2);
        assert!(error.contains(words), "{words}: {error}");
    }
    small.train(&["--test-io", "1", "--seed", "9223372036854775807"]).ok();
    let start = ["evaluate", "--model", "none", "--data-val", &small.records, "--rgb-std", "255"];
    let error = mxrs(start.into_iter().chain(["--image-shape", "1,99999999,99999999"])).failed(2);
    assert!(error.contains("--image-shape"), "{error}");
}

#[test]
fn a_picture_that_cannot_be_written_is_told_before_the_first_epoch() {
    let small = Small::new();
    let prefix = small.path("net");
    std::fs::create_dir(small.at("folder.svg")).unwrap();
    for plot in ["missing/curves.svg", "folder.svg"] {
        let picture = small.path(plot);
        let error = small.train(&["--num-epochs", "1", "--model-prefix", &prefix, "--plot", &picture]).failed(1);
        assert!(error.contains("--plot") && error.contains(plot), "{error}");
        assert!(!error.contains("Epoch[0]"), "{error}");
    }
    assert!(small.checkpoints("net").is_empty());
}

#[test]
fn a_seed_decides_weights_order_and_augmentation() {
    let small = Small::new();
    let weights = |seed: &str| {
        let flags = ["--random-crop", "--pad-size", "2", "--seed", seed];
        small.weights(&[&GRAY[..], &TEN, &flags].concat())
    };
    let [first, again, other] = ["3", "3", "4"].map(weights);
    assert!(first == again && first != other);
}
