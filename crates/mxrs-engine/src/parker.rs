//! A thread that waits for its turn on one variable, or for the grants of its own task.

use crate::failure::Failure;
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_sync::{Condvar, Mutex, hint};
use std::sync::Arc;

/// Looks before sleeping: some microseconds, in which many short tasks end.
const SPINS: u32 = 200;

/// Signalled once, with the failure the variable then carries.
#[derive(Debug)]
pub(crate) struct Parker {
    done: AtomicBool,
    failure: Mutex<Option<Arc<Failure>>>,
    wake: Condvar,
}

impl Parker {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { done: AtomicBool::new(false), failure: Mutex::new(None), wake: Condvar::new() })
    }

    pub(crate) fn signal(&self, failure: Option<Arc<Failure>>) {
        let mut slot = self.failure.lock();
        *slot = failure;
        // Under the lock: a thread about to sleep either sees this or is asleep when notified.
        self.done.store(true, Ordering::Release);
        drop(slot);
        self.wake.notify_one();
    }

    /// Sleeps until signalled.
    pub(crate) fn wait(&self) -> Option<Arc<Failure>> {
        if !cfg!(loom) {
            for _ in 0..SPINS {
                if self.done.load(Ordering::Acquire) {
                    break;
                }
                hint::spin_loop();
            }
        }
        let mut slot = self.failure.lock();
        while !self.done.load(Ordering::Acquire) {
            slot = self.wake.wait(slot);
        }
        slot.take()
    }
}
