//! Where a pool's workers sleep, bringing them to rest for a fork, and what follows.

use super::Pool;
use crate::busy::PATIENCE;
use mxrs_sync::atomic::Ordering;
use mxrs_sync::{Condvar, Rank, RankedGuard, RankedMutex};
use std::cell::Cell;
use std::time::Instant;

/// Where idle workers sleep, and those at rest for a fork.
///
/// A worker at rest may be awake for a moment, to see that the rest goes on: a task's end woke it, or the end of the last
/// fork. It is not waited for, so a child may find the lock held.
pub(super) struct Bed {
    /// How many are at rest.
    pub(super) resting: RankedMutex<usize>,
    /// There may be a task, or the rest is over.
    pub(super) wake: Condvar,
    /// A worker has come to rest.
    settled: Condvar,
}

impl Bed {
    pub(super) fn new() -> Self {
        let resting = RankedMutex::new(Rank::EnginePool, 0);
        Self { resting, wake: Condvar::new(), settled: Condvar::new() }
    }
}

#[cfg(not(loom))]
fn wait<'a>(resting: RankedGuard<'a, usize>, settled: &Condvar) -> RankedGuard<'a, usize> {
    resting.wait_for(settled, PATIENCE)
}

/// Loom knows neither time nor forks.
#[cfg(loom)]
fn wait<'a>(resting: RankedGuard<'a, usize>, settled: &Condvar) -> RankedGuard<'a, usize> {
    resting.wait(settled)
}

std::thread_local! {
    /// The pool this thread works for, as an address.
    static WORKS_FOR: Cell<usize> = const { Cell::new(0) };
}

impl Pool {
    /// Notes that the calling thread is one of the pool's workers.
    pub(super) fn note_worker(&self) {
        WORKS_FOR.set(std::ptr::from_ref(self).addr());
    }

    /// Makes the workers wait between tasks, and waits until all do, but for the caller if it is one.
    pub(crate) fn pause(&self) {
        let own = usize::from(WORKS_FOR.get() == std::ptr::from_ref(self).addr());
        let others = self.threads.lock().len() - own;
        self.paused.store(true, Ordering::SeqCst);
        let until = Instant::now() + PATIENCE;
        let Bed { resting, wake, settled } = self.bed.get();
        let mut resting = resting.lock();
        wake.notify_all();
        while *resting < others && Instant::now() < until {
            resting = wait(resting, settled);
        }
    }

    /// What a worker does between two tasks while `paused` is set.
    pub(super) fn wait_while_paused(&self) {
        let Bed { resting, wake, settled } = self.bed.get();
        let mut resting = resting.lock();
        *resting += 1;
        settled.notify_all();
        while self.paused.load(Ordering::Relaxed) {
            resting = resting.wait(wake);
        }
        *resting -= 1;
    }

    /// Lets the workers go on.
    pub(crate) fn resume(&self) {
        let Bed { resting, wake, .. } = self.bed.get();
        let _resting = resting.lock();
        self.paused.store(false, Ordering::SeqCst);
        wake.notify_all();
    }

    /// Whether a fork has left the pool without its workers.
    pub(crate) fn has_lost_workers(&self) -> bool {
        self.lost.load(Ordering::SeqCst) && !self.is_started()
    }

    /// In a forked child: the workers are gone, what they had taken is still there. With another number of workers from
    /// now on, if one is given.
    pub(crate) fn reset(&self, workers: Option<usize>) {
        // Their handles are the parent's; joining or detaching them would concern threads that are not here.
        std::mem::take(&mut *self.threads.lock()).into_iter().for_each(std::mem::forget);
        self.bed.renew();
        self.lost.store(self.is_started(), Ordering::SeqCst);
        for flag in [&self.paused, &self.stopping, &self.started] {
            flag.store(false, Ordering::SeqCst);
        }
        self.sleepers.store(0, Ordering::SeqCst);
        self.running.store(0, Ordering::SeqCst);
        if let Some(workers) = workers {
            self.size.store(workers.min(self.seats.len()), Ordering::SeqCst);
        }
        let Some((first, others)) = self.seats.split_first() else { return };
        for seat in others {
            // SAFETY: no other thread exists, and this one is in no task of a worker that uses its seat.
            let (first, other) = unsafe { (&mut *first.local.get(), &mut *seat.local.get()) };
            while let Some(task) = other.urgent.pop() {
                first.urgent.push(task);
            }
        }
    }
}
