//! Start, stop and end of an engine; the order of shutdown is in [`crate::var`].

use crate::busy::Busy;
use crate::context::is_inside;
use crate::engine::Inner;
use crate::fork::Hook;
use crate::pool::PoolId;
use mxrs_sync::atomic::{Ordering, fence};
use mxrs_sync::fork::{ForkGuard, Registration};
use mxrs_sync::thread;
use mxrs_types::EngineKind;
use mxrs_types::Result;
use std::fmt;
use std::sync::Arc;

/// The value that clones of an engine share; dropping the last clone drops it. Workers hold only the [`Inner`].
///
/// The fields are dropped in the order below. The drop of the registration waits for a fork in progress, so a fork in
/// which the engine takes part has ended before the other fields are dropped.
pub(crate) struct Handle {
    _registration: Registration,
    /// Kept alive by this field, because the list of participants in forks holds it only weakly.
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

    /// Starts the threads of the pool for CPU-prioritized tasks; those of other pools start with the first task.
    pub(crate) fn start_eager_pools(&self) -> Result<()> {
        // Under loom these idle threads would only enlarge the search.
        if cfg!(loom) || self.inner.config.kind != EngineKind::ThreadedPerDevice {
            return Ok(());
        }
        let _busy = Busy::enter();
        let id = PoolId::CpuPriority;
        self.inner.pools.with(id, &self.inner.config, |pool| pool.start(&|| self.inner.runner(id)))
    }

    pub(crate) fn stop(&self) {
        if !is_inside(self.inner.id) {
            // The lock is held until the workers are gone, so that no thread can start the engine meanwhile: a task
            // pushed after such a start would find no worker.
            let _stopping = self.inner.lifecycle.get().lock();
            drain_and_join(&self.inner);
        }
    }

    pub(crate) fn start(&self) -> Result<()> {
        if is_inside(self.inner.id) {
            // The caller is a running task, so the engine has not stopped.
            return Ok(());
        }
        let _starting = self.inner.lifecycle.get().lock();
        self.inner.stopped.store(false, Ordering::Release);
        self.start_eager_pools()
    }
}

fn drain_and_join(inner: &Arc<Inner>) {
    inner.stopped.store(true, Ordering::Relaxed);
    // A push either sees the flag `stopped` and is refused, or it is counted before the wait below reads the count of
    // pushes; see `Inner::announce`.
    fence(Ordering::SeqCst);
    // Pushes the collected tasks only after the flag `stopped` is set: tasks that other threads collected before they
    // saw the flag were accepted, so they must run.
    inner.flush_all();
    inner.sleep_until_idle();
    // A fork must not begin now: it would pause workers, which could then not end, and the child would find the list of
    // threads locked.
    let _busy = Busy::enter();
    for pool in inner.pools.all() {
        pool.join();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let inner = Arc::clone(&self.inner);
        if is_inside(inner.id) {
            // The last handle was dropped inside a task. Waiting here would wait for that task itself, so another
            // thread waits. The naive engine has no workers to wait for.
            if inner.config.kind == EngineKind::Naive {
                return;
            }
            let reaper = thread::Builder::new().name("mxrs-engine-end".into()).spawn(move || end(&inner));
            if let Err(error) = reaper {
                tracing::error!(target: "mxrs_engine", "workers were abandoned, because the system refused a thread to end them: {error}");
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
                tracing::error!(target: "mxrs_engine", "{left} tasks were abandoned: they did not end within {seconds} s");
            }
        }
    }
    for error in inner.failures.drain_live() {
        tracing::error!(target: "mxrs_engine", "failure that was never reported: {error}");
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("engine", &self.inner.id).finish()
    }
}
