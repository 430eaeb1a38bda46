//! Sleeping workers, pausing them for a fork, and resetting the pool in the child.

use super::Pool;
use crate::busy::PATIENCE;
use mxrs_sync::atomic::Ordering;
use mxrs_sync::{Condvar, Rank, RankedGuard, RankedMutex};
use std::cell::Cell;
use std::time::Instant;

/// The lock and the signals that workers use to sleep when idle and to pause for a fork.
///
/// The end of a task or of an earlier fork may wake a paused worker, which then checks under the lock whether the pause
/// continues. A fork does not wait for this check, so the child may find the lock held.
pub(super) struct WorkerSignals {
    /// The number of paused workers.
    pub(super) resting: RankedMutex<usize>,
    /// Signaled if there may be a task, or if the pause is over.
    pub(super) wake: Condvar,
    /// Signaled when a worker has paused.
    settled: Condvar,
}

impl WorkerSignals {
    pub(super) fn new() -> Self {
        let resting = RankedMutex::new(Rank::EnginePool, 0);
        Self { resting, wake: Condvar::new(), settled: Condvar::new() }
    }
}

#[cfg(not(loom))]
fn wait<'a>(resting: RankedGuard<'a, usize>, settled: &Condvar) -> RankedGuard<'a, usize> {
    resting.wait_for(settled, PATIENCE)
}

/// Waits for `settled` without a time limit, because loom models neither time nor forks.
#[cfg(loom)]
fn wait<'a>(resting: RankedGuard<'a, usize>, settled: &Condvar) -> RankedGuard<'a, usize> {
    resting.wait(settled)
}

std::thread_local! {
    /// The address of the pool that this thread works for.
    static WORKS_FOR: Cell<usize> = const { Cell::new(0) };
}

impl Pool {
    /// Records that the calling thread is one of the pool's workers.
    pub(super) fn note_worker(&self) {
        WORKS_FOR.set(std::ptr::from_ref(self).addr());
    }

    /// Makes the workers pause between tasks, and waits until all except the caller have paused, or [`PATIENCE`] has
    /// passed.
    pub(crate) fn pause(&self) {
        let own = usize::from(WORKS_FOR.get() == std::ptr::from_ref(self).addr());
        let others = self.threads.lock().len() - own;
        self.paused.store(true, Ordering::SeqCst);
        let until = Instant::now() + PATIENCE;
        let WorkerSignals { resting, wake, settled } = self.signals.get();
        let mut resting = resting.lock();
        wake.notify_all();
        while *resting < others && Instant::now() < until {
            resting = wait(resting, settled);
        }
    }

    /// Pauses a worker between two tasks while `paused` is set.
    pub(super) fn wait_while_paused(&self) {
        let WorkerSignals { resting, wake, settled } = self.signals.get();
        let mut resting = resting.lock();
        *resting += 1;
        settled.notify_all();
        while self.paused.load(Ordering::Relaxed) {
            resting = resting.wait(wake);
        }
        *resting -= 1;
    }

    /// Lets the workers continue.
    pub(crate) fn resume(&self) {
        let WorkerSignals { resting, wake, .. } = self.signals.get();
        let _resting = resting.lock();
        self.paused.store(false, Ordering::SeqCst);
        wake.notify_all();
    }

    /// Whether a fork has left the pool without its workers.
    pub(crate) fn has_lost_workers(&self) -> bool {
        self.lost.load(Ordering::SeqCst) && !self.is_started()
    }

    /// Resets the pool in a forked child: the workers are gone, but the tasks that they had taken still exist. Sets the
    /// number of workers, if one is given.
    pub(crate) fn reset(&self, workers: Option<usize>) {
        // The handles refer to threads of the parent, which do not exist here. So they are neither joined nor detached.
        std::mem::take(&mut *self.threads.lock()).into_iter().for_each(std::mem::forget);
        self.signals.reset();
        self.lost.store(self.is_started(), Ordering::SeqCst);
        for flag in [&self.paused, &self.stopping, &self.started] {
            flag.store(false, Ordering::SeqCst);
        }
        self.sleepers.store(0, Ordering::SeqCst);
        self.running.store(0, Ordering::SeqCst);
        if let Some(workers) = workers {
            self.size.store(workers.min(self.slots.len()), Ordering::SeqCst);
        }
        let Some((first, others)) = self.slots.split_first() else { return };
        for slot in others {
            // SAFETY: no other thread exists, and this one is not a worker that is using its slot.
            let (first, other) = unsafe { (&mut *first.local.get(), &mut *slot.local.get()) };
            while let Some(task) = other.urgent.pop() {
                first.urgent.push(task);
            }
        }
    }
}
