//! Extreme cases: deep chains of tasks, tasks with many variables, bodies that push thousands of tasks, panics in
//! unusual places.
#![cfg(not(loom))]

mod panics;
mod sizes;
#[path = "../support/mod.rs"]
mod support;

use mxrs_engine::{Engine, EngineKind, Property, RunContext, Var};
use mxrs_types::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;
use support::{KINDS, THREADED, engine, failure, within};

const LIMIT: Duration = Duration::from_secs(60);

/// Blocks tasks that need `var` until the sender is dropped.
fn block(engine: &Engine, var: &Var) -> Sender<()> {
    let (open, closed) = channel();
    let body = move |_: &RunContext| {
        let _ = closed.recv();
        Ok(())
    };
    engine.task("block").write(var).push(body).unwrap();
    open
}
