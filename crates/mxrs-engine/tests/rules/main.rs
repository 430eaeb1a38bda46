//! Tests the numbered rules of `mxrs_engine::var` on every kind of engine.
#![cfg(not(loom))]

mod failures;
mod turns;
mod waits;

use mxrs_engine::{Engine, EngineConfig, EngineKind, Property};
use mxrs_types::{Error, ErrorKind};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

const KINDS: [EngineKind; 3] = [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice];
const THREADED: [EngineKind; 2] = [EngineKind::Threaded, EngineKind::ThreadedPerDevice];

fn engine(kind: EngineKind, workers: usize) -> Engine {
    let cpu_workers = NonZeroUsize::new(workers).unwrap();
    Engine::new(EngineConfig { cpu_workers, ..EngineConfig::of_kind(kind) }).unwrap()
}

fn failure(text: &str) -> Error {
    Error::invalid("test", text, "success")
}

/// A sender, and a task body that blocks until something is sent or the sender is dropped.
fn gate() -> (mpsc::Sender<()>, impl FnOnce() + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    (sender, move || {
        let _ = receiver.recv_timeout(Duration::from_secs(20));
    })
}
