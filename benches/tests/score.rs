//! `compare_score` from end to end with peers that are shell scripts: one that answers, one that dies, one not there.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/digits");

fn script(folder: &Path, name: &str, body: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// An exporter that knows one network, of ten classes: convert onnx export --network N --batch-size B --no-check
/// --seed S --save-params PREFIX OUT.
fn exporter(folder: &Path) -> PathBuf {
    let copies = format!(
        "[ $5 = lenet ] || {{ echo \"there is no $5\" >&2; exit 2; }}\n\
         cp {DIGITS}/lenet-symbol.json ${{12}}-symbol.json\ncp {DIGITS}/lenet-0010.params ${{12}}-0000.params\n\
         echo onnx > ${{13}}"
    );
    script(folder, "exporter", &copies)
}

/// Two batches in half a second, whatever is asked for; of its two images' likeliest classes none is that of ours, since
/// its numbers are none.
const ANSWERING: &str = r#"while read -r line; do case $line in
*'"load"'*) echo 'a library speaks'; echo '{"name": "fake 1.0", "load_s": 0.25, "first_s": 0.5}' ;;
*'"run"'*) echo '{"n": 2, "seconds": 0.5}' ;;
*) echo '{"outputs": [null, 0, 0, 0, 0, 0, 0, 0, 0, 0]}' ;;
esac; done"#;

const DYING: &str = r#"read -r line; echo '{"name": "fake 2.0", "load_s": 0.25, "first_s": 0.5}'
read -r line; echo 'out of luck' >&2; exit 7"#;

fn compare(folder: &Path, network: &str, flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_compare_score"));
    command.args(["--network", network, "--batch", "1", "--rounds", "3", "--round-seconds", "0", "--check", "1"]);
    command.args(["--threads", "1", "--folder"]).arg(folder).arg("--mxrs").arg(exporter(folder)).args(flags);
    command.output().expect("it starts")
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
    let output = compare(folder.path(), "lenet", &[&peers[..], &rest[..]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("its report is JSON");

    let row = |section: &str| report["sections"][section]["rows"][0].clone();
    // Two images in half a second.
    assert_eq!(row("speed")["tract"], json!({ "median": 4.0, "spread_percent": 0.0 }), "{report:#}");
    assert!(row("speed")["mxrs"]["median"].as_f64().unwrap() > 0.0, "{report:#}");
    assert!(row("speed")["candle"].is_null() && row("speed")["openvino"].is_null());
    assert_eq!((&row("start")["tract"], &row("ratio")["best_peer"]), (&json!(0.75), &json!("tract")));
    assert!(row("memory")["mxrs"].as_f64().unwrap() > 1.0);
    let ours = row("speed")["mxrs"]["median"].as_f64().unwrap();
    let best = row("best")["mxrs"].as_f64().unwrap();
    assert!(best >= ours, "{best} {ours}");
    assert_eq!(row("agreement")["tract"], "0/1, inf", "a number that is none agrees with nothing");
    let notes = report["notes"].to_string();
    assert!(notes.contains("Candle (every case): died: exit status: 7: out of luck"), "{notes}");
    assert!(notes.contains("OpenVINO (every case): not found: give --python PATH"), "{notes}");
    let peers = report["peers"].as_array().unwrap();
    assert!(peers.contains(&json!({ "name": "fake 1.0", "missing": null })), "{peers:?}");

    let saved: Value = serde_json::from_slice(&std::fs::read(&save).unwrap()).unwrap();
    assert_eq!(saved["contests"][0]["peers"]["tract"]["images_per_second"], json!([4.0, 4.0, 4.0]));
    assert!(std::fs::read_to_string(&plot).unwrap().contains("tract"));
    // No file of a network is left behind.
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.iter().all(|path| path.is_file()), "{left:?}");
}

#[test]
fn a_network_that_cannot_be_exported_is_a_row_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let output = compare(folder.path(), "lenet,resnet-7", &["--peer", "mxrs", "--format", "markdown"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("| resnet-7 | inference | 1 | float32 | 1 | no files |"), "{text}");
    assert!(text.contains("there is no resnet-7"), "{text}");
}
