//! Shared by several test programs: a time limit, and the engine's threads as the operating system lists them.
#![allow(dead_code, reason = "no test program uses all of it")]

use mxrs_engine::{Engine, EngineConfig, EngineKind};
use mxrs_types::Error;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// All schedulers.
pub const KINDS: [EngineKind; 3] = [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice];
/// The schedulers with workers.
pub const THREADED: [EngineKind; 2] = [EngineKind::Threaded, EngineKind::ThreadedPerDevice];

pub fn engine(kind: EngineKind) -> Engine {
    Engine::new(EngineConfig::of_kind(kind)).unwrap()
}

/// The error of a failing body.
pub fn failure(text: &str) -> Error {
    Error::invalid("test", text, "nothing")
}

/// Lets one test at a time count threads or processor time, until the guard is dropped.
pub fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Runs `f` on a thread of its own, and fails the test instead of blocking it if `f` does not end in time.
pub fn within<R: Send + 'static>(limit: Duration, f: impl FnOnce() -> R + Send + 'static) -> R {
    let (tell, told) = mpsc::channel();
    let thread = thread::spawn(move || tell.send(f()).is_ok());
    match told.recv_timeout(limit) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("E10, E14: not done after {limit:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(_) => unreachable!("the sender is gone, so the thread panicked"),
        },
    }
}

/// The folders of this process's engine threads below `/proc/self/task`.
pub fn engine_threads() -> Vec<PathBuf> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let is_engines = |path: &PathBuf| std::fs::read_to_string(path.join("comm")).is_ok_and(|c| c.starts_with("mxrs-"));
    tasks.flatten().map(|task| task.path()).filter(is_engines).collect()
}

/// The number of engine threads, once it is `expected` or ten seconds have passed: a joined thread may be listed for a
/// moment longer.
pub fn engine_threads_settling_at(expected: usize) -> usize {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let found = engine_threads().len();
        if found == expected || Instant::now() > until {
            return found;
        }
        thread::sleep(Duration::from_millis(1));
    }
}
