//! Start, stop and the end of an engine; the order is in [`crate::var`].

use crate::busy::Busy;
use crate::config::EngineKind;
use crate::context::is_inside;
use crate::engine::Inner;
use crate::fork::Hook;
use crate::pool::PoolId;
use mxrs_sync::atomic::{Ordering, fence};
use mxrs_sync::fork::{ForkGuard, Registration};
use mxrs_sync::thread;
use mxrs_types::Result;
use std::fmt;
use std::sync::Arc;

/// What clones of an engine share; its drop is the drop of the last of them. Workers hold the [`Inner`] only.
///
/// Fields go away in this order: while a fork is under way the registration waits, so a fork that has begun with the engine
/// ends with it.
pub(crate) struct Handle {
    _registration: Registration,
    /// Kept here because the list of forks keeps it only weakly.
    _hook: Arc<dyn ForkGuard>,
    inner: Arc<Inner>,
}

impl Handle {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        let (hook, registration) = Hook::register(&inner);
        Self { _registration: registration, _hook: hook, inner }
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// The pool for prioritised tasks has its threads from the start.
    pub(crate) fn start_eager_pools(&self) -> Result<()> {
        // Loom would search what these threads do, which is nothing.
        if cfg!(loom) || self.inner.config.kind != EngineKind::ThreadedPerDevice {
            return Ok(());
        }
        let _busy = Busy::enter();
        let id = PoolId::CpuPriority;
        self.inner.pools.with(id, &self.inner.config, |pool| pool.start(&|| self.inner.runner(id)))
    }

    pub(crate) fn stop(&self) {
        if !is_inside(self.inner.id) {
            // Until the workers are gone nobody may start the engine again: a task pushed then would find none.
            let _stopping = self.inner.lifecycle.get().lock();
            drain_and_join(&self.inner);
        }
    }

    pub(crate) fn start(&self) -> Result<()> {
        if is_inside(self.inner.id) {
            // A task runs, so the engine has not stopped.
            return Ok(());
        }
        let _starting = self.inner.lifecycle.get().lock();
        self.inner.stopped.store(false, Ordering::Release);
        self.start_eager_pools()
    }
}

fn drain_and_join(inner: &Arc<Inner>) {
    inner.stopped.store(true, Ordering::Relaxed);
    // A push either sees the stop or is counted before the wait below looks; see `Inner::announce`.
    fence(Ordering::SeqCst);
    // Not before: what other threads collected until they saw the stop has been accepted.
    inner.flush_all();
    inner.sleep_until_idle();
    // Workers at rest for a fork could not leave, and the child would find the list of threads locked.
    let _busy = Busy::enter();
    for pool in inner.pools.all() {
        pool.join();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let inner = Arc::clone(&self.inner);
        if is_inside(inner.id) {
            // The last handle went away inside a task. Waiting here would be waiting for that task, so another thread
            // does; without pools there is nothing to wait for.
            if inner.config.kind == EngineKind::Naive {
                return;
            }
            let reaper = thread::Builder::new().name("mxrs-engine-end".into()).spawn(move || end(&inner));
            if let Err(error) = reaper {
                tracing::error!(target: "mxrs_engine", "workers are left behind, no thread to end them: {error}");
            }
        } else {
            end(&inner);
        }
    }
}

fn end(inner: &Arc<Inner>) {
    match inner.config.exit_timeout {
        None => drain_and_join(inner),
        Some(limit) => {
            inner.flush_all();
            if inner.sleep_until_idle_or(limit) {
                drain_and_join(inner);
            } else {
                let left = inner.tally.pushed.load(Ordering::SeqCst) - inner.tally.completed.load(Ordering::SeqCst);
                let seconds = limit.as_secs_f64();
                tracing::error!(target: "mxrs_engine", "{left} tasks are left behind: they did not end in {seconds} s");
            }
        }
    }
    for error in inner.failures.drain_live() {
        tracing::error!(target: "mxrs_engine", "failure nobody waited for: {error}");
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("engine", &self.inner.id).finish()
    }
}
