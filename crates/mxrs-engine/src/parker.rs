//! Blocks a thread that waits for its turn on one variable, or for the grants of its own task.

use crate::failure::Failure;
use crate::op::Task;
use mxrs_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use mxrs_sync::{Condvar, Mutex, fork, hint};
use std::sync::Arc;

/// The number of times that a waiting thread checks for its signal before it sleeps. This takes some microseconds, in
/// which many short tasks end.
const SPINS: u32 = 200;

/// Blocks a thread until it is signaled. Each wait ends with one signal. The signal brings the failure, if any, of the
/// variable that the thread waits for, or the task that the thread has pushed and must run.
///
/// In a forked child the parkers of the parent's threads are still in the queues. Signals to them are dropped, because
/// their locks may be in any state.
///
/// The wait may end before the signaling thread has returned from [`Parker::signal`] or [`Parker::hand_over`]. From
/// then on that thread touches only the shared parker, never the entry in the queue. At worst, the next wait on this
/// parker wakes up once without a reason.
#[derive(Debug)]
pub(crate) struct Parker {
    done: AtomicBool,
    /// The process in which the thread last waited, as a number ([`fork::generation`]).
    waits_in: AtomicU64,
    news: Mutex<News>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct News {
    failure: Option<Arc<Failure>>,
    task: Option<Task>,
}

#[cfg(not(loom))]
std::thread_local! {
    static OF_THREAD: Arc<Parker> = Arc::new(Parker::new());
}

impl Parker {
    fn new() -> Self {
        let waits_in = AtomicU64::new(fork::generation());
        Self { done: AtomicBool::new(false), waits_in, news: Mutex::default(), wake: Condvar::new() }
    }

    /// The calling thread's parker, reset for one signal. A thread is in at most one wait at a time.
    pub(crate) fn of_thread() -> Arc<Self> {
        #[cfg(not(loom))]
        if let Ok(parker) = OF_THREAD.try_with(Arc::clone) {
            // The thread that ended the last wait may still hold the lock of `news`. Taking the lock here ensures that
            // it has finished.
            *parker.news.lock() = News::default();
            parker.done.store(false, Ordering::Relaxed);
            parker.waits_in.store(fork::generation(), Ordering::Relaxed);
            return parker;
        }
        Arc::new(Self::new())
    }

    /// A parker that does not belong to a thread, so that a test may hold several.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn unshared() -> Arc<Self> {
        Arc::new(Self::new())
    }

    /// Ends a wait for a variable.
    pub(crate) fn signal(&self, failure: Option<Arc<Failure>>) {
        self.tell(News { failure, task: None });
    }

    /// Gives a pushing thread its granted task.
    pub(crate) fn hand_over(&self, task: Task) {
        self.tell(News { failure: None, task: Some(task) });
    }

    fn tell(&self, news: News) {
        if self.waits_in.load(Ordering::Relaxed) != fork::generation() {
            return;
        }
        let mut slot = self.news.lock();
        *slot = news;
        // The flag is set under the lock, so a thread about to sleep either sees the flag or is already asleep when
        // notified.
        self.done.store(true, Ordering::Release);
        drop(slot);
        self.wake.notify_one();
    }

    /// Sleeps until signaled.
    pub(crate) fn wait(&self) -> Option<Arc<Failure>> {
        self.wait_for_news().failure
    }

    /// Sleeps until the thread's task is handed over.
    pub(crate) fn wait_for_task(&self) -> Option<Task> {
        self.wait_for_news().task
    }

    fn wait_for_news(&self) -> News {
        if !cfg!(loom) {
            for _ in 0..SPINS {
                if self.done.load(Ordering::Acquire) {
                    break;
                }
                hint::spin_loop();
            }
        }
        let mut slot = self.news.lock();
        while !self.done.load(Ordering::Acquire) {
            slot = self.wake.wait(slot);
        }
        std::mem::take(&mut *slot)
    }
}
