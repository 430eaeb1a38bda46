//! Ctrl-C, and a reader that closes the output.
#![cfg(unix)]

use crate::mxrs::digits;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mxrs"));
    command.args(arguments).env_clear().stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

#[test]
fn an_interrupt_ends_with_130_and_keeps_what_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("score.json");
    let (symbol, json_text) = (digits("lenet-symbol.json"), json.display().to_string());
    let shape = ["score", "--symbol", &symbol, "--data-shape", "1,28,28", "--batch-size", "1"];
    let flags: Vec<&str> = shape.into_iter().chain(["--num-batches", "1000000000", "--json", &json_text]).collect();
    let mut child = start(&flags);
    let err = BufReader::new(child.stderr.take().expect("stderr"));
    let mut lines = err.lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "INFO:root:device: cpu(0)"), "the measurement begins");
    // The shell's built-in `kill` is used, because there may be no program of that name.
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("/bin/sh").args(["-c", &kill]).status().expect("a shell").success());
    assert!(lines.any(|line| line == "error: interrupted"));
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!(report["cells"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = start(&["env"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// `nohup` ignores SIGHUP before it starts the program, which must keep ignoring it.
#[test]
fn a_hangup_that_nohup_ignores_stays_ignored() {
    let symbol = digits("lenet-symbol.json");
    let line =
        ["score", "--symbol", &symbol, "--data-shape", "1,28,28", "--batch-size", "1", "--num-batches", "1000000000"];
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_mxrs")]).args(line).env_clear();
    let mut child = shell.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a shell");
    let err = BufReader::new(child.stderr.take().expect("stderr"));
    let mut lines = err.lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "INFO:root:device: cpu(0)"), "the measurement begins");
    let kill = |signal: &str| {
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("/bin/sh").args(["-c", &kill]).status().expect("a shell").success());
    };
    kill("HUP");
    std::thread::sleep(std::time::Duration::from_millis(200));
    kill("TERM");
    assert_eq!(child.wait().expect("it ends").code(), Some(143), "SIGTERM ended it, not SIGHUP");
}
