//! Bringing a pool's workers to rest for a fork, and what follows.

use super::Pool;
use crate::busy::PATIENCE;
use mxrs_sync::atomic::Ordering;
use mxrs_sync::{Condvar, RankedGuard};
use std::cell::Cell;
use std::time::Instant;

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
        let mut resting = self.park.lock();
        self.wake.notify_all();
        while *resting < others && Instant::now() < until {
            resting = wait(resting, &self.settled);
        }
    }

    /// Lets the workers go on.
    pub(crate) fn resume(&self) {
        let _park = self.park.lock();
        self.paused.store(false, Ordering::SeqCst);
        self.wake.notify_all();
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
        *self.park.lock() = 0;
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
