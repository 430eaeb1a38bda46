//! Tests `compare_score` end to end with peers that are shell scripts: one answers, one dies, one does not exist.
#![cfg(target_os = "linux")]

#[path = "support/scripts.rs"]
mod scripts;

use scripts::script;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/digits");

/// Writes a shell script that exports networks in place of the program `mxrs`, but knows only LeNet. It is called with the
/// arguments `convert onnx export --network N --batch-size B --no-check --seed S --save-params PREFIX OUT`.
fn exporter(folder: &Path) -> PathBuf {
    let copies = format!(
        "[ $5 = lenet ] || {{ echo \"there is no $5\" >&2; exit 2; }}\n\
         cp {DIGITS}/lenet-symbol.json ${{12}}-symbol.json\ncp {DIGITS}/lenet-0010.params ${{12}}-0000.params\n\
         echo onnx > ${{13}}"
    );
    script(folder, "exporter", &copies)
}

/// A peer that always reports two batches in half a second. The first number of its output is null, which counts as NaN. So
/// its likeliest class never counts as the same as ours.
const ANSWERING: &str = r#"while read -r line; do case $line in
*'"load"'*) echo 'a library speaks'; echo '{"name": "fake 1.0", "load_s": 0.25, "first_s": 0.5}' ;;
*'"run"'*) echo '{"n": 2, "seconds": 0.5}' ;;
*) echo '{"outputs": [null, 0, 0, 0, 0, 0, 0, 0, 0, 0]}' ;;
esac; done"#;

const DYING: &str = r#"read -r line; echo '{"name": "fake 2.0", "load_s": 0.25, "first_s": 0.5}'
read -r line; echo 'out of luck' >&2; exit 7"#;

fn program(flags: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_compare_score")).args(flags).output().expect("it starts")
}

fn compare(folder: &Path, network: &str, flags: &[&str]) -> Output {
    let (at, mxrs) = (folder.display().to_string(), exporter(folder).display().to_string());
    let start = ["--network", network, "--batch", "1", "--rounds", "3", "--round-seconds", "0", "--check", "1"];
    program(&[&start[..], &["--threads", "1", "--folder", &at, "--mxrs", &mxrs], flags].concat())
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_a_peer_answers_is_reported_and_a_dead_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let tract = script(folder.path(), "tract", ANSWERING).display().to_string();
    let candle = script(folder.path(), "candle", DYING).display().to_string();
    let (save, plot) = (folder.path().join("save.json"), folder.path().join("plot.svg"));
    let (save_flag, plot_flag) = (save.display().to_string(), plot.display().to_string());
    let peers = ["--peer", "mxrs,openvino,tract,candle", "--tract", &tract, "--candle", &candle];
    let rest = ["--format", "json", "--concurrent", "--save", &save_flag, "--plot", &plot_flag];
    let text = said(&compare(folder.path(), "lenet", &[&peers[..], &rest[..]].concat()));
    let report: Value = serde_json::from_str(&text).expect("its report is JSON");

    let row = |section: &str| report["sections"][section]["rows"][0].clone();
    // Two images in half a second are 4 images per second.
    assert_eq!(row("speed")["tract"], json!({ "median": 4.0, "spread_percent": 0.0 }), "{report:#}");
    assert!(row("speed")["mxrs"]["median"].as_f64().unwrap() > 0.0, "{report:#}");
    assert!(row("speed")["candle"].is_null() && row("speed")["openvino"].is_null());
    assert_eq!((&row("start")["tract"], &row("ratio")["best_peer"]), (&json!(0.75), &json!("tract")));
    assert!(row("memory")["mxrs"].as_f64().unwrap() > 1.0);
    let ours = row("speed")["mxrs"]["median"].as_f64().unwrap();
    let best = row("best")["mxrs"].as_f64().unwrap();
    assert!(best >= ours, "{best} {ours}");
    let fastest_ratio = row("ratio")["fastest_ratio"].as_f64().unwrap();
    assert!((fastest_ratio - best / 4.0).abs() < 1e-9 * best, "{fastest_ratio} {best}");
    assert_eq!(row("agreement")["tract"], "0/1, inf", "a number that is none agrees with nothing");
    let notes = report["notes"].to_string();
    assert!(notes.contains("Candle (every case): died: exit status: 7: out of luck"), "{notes}");
    assert!(notes.contains("OpenVINO (every case): not found: give --python PATH"), "{notes}");
    let peers = report["peers"].as_array().unwrap();
    assert!(peers.contains(&json!({ "name": "fake 1.0", "missing": null })), "{peers:?}");

    // Rows of the runs with two instances: mxrs ran as two processes and as two threads of one process, tract as two
    // processes.
    let both = |at: usize| report["sections"]["concurrent"]["rows"][at].clone();
    let n_cores = mxrs_sync::Topology::read().map_or(0, |topology| topology.cores());
    if n_cores >= 2 {
        assert!(both(0)["ratio"]["median"].as_f64().unwrap() > 0.0, "{report:#}");
        assert!(both(0)["shared_ratio"]["median"].as_f64().unwrap() > 0.0, "{report:#}");
        assert_eq!((&both(2)["ratio"]["median"], &both(2)["shared"]), (&json!(2.0), &Value::Null));
    } else {
        assert!(notes.contains("two at once): one core: "), "{notes}");
    }

    // The results are saved as four files; reading the JSON file gives the same report again.
    let saved: Value = serde_json::from_slice(&std::fs::read(&save).unwrap()).unwrap();
    assert_eq!(saved["contests"][0]["peers"]["tract"]["images_per_second"], json!([4.0, 4.0, 4.0]));
    let [markdown, table] = ["md", "txt"].map(|end| std::fs::read_to_string(save.with_extension(end)).unwrap());
    assert!(markdown.contains("| lenet | inference | 1 | float32 | 1 |") && table.contains("│ lenet"), "{markdown}");
    assert!(std::fs::read_to_string(&plot).unwrap().contains("tract"));
    assert!(std::fs::read_to_string(save.with_extension("svg")).unwrap().contains("tract"));
    assert_eq!(said(&program(&["--from", &save_flag, "--format", "markdown"])), markdown);
    assert_eq!(said(&program(&["--from", &save_flag])), table);
    // The folder contains only the saved files. The folders with the files of the networks were removed.
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.iter().all(|path| path.is_file()), "{left:?}");
}

#[test]
fn a_network_that_cannot_be_exported_is_a_row_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let text = said(&compare(folder.path(), "lenet,mlp", &["--peer", "mxrs", "--format", "markdown"]));
    assert!(text.contains("| mlp | inference | 1 | float32 | 1 | no files |"), "{text}");
    assert!(text.contains("there is no mlp"), "{text}");
}

/// Takes the place of a Python with PyTorch: writes an ONNX file and an output of 1.0 for the only image. It is called with the
/// arguments `SCRIPT NETWORK BATCH SIZE OUT IMAGES OUTPUTS`.
const PYTORCH: &str = "echo onnx > $5; printf '\\0\\0\\200\\077' > $7";

/// A peer whose only output is a number.
fn constant(output: &str) -> String {
    ANSWERING.replace("[null, 0, 0, 0, 0, 0, 0, 0, 0, 0]", &format!("[{output}]"))
}

#[test]
fn what_differs_from_pytorch_has_no_speed() {
    let folder = tempfile::tempdir().unwrap();
    let program = |name: &str, body: &str| script(folder.path(), name, body).display().to_string();
    let (python, tract) = (program("python", PYTORCH), program("tract", &constant("1.001")));
    let candle = program("candle", &constant("1.01"));
    let peers = ["--peer", "mxrs,mnn,tract,candle", "--torch-python", &python, "--tract", &tract, "--candle", &candle];
    let flags = ["--onnx", "--isa", "avx2", "--format", "json"];
    let text = said(&compare(folder.path(), "squeezenet", &[&peers[..], &flags[..]].concat()));
    let report: Value = serde_json::from_str(&text).unwrap();
    let row = &report["sections"]["speed"]["rows"][0];
    assert_eq!((&row["network"], &row["tract"]["median"]), (&json!("torch:squeezenet"), &json!(4.0)));
    assert!(row["candle"].is_null() && row["mnn"].is_null() && row["mxrs"].is_null(), "{row}");
    assert_eq!(report["sections"]["agreement"]["rows"][0]["tract"], "1/1, 1.0e-3");
    let notes = report["notes"].to_string();
    assert!(notes.contains("Candle (every case): wrong: its outputs differ from PyTorch's by up to 1.0e-2"), "{notes}");
    // The program that takes the place of `mxrs` does not import, and there is no Python with MNN.
    assert!(notes.contains("mxrs (every case): not run: mxrs convert onnx import ended with"), "{notes}");
    assert!(notes.contains("MNN (every case): not found: give --python PATH"), "{notes}");
    assert!(notes.contains("not limited, because they have no switch: MNN, tract, Candle"), "{notes}");
}

#[test]
fn networks_belong_to_one_of_two_lists() {
    for (flags, word) in [
        (&["--network", "mobilenet-v2"][..], "mobilenet-v2 is a network of --onnx only"),
        (&["--onnx", "--network", "alexnet"], "--onnx has no network `alexnet`"),
    ] {
        let output = program(&[flags, &["--mxrs", "/no/such/mxrs"]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && stderr.contains(word), "{flags:?}: {stderr}");
    }
}

#[test]
fn in_8_bits_everybody_has_a_figure_or_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--peer", "mxrs,mxnet,openvino", "--dtype", "int8", "--format", "json"];
    let report: Value = serde_json::from_str(&said(&compare(folder.path(), "lenet", &flags))).unwrap();
    let notes = report["notes"].to_string();
    // The script that takes the place of `mxrs` cannot quantize.
    assert!(notes.contains("mxrs (every case): failed: mxrs quantize ended with exit status: 2"), "{notes}");
    assert!(notes.contains("OpenVINO (every case): not found: give --python PATH"), "{notes}");
    let missing = json!({ "name": "MXNet", "missing": "this comparison makes no int8 network for it" });
    assert!(report["peers"].as_array().unwrap().contains(&missing), "{report:#}");
}

#[test]
fn bad_usage_is_told_before_anything_is_run() {
    for (flags, word) in [
        (&["--network", "resnet-7"][..], "resnet-50"),
        (&["--network", "lenet,alexnet2"], "inception-v3"),
        (&["--batch", "0"], "--batch"),
        (&["--threads", "0"], "--threads"),
        (&["--rounds", "0"], "--rounds"),
        (&["--round-seconds=-1"], "--round-seconds"),
        (&["--dtype", "int4"], "bfloat16"),
        (&["--from", "a.json", "--network", "lenet"], "cannot be used with"),
        (&["--from", "a.json", "--check", "1"], "cannot be used with"),
        (&["--from", "a.json", "--round-seconds", "1"], "cannot be used with"),
        (&["--from", "a.json", "--timeout", "1"], "cannot be used with"),
        (&["--from", "a.json", "--set", "A=0"], "cannot be used with"),
    ] {
        let output = program(&[flags, &["--mxrs", "/no/such/mxrs"]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {stderr}");
        assert!(stderr.contains(word), "{flags:?}: {stderr}");
    }
}

#[test]
fn a_file_that_nothing_was_saved_in_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "{}").unwrap();
    let path = file.path().display().to_string();
    let output = program(&["--from", &path]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains(&path) && stderr.contains("no `"), "{stderr}");
}
