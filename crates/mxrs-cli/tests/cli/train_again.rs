//! Trainings that resume or start again under a prefix with checkpoints: other batches, other trainings, interrupts, curves.

use crate::small::{GRAY, Small};
use ::mxrs::train::resume::{Position, TrainingState, newest};

/// A step of the learning rate stays at its epoch, even if earlier epochs had other batches: here six batches of ten
/// examples, then twelve batches of five.
#[test]
fn steps_stay_at_their_epochs_with_other_batches() {
    for goes_on in [&["--resume"][..], &["--load-epoch", "1"]] {
        let small = Small::new();
        let prefix = small.path("net");
        let flags = ["--lr-step-epochs", "2", "--model-prefix", &prefix];
        let first = small.log(&[&flags[..], &["--num-epochs", "1"]].concat());
        assert!(!first.contains("Change learning rate"), "{first}");
        let on = [&GRAY[..], &flags, &["--batch-size", "5", "--num-epochs", "3"], goes_on].concat();
        let ran = small.run(&on);
        let log = ran.err.clone();
        ran.ok();
        assert!(log.contains("Epoch[1] begins with other batches than before"), "{log}");
        assert!(log.contains("Update[19]: Change learning rate to 1.00000e-02"), "{log}");
        assert_eq!(log.matches("Change learning rate").count(), 1, "{log}");
        // A second resume with the same batches knows the position of the learning rate step, and does not log it
        // again.
        let on = [&GRAY[..], &flags, &["--batch-size", "5", "--num-epochs", "4", "--resume"]].concat();
        let ran = small.run(&on);
        assert!(!ran.err.contains("Change learning rate") && !ran.err.contains("other batches"), "{}", ran.err);
        ran.ok();
    }
}

#[test]
fn within_an_epoch_other_batches_are_bad_usage() {
    let mut small = Small::new();
    let prefix = small.at("net");
    let text = small.path("net");
    small.train(&["--num-epochs", "1", "--model-prefix", &text]).ok();
    // Saves states at the position after two batches of the next epoch, as if the training had been killed there. The
    // parameters do not contain these two training steps.
    let (state, params) = newest(&prefix).unwrap().unwrap();
    TrainingState { position: Position { epoch: 1, batch: 2 }, ..state }.save(&prefix, params).unwrap();
    let on = ["--num-epochs", "2", "--model-prefix", &text, "--resume"];
    let fewer = crate::predict::first_records(prefix.parent().unwrap(), 40);
    let error = small.run(&[&GRAY[..], &["--batch-size", "5"], &on].concat()).failed(2);
    for words in ["--batch-size: got 5, expected 10", "net-0001-000002.states"] {
        assert!(error.contains(words), "{words}: {error}");
    }
    let error = small.train(&[&on[..], &["--seed", "9"]].concat()).failed(2);
    assert!(error.contains("--seed: got 9, expected 0"), "{error}");
    let all = std::mem::replace(&mut small.records, fewer);
    let error = small.train(&on).failed(2);
    assert!(error.contains("--data-train: got 4 batches of an epoch, expected 6"), "{error}");
    small.records = all;
    let log = small.log(&on);
    assert!(log.contains("Resumed from") && log.contains("net-0001-000002.states"), "{log}");
}

#[test]
fn resuming_goes_on_from_the_training_that_began_last() {
    let small = Small::new();
    let (prefix, other) = (small.path("net"), small.path("other"));
    small.train(&["--num-epochs", "3", "--model-prefix", &prefix]).ok();
    let seed = ["--seed", "1", "--model-prefix"];
    let log = small.log(&[&seed[..], &[&prefix, "--num-epochs", "1"]].concat());
    let warned = log.lines().find(|line| line.contains("of a training before this one")).expect("a warning");
    for name in ["net-0003.states", "net-0002.states", "net-0001.states"] {
        assert!(warned.starts_with("WARNING:root:") && warned.contains(name), "{warned}");
    }
    assert_eq!(small.checkpoints("net"), ["0001", "0002", "0003"]);
    let log = small.log(&[&seed[..], &[&prefix, "--num-epochs", "2", "--resume"]].concat());
    assert!(log.contains("Resumed from") && log.contains("net-0001.states"), "{log}");
    small.train(&[&seed[..], &[&other, "--num-epochs", "2"]].concat()).ok();
    let params = |name: &str| std::fs::read(small.at(name)).unwrap();
    assert!(params("net-0002.params") == params("other-0002.params"), "it went on from another training");
}

/// Two messages are logged: the learning rate follows epochs, and dropout continues with the old seed.
#[test]
fn another_seed_is_told_beside_other_batches() {
    let small = Small::new();
    let prefix = small.path("net");
    small.train(&["--num-epochs", "1", "--model-prefix", &prefix]).ok();
    let on = ["--batch-size", "5", "--seed", "9", "--num-epochs", "2", "--resume", "--model-prefix", &prefix];
    let ran = small.run(&[&GRAY[..], &on].concat());
    for words in ["Epoch[1] begins with other batches than before", "WARNING:root:--seed is 9, and was 0"] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    ran.ok();
}

/// Positions of the points of the training and validation curves; empty if there are none.
fn places(small: &Small) -> [Vec<f64>; 2] {
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(small.at("curves.svg.json")).unwrap()).unwrap();
    [false, true].map(|is_validation| {
        let is_it = |curve: &&serde_json::Value| {
            curve["name"] == "accuracy" && curve["is_validation"].as_bool() == Some(is_validation)
        };
        let Some(curve) = json["curves"].as_array().unwrap().iter().find(is_it) else { return Vec::new() };
        curve["points"].as_array().unwrap().iter().map(|point| point[0].as_f64().unwrap()).collect()
    })
}

#[test]
fn curves_of_another_training_are_left() {
    let small = Small::new();
    let (prefix, other, picture) = (small.path("net"), small.path("other"), small.path("curves.svg"));
    let [net, other] = [&prefix, &other].map(|prefix| ["--model-prefix", prefix.as_str(), "--num-epochs"]);
    let on = ["--resume", "--plot", &picture];
    small.train(&[&other[..], &["2", "--plot", &picture]].concat()).ok();
    small.train(&[&net[..], &["1"]].concat()).ok();
    let words = "its points are of another training; the curves begin here";
    let log = small.log(&[&net[..], &["2"], &on].concat());
    assert!(log.contains(words), "{log}");
    let [train, _] = places(&small);
    assert!(train.len() == 3 && train.iter().all(|place| *place > 1.0), "{train:?}");
    // A training with the same prefix starts from the beginning, without a plot.
    small.train(&[&net[..], &["1"]].concat()).ok();
    let log = small.log(&[&net[..], &["2"], &on].concat());
    assert!(log.contains(words), "{log}");
    let log = small.log(&[&net[..], &["3"], &on].concat());
    assert!(!log.contains(words), "{log}");
    assert_eq!(places(&small)[0].len(), 6);
}

#[test]
fn curves_go_on_where_they_were() {
    let small = Small::new();
    let (prefix, picture) = (small.path("net"), small.path("curves.svg"));
    let plot = ["--data-val", &small.records, "--model-prefix", &prefix, "--plot", &picture];
    small.train(&[&plot[..], &["--num-epochs", "1"]].concat()).ok();
    let [train, validation] = places(&small);
    assert_eq!((train.len(), validation.as_slice()), (3, &[1.0][..]));
    small.train(&[&plot[..], &["--num-epochs", "2", "--resume"]].concat()).ok();
    let [train, validation] = places(&small);
    assert_eq!((train.len(), validation.as_slice()), (6, &[1.0, 2.0][..]));
    assert!(train.is_sorted(), "{train:?}");
    // Trains again from an earlier checkpoint, then from the beginning.
    small.train(&[&plot[..], &["--num-epochs", "2", "--load-epoch", "1"]].concat()).ok();
    assert_eq!(places(&small).map(|places| places.len()), [6, 2]);
    small.train(&[&plot[..], &["--num-epochs", "1"]].concat()).ok();
    assert_eq!(places(&small).map(|places| places.len()), [3, 1]);
    assert!(std::fs::read_to_string(small.at("curves.svg")).unwrap().contains("learning rate"));
}

/// Checks that after a signal, a training writes a checkpoint and ends with the exit code `code`, and that the resumed
/// training reaches the same weights. The signal is sent after the batch log line number `n_lines`; an epoch has three such
/// lines.
#[cfg(unix)]
fn resumes_bit_equal_after(signal: &str, code: i32, n_lines: usize) {
    use crate::small::TEN;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let small = Small::new();
    let (prefix, whole) = (small.path("net"), small.path("whole"));
    let flags = [&GRAY[..], &TEN, &["--lr-factor", "1", "--random-crop", "--pad-size", "2"]].concat();
    let line = small.line(&[&flags[..], &["--num-epochs", "1000000", "--model-prefix", &prefix]].concat());
    // If the tests run under `nohup`, child processes ignore SIGHUP too: `env` restores the default action.
    let mut command = Command::new("/usr/bin/env");
    if ignores_sighup() {
        command.arg("--default-signal=HUP");
    }
    let mut child = command
        .arg(env!("CARGO_BIN_EXE_mxrs"))
        .args(line)
        .env_clear()
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines().map_while(Result::ok);
    let is_batch = |line: &String| line.starts_with("INFO:root:Epoch[") && line.contains("] Batch [");
    assert!(lines.by_ref().filter(is_batch).nth(n_lines - 1).is_some(), "it trains");
    // The shell's built-in `kill` is used, because there may be no program of that name.
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("/bin/sh").args(["-c", &kill]).status().expect("a shell").success());
    assert!(lines.any(|line| line == "error: interrupted"));
    assert_eq!(child.wait().expect("it ends").code(), Some(code));
    let (state, _) = newest(&small.at("net")).unwrap().expect("a checkpoint");
    let epochs = (state.position.epoch + 1).to_string();
    let on = [&flags[..], &["--num-epochs", &epochs, "--save-period", "1000000", "--model-prefix"]].concat();
    let ran = small.run(&[&on[..], &[&prefix, "--resume"]].concat());
    assert!(ran.err.contains("Resumed from"), "{}", ran.err);
    ran.ok();
    small.run(&[&on[..], &[&whole]].concat()).ok();
    let name = |prefix: &str| format!("{prefix}-{:04}.params", state.position.epoch + 1);
    assert!(std::fs::read(name(&prefix)).unwrap() == std::fs::read(name(&whole)).unwrap(), "weights differ");
}

/// Whether this process ignores SIGHUP, by the kernel's mask of ignored signals; SIGHUP is its lowest bit.
#[cfg(unix)]
fn ignores_sighup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    u64::from_str_radix(mask.trim(), 16).expect("a hexadecimal mask") & 1 == 1
}

#[test]
#[cfg(unix)]
fn a_training_that_ctrl_c_ended_resumes_bit_equal() {
    resumes_bit_equal_after("INT", 130, 4);
}

#[test]
#[cfg(unix)]
fn a_training_that_sigterm_ended_resumes_bit_equal() {
    resumes_bit_equal_after("TERM", 143, 4);
}

/// The signal arrives at twenty points of the training: within epochs, at their ends, and while a checkpoint is written.
#[test]
#[cfg(unix)]
#[ignore = "sixty trainings"]
fn trainings_that_sigterm_ended_anywhere_resume_bit_equal() {
    for n_lines in 1..=20 {
        resumes_bit_equal_after("TERM", 143, n_lines);
        println!("{n_lines} of 20");
    }
}

#[test]
#[cfg(unix)]
fn a_training_that_a_closed_terminal_ended_resumes_bit_equal() {
    resumes_bit_equal_after("HUP", 129, 4);
}
