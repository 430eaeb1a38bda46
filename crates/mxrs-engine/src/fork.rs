//! What happens to an engine when its process forks (rule E17 of [`crate::var`]).
//!
//! - **Before**: collected tasks are pushed. Threads that are not in a task wait until the fork is over before they push,
//!   collect, wait, or start or end workers. Every worker finishes its task and pauses. Queued tasks stay queued. No
//!   error is reported and none is lost.
//! - **In the parent**: workers and threads continue.
//! - **In the child**: only the thread that forked exists. Queued tasks stay queued in the child too. At its first push
//!   or wait the child starts workers, which run these tasks: [`crate::EngineConfig::child_workers`] for each CPU
//!   device. GPUs cannot be used: tasks for them, and tasks that use their results, fail with an error that says so.
//!
//! A task may fork while the other workers pause. A task that has not ended after ten seconds is left running: it never
//! ends in the child, and neither does work started by a [`crate::TaskBuilder::push_async`] body.

use crate::busy::{self, Busy};
use crate::engine::Inner;
use crate::pool::PoolId;
use mxrs_sync::Rank;
use mxrs_sync::atomic::Ordering;
use mxrs_sync::fork::{self, ForkGuard, Kept, Registration};
use mxrs_types::{Device, Error, ErrorKind, Result};
use std::sync::{Arc, Weak};

/// Registers an engine as a participant in forks.
pub(crate) struct Hook {
    engine: Weak<Inner>,
}

impl Hook {
    /// Registers the engine until the registration is dropped. The list of participants holds the hook only weakly.
    pub(crate) fn register(engine: &Arc<Inner>) -> (Arc<dyn ForkGuard>, Registration) {
        crate::slab::take_part_in_forks();
        let hook: Arc<dyn ForkGuard> = Arc::new(Self { engine: Arc::downgrade(engine) });
        let registration = fork::register(Rank::EngineLifecycle, &hook);
        (hook, registration)
    }
}

impl ForkGuard for Hook {
    fn prepare(&self) {
        let Some(engine) = self.engine.upgrade() else { return };
        {
            // Marks this thread as busy without waiting for a fork to end: the hook of another engine may already have begun
            // this fork.
            let _busy = Busy::of_forking_thread();
            engine.flush_all();
        }
        busy::begin_fork();
        for pool in engine.pools.all() {
            pool.pause();
        }
    }

    fn hold<'a>(&'a self, _: &mut Kept<'a>) {
        // No lock must be held during the fork: paused workers and threads that are not busy hold no lock of the
        // engine, except those that the child replaces ([`crate::fork_reset::ForkReset`]).
    }

    fn parent(&self) {
        let Some(engine) = self.engine.upgrade() else { return };
        for pool in engine.pools.all() {
            pool.resume();
        }
        busy::end_fork();
    }

    fn child(&self) {
        let Some(engine) = self.engine.upgrade() else { return };
        engine.idle.reset();
        engine.lifecycle.reset();
        let workers = engine.config.child_workers.get();
        for pool in engine.pools.all() {
            pool.reset(matches!(pool.id(), PoolId::Cpu(_)).then_some(workers));
        }
        busy::end_fork();
    }
}

impl Inner {
    /// In a forked child, starts the workers that its parent had.
    #[inline]
    pub(crate) fn notice_fork(self: &Arc<Self>) -> Result<()> {
        if fork::generation() == self.generation.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.revive()
    }

    #[cold]
    fn revive(self: &Arc<Self>) -> Result<()> {
        let _busy = Busy::enter();
        for pool in self.pools.all() {
            // Starts the workers of all pools, because a task that runs in one pool may release a task of another.
            if pool.has_lost_workers() {
                pool.start(&|| self.runner(pool.id()))?;
            }
        }
        self.generation.store(fork::generation(), Ordering::Relaxed);
        Ok(())
    }

    /// Refuses a GPU in a process that was forked after the engine was made.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Engine`] in a process that was forked after the engine was made.
    pub(crate) fn refuse_gpu_in_child(&self, device: Device) -> Result<()> {
        if fork::generation() == self.born_in {
            return Ok(());
        }
        let message =
            format!("{device} does not survive a fork; use the GPU in the parent, or start a new process for it");
        Err(Error::new(ErrorKind::Engine { message }))
    }
}
