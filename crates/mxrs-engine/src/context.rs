//! What a running task knows about itself, and which engines the current thread runs a task of.

use crate::failure::Failure;
use crate::pool::PoolId;
use mxrs_types::{Device, Error};
use std::cell::RefCell;
use std::sync::Arc;

/// The engine thread a task runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Worker {
    /// Its pool.
    pub pool: PoolId,
    /// Its number in the pool, from 0.
    pub index: usize,
}

/// Handed to a running task.
#[derive(Debug)]
pub struct RunContext {
    device: Device,
    worker: Option<Worker>,
    inherited: Option<Arc<Failure>>,
}

impl RunContext {
    pub(crate) fn new(device: Device, worker: Option<Worker>, inherited: Option<Arc<Failure>>) -> Self {
        Self { device, worker, inherited }
    }

    /// The device the task was pushed for.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The engine thread, or `None` when the task runs on a caller's thread.
    pub fn worker(&self) -> Option<Worker> {
        self.worker
    }

    /// The error an input carries. Always `None` but for [`crate::Property::NoSkip`] and a variable's deletion, as other
    /// tasks are skipped.
    pub fn inherited_error(&self) -> Option<&Error> {
        self.inherited.as_ref().map(|f| f.error())
    }
}

// Loom's macro knows no `const` initialisers.
#[cfg(loom)]
mxrs_sync::thread_local! { static RUNNING: RefCell<Vec<u64>> = RefCell::new(Vec::new()); }
#[cfg(not(loom))]
mxrs_sync::thread_local! { static RUNNING: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) }; }

/// Marks the current thread as working for an engine, until dropped.
pub(crate) struct Inside(());

impl Inside {
    pub(crate) fn enter(engine: u64) -> Self {
        RUNNING.with(|running| running.borrow_mut().push(engine));
        Self(())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        RUNNING.with(|running| running.borrow_mut().pop());
    }
}

/// Whether the current thread is a worker of this engine or runs one of its tasks.
pub(crate) fn is_inside(engine: u64) -> bool {
    RUNNING.with(|running| running.borrow().contains(&engine))
}
