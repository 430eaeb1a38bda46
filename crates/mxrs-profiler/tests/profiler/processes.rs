//! Several processes: one name for two traces, a process that is killed, a process that forks.
#![cfg(unix)]

use crate::{Turn, events, names, operator};
use mxrs_profiler::{Config, Profiler, State};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Starts this program again to run an ignored test, which reads a path from its standard input.
fn play(test: &str, path: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", test])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{}", path.display()).unwrap();
    child
}

/// Waits until the other process has written a line that ends in `running`.
fn wait_until_running(child: &mut Child) {
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("running")), "the other process does not run");
}

fn path_from_input() -> String {
    std::io::stdin().lines().next().unwrap().unwrap()
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn played_process_that_records_until_its_input_ends() {
    let filename = path_from_input().into();
    let dump_period = Duration::from_millis(5);
    let profiler = Profiler::new(Config { filename, dump_period, ..Config::default() }).unwrap();
    profiler.set_state(State::Run).unwrap();
    println!("running");
    let ended = std::thread::spawn(|| std::io::stdin().lines().next());
    while !ended.is_finished() {
        for _ in 0..100 {
            operator("of the other process", || ());
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    profiler.dump(true).unwrap();
}

const PLAYED: &str = "processes::played_process_that_records_until_its_input_ends";

#[test]
fn two_processes_with_one_name_write_two_traces() {
    let turn = Turn::take();
    let path = turn.path("t.json");
    let mut other = play(PLAYED, &path);
    wait_until_running(&mut other);
    let profiler = turn.running(turn.config());
    let own = turn.path(&format!("t-pid_{}.json", std::process::id()));
    assert_eq!(profiler.trace_path(), Some(own.clone()));
    operator("of this process", || ());
    profiler.dump(true).unwrap();
    drop(other.stdin.take());
    assert!(other.wait().unwrap().success());
    assert_eq!(names(&own), ["of this process"]);
    assert_eq!(names(&path), ["of the other process"]);
}

/// A trace that was being written when its process was killed is valid JSON.
#[test]
fn the_trace_of_a_killed_process_opens() {
    let turn = Turn::take();
    let mut most = 0;
    for round in 0..8_u64 {
        let path = turn.path(&format!("{round}.json"));
        let mut other = play(PLAYED, &path);
        wait_until_running(&mut other);
        std::thread::sleep(Duration::from_micros(20_000 + round * 17_391));
        other.kill().unwrap();
        other.wait().unwrap();
        let events = events(&path);
        assert!(!events.is_empty());
        most = most.max(events.len());
    }
    assert!(most > 100, "{most} events at most");
}

/// The child of a fork has no profiler that runs, does not touch the files of its parent, and can start its own.
#[test]
#[cfg(not(miri))]
fn a_forked_child_records_only_for_itself() {
    let turn = Turn::take();
    let profiler = turn.running(turn.config());
    operator("parent", || ());
    // SAFETY: the child uses the profiler, whose locks and threads are prepared for forks, and the allocator, which handles
    // its own locks. It ends without running code of the parent.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: sets a timer that ends the child if it hangs.
        unsafe { libc::alarm(30) };
        let works = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            assert_eq!((profiler.state(), profiler.trace_path()), (State::Stop, None));
            operator("not recorded", || ());
            assert!(profiler.dump(true).is_err());
            profiler.set_config(Config { filename: turn.path("child.json"), ..turn.config() }).unwrap();
            profiler.set_state(State::Run).unwrap();
            operator("child", || ());
            profiler.dump(true).unwrap();
        }));
        // SAFETY: ends the child immediately, without destructors or other code of the parent.
        unsafe { libc::_exit(i32::from(works.is_err())) };
    }
    let mut status = -1;
    // SAFETY: waits for the child of this test.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!(status, 0);
    operator("parent again", || ());
    profiler.dump(true).unwrap();
    assert_eq!(names(&turn.path("t.json")), ["parent", "parent again"]);
    assert_eq!(names(&turn.path("child.json")), ["child"]);
}
