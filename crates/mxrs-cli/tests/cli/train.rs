//! `mxrs train`, `fine-tune` and `evaluate` on the digits data set: log lines, files, resuming, error messages.
//!
//! The network is `mlp`, which is small, because debug builds and builds without oneDNN are slow.

use crate::mxrs::{Ran, digits, mxrs, mxrs_in};
use std::path::Path;

/// Trains the perceptron on the digits data set with these flags in addition.
fn train(more: &[&str]) -> Ran {
    let (train, val) = (digits("digits_train.rec"), digits("digits_val.rec"));
    let start = ["train", "imagenet", "--network", "mlp", "--image-shape", "1,28,28", "--num-classes", "10"];
    let data = ["--data-train", &train, "--data-val", &val, "--rgb-mean", "0", "--rgb-std", "255"];
    let size = ["--batch-size", "50", "--disp-batches", "10", "--lr-step-epochs", "8"];
    mxrs(start.into_iter().chain(data).chain(size).chain(more.iter().copied()))
}

/// The value after `<label>=` in the last log line that contains it.
fn value(log: &str, label: &str) -> f64 {
    let line = log.lines().rev().find(|line| line.contains(&format!("{label}="))).unwrap_or_else(|| panic!("{log}"));
    line.rsplit('=').next().unwrap().parse().unwrap()
}

fn path(dir: &Path, name: &str) -> String {
    dir.join(name).display().to_string()
}

#[test]
fn a_training_logs_as_mxnet_does_and_evaluate_repeats_its_figure() {
    let dir = tempfile::tempdir().unwrap();
    let (prefix, plot) = (path(dir.path(), "mlp"), path(dir.path(), "curves.svg"));
    let ran = train(&["--num-epochs", "3", "--model-prefix", &prefix, "--plot", &plot, "--top-k", "3"]);
    let log = ran.err.clone();
    ran.ok();
    for words in [
        "INFO:root:start with arguments Namespace(batch_size=50, ",
        "INFO:root:Epoch[0] Batch [0-10]\tSpeed: ",
        " samples/sec\taccuracy=",
        "\ttop_k_accuracy_3=",
        "INFO:root:Epoch[1] Train-accuracy=",
        "INFO:root:Epoch[2] Time cost=",
        "INFO:root:Epoch[2] Validation-accuracy=",
        &format!("INFO:root:Saved checkpoint to \"{prefix}-0003.params\""),
    ] {
        assert!(log.contains(words), "{words}: {log}");
    }
    let accuracy = value(&log, "Validation-accuracy");
    assert!(accuracy > 0.8, "{log}");
    for name in ["mlp-symbol.json", "mlp-0001.params", "mlp-0003.params", "mlp-0003.states"] {
        assert!(dir.path().join(name).is_file(), "{name}");
    }
    let drawn = std::fs::read_to_string(plot).unwrap();
    for word in ["loss", "accuracy (validation)", "learning rate", "images per second"] {
        assert!(drawn.contains(word), "{word}");
    }
    let val = digits("digits_val.rec");
    let start = ["evaluate", "--model", &prefix, "--load-epoch", "3", "--data-val", &val];
    let flags = ["--image-shape", "1,28,28", "--rgb-std", "255", "--batch-size", "40", "--json"];
    let ran = mxrs(start.into_iter().chain(flags));
    assert!(ran.err.contains("INFO:root:Finished with ") && ran.err.contains("('accuracy', "), "{}", ran.err);
    let json = ran.json();
    assert_eq!(json["images"], 297);
    assert!((json["metrics"]["accuracy"].as_f64().unwrap() - accuracy).abs() < 1e-6, "{json}");
}

#[test]
fn going_on_gives_the_weights_of_an_unbroken_training() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, broken) = (path(dir.path(), "whole"), path(dir.path(), "broken"));
    train(&["--num-epochs", "3", "--model-prefix", &whole, "--random-crop", "--pad-size", "2"]).ok();
    let broken = ["--model-prefix", &broken, "--random-crop", "--pad-size", "2"];
    train(&[&["--num-epochs", "1"][..], &broken].concat()).ok();
    train(&[&["--num-epochs", "2", "--load-epoch", "1"][..], &broken].concat()).ok();
    train(&[&["--num-epochs", "3", "--resume"][..], &broken].concat()).ok();
    let params = |name: &str| std::fs::read(dir.path().join(format!("{name}-0003.params"))).unwrap();
    assert!(params("whole") == params("broken"), "weights differ");
}

#[test]
fn mixed_precision_trains_as_well_goes_on_bit_by_bit_and_keeps_float32() {
    let dir = tempfile::tempdir().unwrap();
    let short = |name: &str, more: &[&str]| {
        let prefix = path(dir.path(), name);
        let ran = train(&[&["--dtype", "bfloat16", "--model-prefix", &prefix][..], more].concat());
        let log = ran.err.clone();
        ran.ok();
        log
    };
    let log = short("whole", &["--num-epochs", "3"]);
    assert!(log.contains("dtype='bfloat16'"), "{log}");
    // The accuracy in half precision may be lower than this float32 accuracy by a few of the 297 images.
    let full = train(&["--num-epochs", "3"]).err;
    let [got, want] = [&log, &full].map(|log| value(log, "Validation-accuracy"));
    assert!(got > 0.8 && got > want - 0.02, "{got} after {want} in float32");
    short("broken", &["--num-epochs", "1"]);
    short("broken", &["--num-epochs", "3", "--resume"]);
    let params = |name: &str| std::fs::read(dir.path().join(format!("{name}-0003.params"))).unwrap();
    assert!(params("whole") == params("broken"), "weights differ");
    // The files are those of a float32 network, which any program can read.
    train(&["--num-epochs", "3", "--model-prefix", &path(dir.path(), "full")]).ok();
    assert_eq!(params("whole").len(), params("full").len());
    let symbol = |name: &str| std::fs::read_to_string(dir.path().join(format!("{name}-symbol.json"))).unwrap();
    assert_eq!(symbol("whole"), symbol("full"));
    let (prefix, val) = (path(dir.path(), "whole"), digits("digits_val.rec"));
    let start = ["evaluate", "--model", &prefix, "--load-epoch", "3", "--data-val", &val];
    let json = mxrs(start.into_iter().chain(["--image-shape", "1,28,28", "--rgb-std", "255", "--json"])).json();
    assert!((json["metrics"]["accuracy"].as_f64().unwrap() - got).abs() < 0.02, "{json}");
}

#[test]
fn float16_scales_the_loss_and_goes_on_with_the_scale() {
    let dir = tempfile::tempdir().unwrap();
    let float16 = |name: &str, more: &[&str]| {
        let prefix = path(dir.path(), name);
        let ran = train(&[&["--dtype", "float16", "--model-prefix", &prefix][..], more].concat());
        let log = ran.err.clone();
        ran.ok();
        log
    };
    let log = float16("whole", &["--num-epochs", "3"]);
    assert!(value(&log, "Validation-accuracy") > 0.8, "{log}");
    float16("broken", &["--num-epochs", "1"]);
    float16("broken", &["--num-epochs", "3", "--resume"]);
    let params = |name: &str| std::fs::read(dir.path().join(format!("{name}-0003.params"))).unwrap();
    assert!(params("whole") == params("broken"), "weights differ");
    train(&["--num-epochs", "3", "--model-prefix", &path(dir.path(), "full")]).ok();
    assert!(params("whole") != params("full"), "float16 has changed nothing");
    let fixed = float16("fixed", &["--num-epochs", "1", "--amp-loss-scale", "128"]);
    assert!(!fixed.contains("loss scale to"), "{fixed}");
}

#[test]
fn a_new_classifier_is_trained_on_old_features() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (digits("lenet"), path(dir.path(), "new"));
    let records = crate::predict::first_records(dir.path(), 20);
    let start = ["fine-tune", "--pretrained-model", &old, "--pretrained-epoch", "10", "--num-classes", "10"];
    let data = ["--data-train", &records, "--data-val", &records, "--image-shape", "1,28,28", "--rgb-mean", "0"];
    let rest = ["--rgb-std", "255", "--batch-size", "10", "--num-epochs", "1", "--model-prefix", &new];
    mxrs(start.into_iter().chain(data).chain(rest)).ok();
    let symbol = std::fs::read_to_string(dir.path().join("new-symbol.json")).unwrap();
    assert!(symbol.contains("\"fc_weight\"") && !symbol.contains("\"fc1_weight\""), "{symbol}");
    // The checkpoint of the fine-tuning contains the new layer; the pre-trained one does not.
    let on =
        ["--load-epoch", "1", "--num-epochs", "2", "--rgb-std", "255", "--batch-size", "10", "--model-prefix", &new];
    mxrs(start.into_iter().chain(data).chain(on)).ok();
    assert!(dir.path().join("new-0002.params").is_file());
    let none = mxrs(start.into_iter().chain(data).chain(["--layer-before-fullc", "nothing7"])).failed(2);
    assert!(none.contains("nothing7_output"), "{none}");
}

#[test]
fn large_batches_are_summed_and_their_rate_warms_up() {
    let dir = tempfile::tempdir().unwrap();
    let params = |name: &str, flags: &[&str]| {
        let prefix = path(dir.path(), name);
        let end = ["--optimizer", "lbsgd", "--num-epochs", "1", "--model-prefix", &prefix];
        let ran = train(&[&end[..], flags].concat());
        let log = ran.err.clone();
        ran.ok();
        (std::fs::read(dir.path().join(format!("{name}-0001.params"))).unwrap(), log)
    };
    // The training has one epoch of 30 batches. A warm-up of one epoch lasts for the whole training, and raises the
    // number by which the learning rate is multiplied from 1 to 4.
    let scaled = ["--macrobatch-size", "200", "--warmup-epochs", "1"];
    let (linear, log) = params("linear", &scaled);
    let words = "Batch_scale=4.000000, warmup_epochs=1, warmup_strategy=linear, updates_per_epoch=30";
    assert!(log.contains(words), "{log}");
    let (square, _) = params("power2", &[&scaled[..], &["--warmup-strategy", "power2"]].concat());
    let (root, _) = params("sqrt", &[&scaled[..], &["--warmup-strategy", "sqrt"]].concat());
    let (longer, _) = params("longer", &["--macrobatch-size", "200"]);
    let (none, log) = params("none", &[]);
    assert!(log.contains("Batch_scale=1.000000, warmup_epochs=5"), "{log}");
    // A macrobatch that is smaller than the batch has no effect.
    assert!(params("small", &["--macrobatch-size", "10"]).0 == none);
    let all = [linear, square, root, longer, none];
    for (i, one) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|other| other != one), "case {i} changes nothing");
    }
    let ran = train(&["--num-epochs", "1", "--macrobatch-size", "200", "--warmup-epochs", "2"]);
    assert!(ran.err.contains("WARNING:root:--macrobatch-size is without effect"), "{}", ran.err);
    assert!(ran.err.contains("WARNING:root:--warmup-epochs is without effect"), "{}", ran.err);
}

#[test]
fn compressed_gradients_train_and_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let (plain, whole, broken) = (path(dir.path(), "plain"), path(dir.path(), "whole"), path(dir.path(), "broken"));
    train(&["--num-epochs", "2", "--model-prefix", &plain]).ok();
    let compressed = ["--gc-type", "2bit", "--gc-threshold", "0.25", "--model-prefix"];
    let ran = train(&[&["--num-epochs", "2"][..], &compressed, &[&whole]].concat());
    // 2-bit compression sends gradients in coarse steps: training is slower than without, but much better than chance.
    assert!(value(&ran.err, "Validation-accuracy") > 0.2, "{}", ran.err);
    train(&[&["--num-epochs", "1"][..], &compressed, &[&broken]].concat()).ok();
    train(&[&["--num-epochs", "2", "--resume"][..], &compressed, &[&broken]].concat()).ok();
    let params = |name: &str| std::fs::read(dir.path().join(format!("{name}-0002.params"))).unwrap();
    assert!(params("whole") == params("broken"), "weights differ");
    assert!(params("whole") != params("plain"), "compression changes nothing");
}

#[test]
fn json_lines_tell_waiting_from_computing() {
    let ran = train(&["--num-epochs", "1", "--log-format", "json"]);
    let lines = ran.err.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let speed: Vec<_> =
        lines.filter(|line| line["message"].as_str().is_some_and(|m| m.contains("samples/sec\t"))).collect();
    assert!(speed.len() >= 2, "{}", ran.err);
    for line in speed {
        let seconds = ["data_seconds", "compute_seconds"].map(|key| line[key].as_f64().unwrap_or(-1.0));
        assert!(seconds[0] >= 0.0 && seconds[1] > 0.0, "{line}");
        assert!(!line["message"].as_str().unwrap().contains("seconds"), "{line}");
    }
    let plain = train(&["--num-epochs", "1"]).err;
    assert!(plain.contains("samples/sec\t") && !plain.contains("_seconds"), "{plain}");
}

#[test]
fn what_mnist_does_not_take_is_refused() {
    for (flags, words) in [
        (&["--data-train", "x.rec"][..], "--data-train"),
        (&["--data-val", "x.rec"], "--data-val"),
        (&["--rgb-mean", "0"], "--rgb-mean"),
        (&["--rgb-std", "255"], "--rgb-std"),
        (&["--data-nthreads", "4"], "--data-nthreads"),
        (&["--strict"], "--strict"),
        (&["--random-mirror", "1"], "augmentation"),
        (&["--use-imagenet-data-augmentation", "1"], "augmentation"),
        (&["--pad-size", "2"], "augmentation"),
        (&["--add_stn"], "SpatialTransformer"),
    ] {
        let error = mxrs(["train", "mnist"].into_iter().chain(flags.iter().copied())).failed(2);
        assert!(error.contains(words), "{words}: {error}");
    }
}

/// Writes the four files of MNIST with this many training and validation images.
fn write_mnist(folder: &Path, n_train: u32, n_val: u32) {
    std::fs::create_dir(folder.join("data")).unwrap();
    let header = |sizes: &[u32]| {
        let magic = 0x0800 + sizes.len() as u32;
        std::iter::once(&magic).chain(sizes).flat_map(|size| size.to_be_bytes()).collect::<Vec<u8>>()
    };
    for (name, n) in [("train", n_train), ("t10k", n_val)] {
        let labels = (0..n).map(|i| (i % 10) as u8);
        // The brightness of an image is proportional to its label.
        let pixels = labels.clone().flat_map(|label| vec![label * 28; 28 * 28]);
        let write =
            |kind: &str, bytes: Vec<u8>| std::fs::write(folder.join(format!("data/{name}-{kind}")), bytes).unwrap();
        write("images-idx3-ubyte", [header(&[n, 28, 28]), pixels.collect()].concat());
        write("labels-idx1-ubyte", [header(&[n]), labels.collect()].concat());
    }
}

#[test]
fn mnist_counts_every_image() {
    let dir = tempfile::tempdir().unwrap();
    write_mnist(dir.path(), 100, 30);
    let flags = ["--num-epochs", "1", "--batch-size", "64", "--disp-batches", "1", "--lr", "0"];
    let ran = mxrs_in(dir.path(), ["train", "mnist"].into_iter().chain(flags));
    let log = ran.err.clone();
    ran.ok();
    // The second training batch and the only validation batch are filled up with padding.
    assert!(log.contains("Epoch[0] Batch [0-1]"), "{log}");
    assert!(value(&log, "Validation-accuracy").is_finite(), "{log}");
}

/// MNIST is also found in Gluon's data folder, which `MXNET_HOME` sets.
#[test]
fn mnist_is_found_among_the_data_of_the_user() {
    let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_mnist(home.path(), 100, 30);
    std::fs::create_dir(home.path().join("datasets")).unwrap();
    std::fs::rename(home.path().join("data"), home.path().join("datasets/mnist")).unwrap();
    let flags = ["train", "mnist", "--num-epochs", "1", "--batch-size", "64", "--lr", "0"];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_mxrs"));
    command.args(flags).current_dir(elsewhere.path());
    let found = command.env("MXNET_HOME", home.path()).output().unwrap();
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let missing = command.env("MXNET_HOME", elsewhere.path()).output().unwrap();
    assert_eq!(missing.status.code(), Some(3), "{}", String::from_utf8_lossy(&missing.stderr));
}

#[test]
fn reading_alone_is_timed() {
    let ran = train(&["--test-io", "1"]);
    assert!(ran.err.contains("Batch [9]\tSpeed: ") && ran.err.contains("1500 samples in 30 batches"), "{}", ran.err);
    assert!(!ran.err.contains("Train-accuracy"), "{}", ran.err);
}

#[test]
fn bad_values_are_refused_before_any_work() {
    for (flags, words) in [
        (&["--lr", "nan"][..], "--lr"),
        (&["--lr", "-1"], "--lr"),
        (&["--batch-size", "0"], "--batch-size"),
        (&["--lr-step-epochs", "3,x"], "--lr-step-epochs"),
        (&["--optimizer", "sgdd"], "sgd"),
        (&["--initializer", "xavir"], "--initializer"),
        (&["--plot", "curves.gif"], ".svg or .png"),
        (&["--dtype", "float64"], "float32, float16 or bfloat16"),
        (&["--amp-loss-scale", "dynamic"], "--dtype float16"),
        (&["--dtype", "float16", "--amp-loss-scale", "0"], "a positive number"),
        (&["--dtype", "float16", "--amp-loss-scale", "large"], "a positive number"),
        (&["--dtype", "float16", "--gc-type", "2bit"], "--gc-type"),
        (&["--dtype", "float16", "--monitor-nan"], "--amp-loss-scale"),
        (&["--gpus", "0"], "--gpus"),
        (&["--loss", "hinge"], "--loss"),
        (&["--kv-store", "byteps"], "dist_sync, horovod, p3 or dist_async"),
        (&["--kv-store", "nccl"], "GPUs"),
        (&["--kv-store", "devise"], "local_allreduce_device"),
        (&["--gc-type", "3bit"], "--gc-type"),
        (&["--gc-type", "2bit", "--kv-store", "local"], "--kv-store device"),
        (&["--gc-type", "2bit", "--gc-threshold", "0"], "--gc-threshold"),
        (&["--profile-server-suffix=p.json"], "--profile-server-suffix"),
        (&["--optimizer", "lbsgd", "--warmup-strategy", "cubic"], "power2"),
        (&["--label-smoothing", "1"], "--label-smoothing"),
        (&["--clip-norm", "0"], "--clip-norm"),
        (&["--clip-norm=-1"], "--clip-norm"),
        (&["--load-epoch", "1"], "--model-prefix"),
        (&["--lerning-rate", "1"], "unexpected argument"),
    ] {
        let error = if flags[0] == "--batch-size" || flags[0] == "--lr-step-epochs" {
            // The helper `train` sets these two flags already, and no flag may be given twice, so the whole command line is
            // given here.
            let records = digits("digits_train.rec");
            let start = ["train", "imagenet", "--network", "mlp", "--image-shape", "1,28,28", "--data-train", &records];
            mxrs(start.into_iter().chain(flags.iter().copied())).failed(2)
        } else {
            train(flags).failed(2)
        };
        assert!(error.contains(words), "{words}: {error}");
    }
    for size in ["18446744073709551615", "1000000000"] {
        let error = mxrs(["train", "imagenet", "--network", "mlp", "--benchmark", "1", "--batch-size", size]).failed(2);
        assert!(error.contains("--batch-size") && error.contains(size), "{error}");
    }
    let error = mxrs(["train", "imagenet"]).failed(2);
    assert!(error.contains("--data-train"), "{error}");
    let error = mxrs(["train", "imagenet", "--network", "resnet-7", "--benchmark"]).failed(2);
    assert!(error.contains("resnet-7"), "{error}");
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let missing = path(dir.path(), "no.rec");
    let error = mxrs(["train", "imagenet", "--network", "mlp", "--data-train", &missing]).failed(3);
    assert!(error.contains("no.rec"), "{error}");
    std::fs::write(dir.path().join("nowhere"), "a file, no folder").unwrap();
    let prefix = path(dir.path(), "nowhere/mlp");
    let error = train(&["--num-epochs", "1", "--model-prefix", &prefix]).failed(1);
    assert!(error.contains("nowhere"), "{error}");
    let prefix = path(dir.path(), "mlp");
    train(&["--num-epochs", "1", "--model-prefix", &prefix]).ok();
    let val = digits("digits_val.rec");
    let start = ["train", "imagenet", "--network", "lenet", "--image-shape", "1,28,28", "--num-classes", "10"];
    let flags = ["--data-train", &val, "--model-prefix", &prefix, "--load-epoch", "1", "--num-epochs", "2"];
    let error = mxrs(start.into_iter().chain(flags)).failed(3);
    assert!(error.contains("weight"), "names what differs: {error}");
    // Now the parameters are the same, but the symbol file is another network's.
    let symbol = path(dir.path(), "mlp-symbol.json");
    let text = std::fs::read_to_string(&symbol).unwrap();
    let other = text.replace("\"relu1\"", "\"another\"");
    assert_ne!(text, other);
    std::fs::write(&symbol, other).unwrap();
    let flags = ["--num-epochs", "2", "--model-prefix", &prefix, "--load-epoch", "1"];
    let error = train(&flags).failed(3);
    assert!(error.contains("network of the checkpoint") && error.contains("`another`"), "names what differs: {error}");
    std::fs::write(&symbol, text.replacen("\"relu\"", "\"tanh\"", 1)).unwrap();
    for goes_on in [&["--load-epoch", "1"][..], &["--resume"]] {
        let flags = ["--num-epochs", "2", "--model-prefix", &prefix];
        let error = train(&[&flags[..], goes_on].concat()).failed(3);
        assert!(error.contains("`relu1`"), "names what differs: {error}");
    }
}
