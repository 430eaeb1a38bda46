//! Waiting: for one variable, or for all tasks.

use crate::busy::Busy;
use crate::context::is_inside;
use crate::engine::{Engine, Inner};
use crate::failure::Failure;
use crate::fork_reset::ForkReset;
use crate::op::{Place, Task, Waiter};
use crate::parker::Parker;
use crate::var::{Attached, Var, WaitFor};
use mxrs_sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use mxrs_sync::{Condvar, Rank, RankedMutex};
use mxrs_types::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::time::Duration;

/// Lets threads sleep until no task is pending.
pub(crate) struct Idle {
    waiters: AtomicUsize,
    signal: ForkReset<WaitSignal>,
}

/// The lock and the condition variable with which threads sleep until no task is pending.
struct WaitSignal {
    lock: RankedMutex<()>,
    wake: Condvar,
}

impl Idle {
    pub(crate) fn new() -> Self {
        let signal = || WaitSignal { lock: RankedMutex::new(Rank::EngineWaiters, ()), wake: Condvar::new() };
        Self { waiters: AtomicUsize::new(0), signal: ForkReset::new(signal) }
    }

    /// Resets the state in a forked child, where no thread sleeps.
    pub(crate) fn reset(&self) {
        self.waiters.store(0, Ordering::Relaxed);
        self.signal.reset();
    }

    pub(crate) fn has_waiters(&self) -> bool {
        self.waiters.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn notify(&self) {
        let WaitSignal { lock, wake } = self.signal.get();
        let _lock = lock.lock();
        wake.notify_all();
    }

    pub(crate) fn sleep_until(&self, done: impl Fn() -> bool) {
        if done() {
            return;
        }
        self.waiters.fetch_add(1, Ordering::Relaxed);
        // This thread counts itself as a waiter and then reads the count of completed tasks. A thread that completes a
        // task does the opposite: it counts the task and then checks for waiters (`note_completed`). So one of them
        // sees the other.
        fence(Ordering::SeqCst);
        let WaitSignal { lock, wake } = self.signal.get();
        let mut lock = lock.lock();
        while !done() {
            lock = lock.wait(wake);
        }
        drop(lock);
        self.waiters.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(not(loom))]
impl Idle {
    /// Like [`Idle::sleep_until`], for at most `limit`; false if the time ran out.
    pub(crate) fn sleep_until_or(&self, limit: Duration, done: impl Fn() -> bool) -> bool {
        use std::time::Instant;
        let until = Instant::now() + limit;
        self.waiters.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let WaitSignal { lock, wake } = self.signal.get();
        let mut lock = lock.lock();
        while !done() && Instant::now() < until {
            lock = lock.wait_for(wake, until - Instant::now());
        }
        drop(lock);
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        done()
    }
}

#[cfg(loom)]
impl Idle {
    /// Loom does not model time, so this waits without a limit.
    pub(crate) fn sleep_until_or(&self, _: Duration, done: impl Fn() -> bool) -> bool {
        self.sleep_until(done);
        true
    }
}

impl Engine {
    /// Waits for all writes of `var` pushed so far. Does not wait for reads.
    ///
    /// # Errors
    /// The failure that the variable carries, if it was not reported yet; [`ErrorKind::Engine`] inside a task, for a
    /// deleted variable, or for a variable of another engine.
    pub fn wait_to_read(&self, var: &Var) -> Result<()> {
        self.inner().wait(var, WaitFor::Writes, "wait_to_read")
    }

    /// Waits for all reads and writes of `var` pushed so far, so that code outside the engine may change its content.
    ///
    /// # Errors
    /// Returns the errors of [`Engine::wait_to_read`].
    pub fn wait_to_write(&self, var: &Var) -> Result<()> {
        self.inner().wait(var, WaitFor::Everything, "wait_to_write")
    }

    /// Waits until nothing is pending: all tasks pushed so far, by any thread, are done.
    ///
    /// # Errors
    /// The first failure that was not reported yet. All others are dropped, and tainted variables can be used again
    /// (their content is unspecified). [`ErrorKind::Engine`] inside a task.
    pub fn wait_for_all(&self) -> Result<()> {
        let inner = self.inner();
        inner.refuse_inside("wait_for_all")?;
        inner.notice_fork()?;
        inner.flush_all();
        inner.sleep_until_idle();
        let devices = inner.gpus.synchronize();
        let _busy = Busy::enter();
        inner.failures.take_all().map_or(devices, Err)
    }
}

impl Inner {
    pub(crate) fn sleep_until_idle(&self) {
        self.idle.sleep_until(|| self.tally.is_idle());
    }

    /// Like [`Inner::sleep_until_idle`], for at most `limit`; false if the time ran out.
    pub(crate) fn sleep_until_idle_or(&self, limit: Duration) -> bool {
        self.idle.sleep_until_or(limit, || self.tally.is_idle())
    }

    fn wait(self: &Arc<Self>, var: &Var, wait_for: WaitFor, what: &str) -> Result<()> {
        self.refuse_inside(what)?;
        var.check_engine(self.id)?;
        self.notice_fork()?;
        self.flush_all();
        if self.config.info {
            self.waited_for.store(var.id(), Ordering::Relaxed);
            tracing::info!(target: "mxrs_engine", "{what}: variable {} at version {}", var.id(), var.version());
        }
        let parker = Parker::of_thread();
        let waiter = Place::of(Waiter::new(var.cell_ptr(), wait_for == WaitFor::Everything, Arc::clone(&parker)));
        let attached = {
            let _busy = Busy::enter();
            // `waiter` must not be freed before this thread is signaled, because it is in the queue until then.
            var.cell().attach(wait_for, &waiter)?
        };
        let failure = match attached {
            Attached::Ready(failure) => failure,
            Attached::Waiting => parker.wait(),
        };
        if self.config.info {
            tracing::info!(target: "mxrs_engine", "{what}: variable {} is ready at version {}", var.id(), var.version());
        }
        let on_device = self.wait_for_devices(var, wait_for);
        let _busy = Busy::enter();
        tell(failure).and(on_device)
    }

    fn refuse_inside(&self, what: &str) -> Result<()> {
        if !is_inside(self.id) {
            return Ok(());
        }
        let message =
            format!("{what} inside a task would wait for itself; push a task that reads the variable instead");
        Err(Error::new(ErrorKind::Engine { message }))
    }

    /// With [`crate::EngineConfig::info`]: logs one line per push and completion on the variable last waited for.
    #[cold]
    pub(crate) fn log_if_waited_for(&self, task: &Task, event: &str) {
        let id = self.waited_for.load(Ordering::Relaxed);
        if let Some(access) = task.accesses().iter().find(|a| a.var().id() == id) {
            let how = if access.write { "writes" } else { "reads" };
            tracing::info!(target: "mxrs_engine", "{event} of `{}`, which {how} variable {id}", task.name);
        }
    }
}

/// The id of the variable last waited for; 0, which is not an id, if there was none.
pub(crate) type WaitedFor = AtomicU64;

fn tell(failure: Option<Arc<Failure>>) -> Result<()> {
    failure.and_then(|f| f.take()).map_or(Ok(()), Err)
}
