//! Rule E16 of `mxrs_engine::var`: tasks pushed in bulk give the same results in the same order. Only the time when they run
//! and the engine's count of tasks differ.
#![cfg(not(loom))]

mod failures;
mod flush;
mod results;
mod scopes;
#[path = "../support/mod.rs"]
mod support;
mod variables;

use mxrs_engine::{Engine, EngineConfig, EngineKind, Property, RunContext, Var};
use mxrs_types::{Device, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use support::{KINDS, THREADED, engine, failure, within};

const LIMIT: Duration = Duration::from_secs(30);

type Log = Arc<Mutex<Vec<usize>>>;

fn note(log: &Log, number: usize) -> impl FnOnce(&RunContext) -> Result<()> + Send + 'static {
    let log = Arc::clone(log);
    move |_| {
        log.lock().unwrap().push(number);
        Ok(())
    }
}

/// Waits until `done` returns true, at most 2 s; returns whether it did.
fn let_run(mut done: impl FnMut() -> bool) -> bool {
    (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(1));
        done()
    })
}

/// Waits so long that an idle worker would have run a pushed task. A test uses it to show that a task was not pushed.
fn pause() {
    thread::sleep(Duration::from_millis(20));
}
