//! `mxrs launch` and `mxrs kill`, with shells as workers, and trainings of several workers.

use crate::mxrs::{Ran, digits, mxrs, mxrs_with};
use mxrs_testkit::skipped;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The variables that shells need.
pub const PATH: (&str, &str) = ("PATH", "/usr/local/bin:/usr/bin:/bin");

/// Launches shells that run this script.
fn shells(n: &str, more: &[&str], script: &str) -> Ran {
    mxrs_with(&[PATH], [&["launch", "-n", n], more, &["--", "sh", "-c", script]].concat())
}

/// Starts a job of `n` workers that runs this command, without waiting for it.
fn started(n: &str, command: &[&str], temporary: (&str, &str)) -> Killed {
    let mut launch = Command::new(env!("CARGO_BIN_EXE_mxrs"));
    launch.args(["launch", "-n", n, "--"]).args(command).env_clear().envs([PATH, temporary]).stderr(Stdio::null());
    Killed(launch.spawn().unwrap())
}

#[test]
fn workers_get_their_variables_and_their_lines_are_marked() {
    let script = "echo $DMLC_ROLE $DMLC_RANK $DMLC_TASK_ID of $DMLC_NUM_WORKER, $RANK $LOCAL_RANK of $WORLD_SIZE, \
                  $DMLC_JOB_CLUSTER $A $DMLC_PS_VAN_TYPE; echo problem >&2; printf end";
    let ran = shells("3", &["--env-worker", "A:x", "--p3"], script);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for rank in 0..3 {
        let mark = format!("[worker {rank} ");
        let lines: Vec<&str> = ran.out.lines().filter(|line| line.starts_with(&mark)).collect();
        let texts: Vec<&str> = lines.iter().filter_map(|line| line.split_once("] ").map(|(_, text)| text)).collect();
        assert_eq!(texts, [&*format!("worker {rank} {rank} of 3, {rank} {rank} of 3, local x p3"), "end"]);
        let time = lines[0].trim_start_matches(&mark).split(']').next().unwrap();
        assert!(time.len() == 12 && time.chars().filter(|c| *c == ':').count() == 2, "{time}");
        assert!(ran.err.lines().any(|line| line.starts_with(&mark) && line.ends_with("] problem")), "{}", ran.err);
    }
}

/// "torchrun's variables accepted and set (`RANK`, `WORLD_SIZE`, `LOCAL_RANK`, `MASTER_ADDR`, `MASTER_PORT`)": also for workers that
/// MPI starts, of which only each itself knows its rank.
#[test]
fn workers_of_mpi_get_the_variables_of_pytorch() {
    let script = "echo rank $RANK $LOCAL_RANK of $WORLD_SIZE at $MASTER_ADDR:$MASTER_PORT, $A";
    let ran = shells("2", &["--launcher", "mpi", "--env-worker", "A:x"], script);
    if ran.code == Some(2) && ran.err.contains("no mpirun") {
        return skipped("the variables of workers that MPI starts", &ran.err);
    }
    let out = ran.ok();
    for rank in 0..2 {
        let expected = format!("rank {rank} {rank} of 2 at 127.0.0.1:9091, x");
        assert!(out.lines().any(|line| line.ends_with(&expected)), "{out}");
    }
}

/// `DMLC_INTERFACE` is a flag of `mpirun`. The `mpirun` of this test only says which one it is.
#[test]
fn the_network_interface_is_a_flag_of_mpirun() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    // A shell writes the file. If this process wrote it, a process that another test starts could hold it open for a moment,
    // and it could not be run.
    let write = "printf '#!/bin/sh\\necho \"%s\"\\n' \"$2\" >\"$1/mpirun\" && chmod 755 \"$1/mpirun\"";
    for (version, flags) in [
        ("mpirun (Open MPI) 4.1.4", "--mca btl_tcp_if_include eth7 --mca oob_tcp_if_include eth7"),
        ("HYDRA build details:", "-iface eth7"),
    ] {
        let written = Command::new("sh").args(["-c", write, "sh", path, version]).status();
        assert!(written.unwrap().success());
        let of = |vars: &[(&str, &str)], more: &[&str]| {
            let launch = ["launch", "-n", "2", "--launcher", "mpi", "--dry-run"];
            mxrs_with(vars, [&launch[..], more, &["--", "true"]].concat()).ok()
        };
        let line = of(&[("PATH", path), ("DMLC_INTERFACE", "eth7")], &[]);
        assert!(line.contains(flags), "{version}: {line}");
        let line = of(&[("PATH", path), ("DMLC_INTERFACE", "eth0")], &["--env-worker", "DMLC_INTERFACE:eth7"]);
        assert!(line.contains(flags), "{version}: {line}");
        let line = of(&[("PATH", path)], &[]);
        assert!(!line.contains("iface") && !line.contains("if_include"), "{version}: {line}");
    }
}

#[test]
fn the_first_failure_ends_the_others_and_is_the_exit_code() {
    let since = Instant::now();
    let ran = shells("3", &[], "if [ $RANK = 1 ]; then exit 7; else sleep 60; fi");
    let err = ran.failed(7);
    assert!(err.contains("worker 1 failed with exit code 7"), "{err}");
    let ran = shells("2", &[], "if [ $RANK = 0 ]; then kill -9 $$; else sleep 60; fi");
    assert!(ran.failed(137).contains("worker 0 was ended by signal 9"));
    // The second worker ignores SIGTERM, the launcher's request to end, and is killed.
    let ran = shells("2", &[], "trap '' TERM; if [ $RANK = 0 ]; then exit 3; else sleep 60; sleep 60; fi");
    ran.failed(3);
    assert!(since.elapsed() < Duration::from_secs(50), "{:?}", since.elapsed());
}

/// Processes that a worker has started and left behind keep its output open. They may write for a while, and are then
/// killed.
#[test]
fn what_workers_leave_behind_does_not_hold_up_the_end() {
    let since = Instant::now();
    shells("1", &[], "sleep 1000.125 & exit 1").failed(1);
    let ran = shells("2", &[], "(sleep 0.5; echo late) & exit 0");
    assert_eq!(ran.out.matches("late").count(), 2, "{}", ran.out);
    assert!(since.elapsed() < Duration::from_secs(60), "{:?}", since.elapsed());
    assert!(!is_running(b"sleep\x001000.125\x00"), "a process still runs");
}

/// Whether a process with this command line is running.
fn is_running(line: &[u8]) -> bool {
    let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.any(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|found| found == line))
}

#[test]
fn a_second_signal_ends_workers_that_do_not_end_by_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let temporary = ("TMPDIR", dir.path().to_str().unwrap());
    let script = "trap '' TERM; touch \"$TMPDIR/ready\"; sleep 62.25; sleep 62.25";
    let mut launch = started("1", &["sh", "-c", script], temporary);
    wait_until("the worker runs", || dir.path().join("ready").exists());
    let signal = |launch: &Killed| {
        let sent = Command::new("kill").args(["-TERM", &launch.0.id().to_string()]).status();
        assert!(sent.unwrap().success());
        std::thread::sleep(Duration::from_millis(500));
    };
    signal(&launch);
    assert!(launch.0.try_wait().unwrap().is_none(), "the worker has a minute for its checkpoint");
    let since = Instant::now();
    signal(&launch);
    wait_until("the launcher ends", || launch.0.try_wait().unwrap().is_some());
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    assert_eq!(launch.0.wait().unwrap().code(), Some(143));
    assert!(!is_running(b"sleep\x0062.25\x00"), "a worker still runs");
}

#[test]
fn what_cannot_be_launched_is_named() {
    for (arguments, words) in [
        (&["launch", "-n", "0", "true"][..], "num-workers"),
        (&["launch", "-n", "2"], "COMMAND"),
        (&["launch", "-n", "2", "--launcher", "ssh", "true"], "--hostfile"),
        (&["launch", "-n", "2", "--launcher", "local", "-H", "hosts", "true"], "--hostfile"),
        (&["launch", "-n", "2", "--launcher", "k8s", "true"], "--image"),
        (&["launch", "-n", "2", "--launcher", "sge", "true"], "sge"),
        (&["launch", "-n", "2", "--env-worker", "A", "true"], "NAME:VALUE"),
        (&["kill", "nothing"], "no job `nothing`"),
    ] {
        let err = mxrs(arguments).failed(2);
        assert!(err.contains(words), "{arguments:?}: {err}");
    }
    // `mxrs` as the workers' command means this program, even though it is not in PATH here.
    let ran = mxrs(["launch", "-n", "1", "mxrs", "--version"]);
    assert!(ran.ok().contains("] mxrs "));
    let ran = mxrs(["launch", "-n", "2", "/no/such/program"]);
    assert!(ran.failed(1).contains("/no/such/program"));
}

/// A process that is killed when the test ends.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is() {
        assert!(since.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_job_is_listed_and_killed_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let temporary = ("TMPDIR", dir.path().to_str().unwrap());
    let mut launch = started("2", &["sleep", "61.5"], temporary);
    let list = || mxrs_with(&[temporary], ["kill"]).ok();
    wait_until("the job is listed", || list().contains("2 processes  sleep 61.5"));
    let name = list().split_whitespace().next().unwrap().to_owned();
    mxrs_with(&[temporary], ["kill", &name]).ok();
    wait_until("the launcher ends", || launch.0.try_wait().unwrap().is_some());
    assert_eq!(launch.0.wait().unwrap().code(), Some(143));
    assert_eq!(list(), "");
    assert!(!is_running(b"sleep\x0061.5\x00"), "a worker still runs");
}

/// The arguments of a short training on the digits data set.
pub fn training(store: &str, prefix: &Path, more: &[&str]) -> Vec<String> {
    let (train, val) = (digits("digits_train.rec"), digits("digits_val.rec"));
    let index = digits("digits_train.idx");
    let start = ["train", "imagenet", "--network", "mlp", "--image-shape", "1,28,28", "--num-classes", "10"];
    let data = ["--data-train", &train, "--data-train-idx", &index, "--data-val", &val, "--rgb-mean", "0"];
    let size = ["--rgb-std", "255", "--batch-size", "50", "--lr", "0.1", "--threads", "1", "--kv-store", store];
    let prefix = prefix.display().to_string();
    let all = start.into_iter().chain(data).chain(size).chain(["--model-prefix", &prefix]).chain(more.iter().copied());
    all.map(str::to_owned).collect()
}

/// Trains with `n` workers that `mxrs launch` starts.
fn launched(n: usize, flags: &[&str], training: &[String]) -> Ran {
    let n = n.to_string();
    let own = env!("CARGO_BIN_EXE_mxrs");
    let start = [&["launch", "-n", &n], flags, &["--", own]].concat();
    mxrs(start.into_iter().map(str::to_owned).chain(training.iter().cloned()))
}

fn params(prefix: &Path, epoch: u64) -> Vec<u8> {
    let path = format!("{}-{epoch:04}.params", prefix.display());
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn workers_train_and_resume_with_another_number() {
    let dir = tempfile::tempdir().unwrap();
    let (two, again) = (dir.path().join("two"), dir.path().join("again"));
    let ran = launched(2, &[], &training("dist_sync", &two, &["--num-epochs", "2"]));
    let err = ran.err.clone();
    ran.ok();
    for rank in 0..2 {
        let of_worker = |line: &&str| line.starts_with(&format!("[worker {rank} "));
        let accuracy = err.lines().filter(of_worker).rfind(|line| line.contains("Validation-accuracy="));
        let accuracy: f64 = accuracy.unwrap_or_else(|| panic!("{err}")).rsplit('=').next().unwrap().parse().unwrap();
        assert!(accuracy > 0.8, "worker {rank}: {accuracy}");
    }
    assert_eq!(err.matches("Saved checkpoint to").count(), 2, "one worker writes: {err}");
    // A second run gives the same bits, in whatever order messages arrive, although it ends after one epoch and is then
    // resumed.
    launched(2, &[], &training("dist_sync", &again, &["--num-epochs", "1"])).ok();
    launched(2, &[], &training("dist_sync", &again, &["--num-epochs", "2", "--resume"])).ok();
    assert!(params(&two, 2) == params(&again, 2), "the weights differ");
    let ran = launched(3, &[], &training("dist_sync", &again, &["--num-epochs", "3", "--resume"]));
    assert!(ran.err.contains("Resumed from"), "{}", ran.err);
    ran.ok();
    let ran = mxrs(training("device", &again, &["--num-epochs", "4", "--resume"]));
    assert!(ran.err.contains("Epoch[3]") && !ran.err.contains("Epoch[2]"), "{}", ran.err);
    ran.ok();
}

#[test]
fn a_killed_worker_is_an_error_of_all() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    let training = training("dist_sync", &prefix, &["--num-epochs", "500"]);
    // The second worker kills itself after a while, in the middle of the training.
    let own = env!("CARGO_BIN_EXE_mxrs");
    let script = format!(
        "if [ $RANK = 1 ]; then {own} \"$@\" & pid=$!; while ! [ -e {}-0001.states ]; do sleep 0.1; done; kill -9 $pid; wait \
         $pid; exit 9; else exec {own} \"$@\"; fi",
        prefix.display()
    );
    let start = ["launch", "-n", "3", "--", "sh", "-c", &script, "sh"].map(str::to_owned);
    let since = Instant::now();
    let ran = mxrs_with(&[PATH], start.into_iter().chain(training));
    assert!(since.elapsed() < Duration::from_secs(200), "{:?}", since.elapsed());
    assert!(ran.code.is_some_and(|code| code != 0), "{}", ran.err);
    for rank in [0, 2] {
        let mark = format!("[worker {rank} ");
        let said = ran.err.lines().any(|line| line.starts_with(&mark) && line.contains("worker 1 is lost"));
        assert!(said, "worker {rank}: {}", ran.err);
    }
    check_resumes(&prefix);
}

/// Checks that a training whose workers have failed resumes from its newest checkpoint, without other workers.
pub fn check_resumes(prefix: &Path) {
    let states = |epoch: u64| PathBuf::from(format!("{}-{epoch:04}.states", prefix.display()));
    let newest = (1..1000).rev().find(|epoch| states(*epoch).exists()).expect("a checkpoint");
    let epochs = (newest + 1).to_string();
    let ran = mxrs(training("device", prefix, &["--num-epochs", &epochs, "--resume"]));
    let err = ran.err.clone();
    ran.ok();
    assert!(err.contains("Resumed from") && err.contains(&format!("Epoch[{newest}]")), "{err}");
}

/// A limit on the size of files has the effect of a full disk. Only the first worker writes checkpoints.
#[test]
fn a_checkpoint_that_cannot_be_written_ends_all() {
    let since = Instant::now();
    let dir = tempfile::tempdir().unwrap();
    let training = training("dist_sync", &dir.path().join("net"), &["--num-epochs", "3"]);
    let words = training.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let program = env!("CARGO_BIN_EXE_mxrs");
    let ran = shells("2", &[], &format!("trap '' XFSZ; ulimit -f 8; exec '{program}' {words}"));
    let err = ran.failed(1);
    assert!(err.contains("File too large") || err.contains("too large"), "{err}");
    let of_other = err.lines().filter(|line| line.starts_with("[worker 1 "));
    assert!(of_other.clone().any(|line| line.contains("worker 0")), "{err}");
    assert!(since.elapsed() < Duration::from_secs(60), "{:?}", since.elapsed());
}

#[test]
fn a_store_of_several_workers_needs_a_launcher() {
    let dir = tempfile::tempdir().unwrap();
    let err = mxrs(training("dist_sync", &dir.path().join("net"), &["--num-epochs", "1"])).failed(2);
    assert!(err.contains("mxrs launch -n 2") && err.contains("mpirun"), "{err}");
}
