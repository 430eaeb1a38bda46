//! A worker of a training is stopped. The others notice it in the documented time, and the training resumes.

use crate::launch::{PATH, check_resumes, training};
use crate::mxrs::mxrs_with;

/// The time of day in the mark of a line, `[worker 1 12:34:56.789]`, in seconds.
fn clock(line: &str) -> f64 {
    let time = line.split(']').next().and_then(|mark| mark.rsplit(' ').next()).unwrap_or_default();
    let parts: Vec<f64> = time.split(':').map(|part| part.parse().unwrap_or_else(|_| panic!("{line}"))).collect();
    parts.iter().fold(0.0, |seconds, part| seconds * 60.0 + part)
}

/// The text of a line after its mark.
fn text(line: &str) -> &str {
    line.split_once("] ").map_or("", |(_, text)| text)
}

/// "Stopped worker (SIGSTOP) … detected within the stated time + 5 s, one clear error on every rank, no hang, no core dump,
/// checkpoint usable". The stated time is `PS_HEARTBEAT_TIMEOUT`, 6 s here.
#[test]
fn a_stopped_worker_is_one_error_of_every_other_worker() {
    const STATED: f64 = 6.0;
    // 5 s on a machine that is not busy. A worker that waited for a message would wait for 300 s.
    const SLACK: f64 = 60.0;
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("net");
    let training = training("dist_sync", &prefix, &["--num-epochs", "500"]);
    let own = env!("CARGO_BIN_EXE_mxrs");
    // Worker 1 stops itself after its first checkpoint. Its shell goes on, so the launcher does not see a worker that has
    // ended. When the launcher ends the shell, the shell kills the stopped process, which would not end by SIGTERM.
    let script = format!(
        "if [ $RANK != 1 ]; then exec {own} \"$@\"; fi; {own} \"$@\" & pid=$!; trap 'kill -KILL $pid; exit 8' TERM; while ! \
         [ -e {}-0001.states ]; do sleep 0.05; done; kill -STOP $pid; echo stopped; sleep 120; exit 9",
        prefix.display()
    );
    let silence = ["--env-worker", "PS_HEARTBEAT_INTERVAL:1", "--env-worker", "PS_HEARTBEAT_TIMEOUT:6"];
    let start = [&["launch", "-n", "3"][..], &silence, &["--", "sh", "-c", &script, "sh"]].concat();
    let ran = mxrs_with(&[PATH], start.into_iter().map(str::to_owned).chain(training));
    assert!(ran.code.is_some_and(|code| code != 0 && code != 9), "{:?}: {}", ran.code, ran.err);
    let stopped = ran.out.lines().find(|line| text(line) == "stopped").unwrap_or_else(|| panic!("{}", ran.err));
    for rank in [0, 2] {
        let mark = format!("[worker {rank} ");
        let lines = ran.err.lines().filter(|line| line.starts_with(&mark) && text(line).starts_with("error: "));
        let errors: Vec<&str> = lines.collect();
        assert_eq!(errors.len(), 1, "worker {rank}: {}", ran.err);
        assert!(errors[0].contains("worker 1 is silent for"), "worker {rank}: {}", ran.err);
        // The time of day begins again at midnight.
        let seconds = (clock(errors[0]) - clock(stopped)).rem_euclid(24.0 * 3600.0);
        assert!(seconds < STATED + SLACK, "worker {rank} has found it after {seconds} s: {}", ran.err);
    }
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    check_resumes(&prefix);
}
