//! Rows D6 and D7 of `docs/env.md`: the differences between a worker process of a data loader, which is forked, and its
//! parent.
//!
//! A fork waits for every task of its process, so it must not happen while other tests run. Each test here starts another
//! process in which a part of the test is the only test, and that process forks.
#![cfg(unix)]

use crate::door::Door;
use crate::{Vars, runtime};
use mxrs::Runtime;
use mxrs::data::{DataLoader, Dataset, DecodeLimits, Image, ImageOptions, ImageThreads, prepare_on, resize, resize_on};
use mxrs_engine::PoolId;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const WORKERS: &str = "MXNET_CPU_WORKER_NTHREADS";
const WORKERS_IN_CHILD: &str = "MXNET_MP_WORKER_NTHREADS";
const IMAGE_THREADS: &str = "MXNET_MP_OPENCV_NUM_THREADS";

/// Runs an ignored test of this file as the only test of another process.
fn in_a_quiet_process(test: &str) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", &format!("workers::{test}"), "--ignored", "--nocapture"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

/// Runs `f` in a forked child and returns its exit code, at most 99; 100 for a panic, 101 if the child hung, 102 for a
/// signal.
#[allow(unsafe_code)]
fn in_child(f: impl FnOnce() -> usize) -> usize {
    // SAFETY: the child runs only `f`, on its copy of this thread's stack, and ends by `_exit`, so no state of the parent is
    // unwound or flushed twice. Whether the libraries that `f` calls work after a fork is what the tests check.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        let code = catch_unwind(AssertUnwindSafe(f)).map_or(100, |code| code.min(99) as libc::c_int);
        // SAFETY: `_exit` has no preconditions; it ends the process immediately and runs no destructors.
        unsafe { libc::_exit(code) };
    }
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let mut status = 0;
        // SAFETY: `status` is a local variable that the call may write, and `pid` is a child that has not been reaped: a
        // call that reaps it ends this loop.
        match unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } {
            0 if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
            0 => {
                // SAFETY: `waitpid` has just returned 0, so the child was not reaped and `pid` still belongs to it.
                unsafe { libc::kill(pid, libc::SIGKILL) };
                // SAFETY: `status` is a local variable that the call may write, and the child has not been reaped; the call
                // waits until it has ended.
                unsafe { libc::waitpid(pid, &raw mut status, 0) };
                return 101;
            }
            _ if libc::WIFEXITED(status) => return libc::WEXITSTATUS(status).unsigned_abs() as usize,
            _ => return 102,
        }
    }
}

/// Number of operators that ran at the same time, of 6 that wait for each other, if it equals the number of the engine's
/// workers; otherwise 0.
fn engine_workers(runtime: &Runtime, expected: usize) -> usize {
    let (engine, door) = (runtime.engine(), Door::default());
    for _ in 0..6 {
        engine.task("wait").push(door.body()).unwrap();
    }
    let n_came = door.wait_for(expected);
    // With more workers, more tasks would arrive immediately.
    thread::sleep(Duration::from_millis(20));
    let n_running = door.wait_for(n_came);
    door.open();
    engine.wait_for_all().unwrap();
    let threads = engine.counters().pool(PoolId::Cpu(0)).map_or(0, |pool| pool.threads);
    if threads == n_running { threads } else { 0 }
}

/// Number of threads that share a loop of the team, if it equals the team's size; otherwise 0.
fn team_size(runtime: &Runtime) -> usize {
    let seen = Mutex::new(HashSet::new());
    runtime.team().run(3, &|_| {
        seen.lock().unwrap().insert(thread::current().id());
    });
    let n_seen = seen.into_inner().unwrap().len();
    if n_seen == runtime.team().size() { n_seen } else { 0 }
}

/// Number of engine workers times 10, plus the team's size.
fn sizes(runtime: &Runtime, expected_workers: usize) -> usize {
    engine_workers(runtime, expected_workers) * 10 + team_size(runtime)
}

#[test]
#[ignore = "run by d6_so_many_workers_in_a_worker_process in a process of its own"]
fn d6_forks() {
    for (vars, in_parent, in_children) in
        [(&[(WORKERS, "4"), (WORKERS_IN_CHILD, "2")] as Vars<'_>, 4, 2), (&[(WORKERS, "3")], 3, 1)]
    {
        let vars = [vars, &[("OMP_NUM_THREADS", "3")]].concat();
        let runtime = runtime(&vars);
        assert_eq!(sizes(&runtime, in_parent), in_parent * 10 + 3);
        assert_eq!(in_child(|| sizes(&runtime, in_children)), in_children * 10 + 1, "{vars:?}");
        let made_there = in_child(|| sizes(&crate::runtime(&vars), in_children));
        assert_eq!(made_there, in_children * 10 + 1, "a runtime made in the child, {vars:?}");
        assert_eq!(sizes(&runtime, in_parent), in_parent * 10 + 3, "the parent goes on as before");
    }
}

#[test]
fn d6_so_many_workers_in_a_worker_process() {
    in_a_quiet_process("d6_forks");
}

/// Number of threads that share a large resize, if a large image preparation uses the same number; otherwise 0.
fn image_threads(threads: &ImageThreads) -> usize {
    let image = Image::new(40, 40, 3, (0..4800).map(|i| (i * 7 % 251) as u8).collect()).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&seen);
    let threads = threads.clone().watched(move || list.lock().unwrap().push(thread::current().id()));
    let limits = DecodeLimits::default();
    let large = resize_on(&threads, &image, 600, 600, &limits).unwrap();
    assert!(large == resize(&image, 600, 600, &limits).unwrap());
    let n_resized = seen.lock().unwrap().drain(..).collect::<HashSet<_>>().len();
    let options = ImageOptions::new([3, 500, 500]);
    let mut out = vec![0.0; options.n_elements().unwrap()];
    prepare_on(&threads, &large, &options, &mut out).unwrap();
    let n_prepared = seen.lock().unwrap().drain(..).collect::<HashSet<_>>().len();
    if n_resized == n_prepared { n_resized } else { 0 }
}

#[test]
#[ignore = "run by d7_so_many_threads_share_an_image_in_a_worker_process in a process of its own"]
fn d7_forks() {
    for (value, n) in [("", 1), ("0", 1), ("-3", 1), ("1", 1), ("2", 2), ("5", 5)] {
        let runtime = runtime(&[(IMAGE_THREADS, value), ("OMP_NUM_THREADS", "3")]);
        let threads = runtime.image_threads();
        assert_eq!(image_threads(&threads), 1, "{value:?}: no effect outside a worker process");
        assert_eq!(in_child(|| image_threads(&threads)), n, "{value:?}");
        let again = || image_threads(&threads) * 10 + in_child(|| image_threads(&runtime.image_threads()));
        assert_eq!(in_child(again), n * 11, "{value:?}: a worker, and a worker of that");
        let samples = || loaded(&runtime, 2).into_iter().map(|seen| seen as usize).max().unwrap_or_default();
        assert_eq!(in_child(samples), n, "{value:?}: a loader that a worker makes");
    }
}

#[test]
fn d7_so_many_threads_share_an_image_in_a_worker_process() {
    in_a_quiet_process("d7_forks");
}

/// A data set whose samples are the number of threads that shared an image operation while the sample was read.
struct Reads(ImageThreads);

impl Dataset for Reads {
    fn len(&self) -> usize {
        4
    }
    fn get(&self, _: usize) -> mxrs::Result<Vec<mxrs::format::Dense>> {
        let n = image_threads(&self.0) as f32;
        Ok(vec![mxrs::format::Tensor::from_slice([], &[n])?.into_dense()?])
    }
}

/// The samples of [`Reads`] from a data loader with this many workers.
fn loaded(runtime: &Runtime, workers: usize) -> Vec<f32> {
    let dataset = Arc::new(Reads(runtime.image_threads()));
    let mut loader = DataLoader::builder(dataset, 2).num_workers(workers).build().unwrap();
    let mut seen = Vec::new();
    while let Some(batch) = loader.next_batch().unwrap() {
        seen.extend_from_slice(batch[0].as_slice::<f32>().unwrap());
    }
    seen
}

#[test]
fn d7_so_many_threads_share_an_image_in_a_worker_thread() {
    for (value, n) in [("", 1.0), ("0", 1.0), ("1", 1.0), ("2", 2.0), ("3", 3.0)] {
        let runtime = runtime(&[(IMAGE_THREADS, value), ("OMP_NUM_THREADS", "2")]);
        for (workers, expected) in [(0, 1.0), (2, n)] {
            assert_eq!(loaded(&runtime, workers), [expected; 4], "{value:?}, {workers} workers");
        }
    }
}
