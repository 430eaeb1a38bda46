//! What becomes of an engine when its process forks (E17).
//!
//! - **Before**: what threads have collected is pushed; threads that are not tasks let the fork pass before they push,
//!   collect or wait, or start or end workers; every worker finishes the task it is in and waits. Queued tasks stay queued.
//!   No error is told and none is lost.
//! - **In the parent** workers and threads go on.
//! - **In the child** there is only the thread that forked. Queued tasks are queued there too and run when the child first
//!   pushes or waits, on workers started then: [`crate::EngineConfig::child_workers`] for each CPU device. GPUs are out of
//!   reach: tasks for them, and tasks that use what they made, fail with an error that says so.
//!
//! A task that forks does so while the other workers rest. A task that has not ended after ten seconds is left running:
//! in the child it never ends, nor does work that a [`crate::TaskBuilder::push_async`] body had started.

use crate::busy::{self, Busy};
use crate::engine::Inner;
use crate::pool::PoolId;
use mxrs_sync::Rank;
use mxrs_sync::atomic::Ordering;
use mxrs_sync::fork::{self, ForkGuard, Kept, Registration};
use mxrs_types::{Device, Error, ErrorKind, Result};
use std::sync::{Arc, Weak};

/// An engine's place among those that take part in a fork.
pub(crate) struct Hook {
    engine: Weak<Inner>,
}

impl Hook {
    /// Takes part from now on, until the registration is dropped. The list keeps the hook only weakly.
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
            // Another engine may have begun this fork already.
            let _busy = Busy::of_forking_thread();
            engine.flush_all();
        }
        busy::begin_fork();
        for pool in engine.pools.all() {
            pool.pause();
        }
    }

    fn hold<'a>(&'a self, _: &mut Kept<'a>) {
        // Workers at rest and threads that are not busy hold no lock of the engine but those that a child gets anew.
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
        engine.lifecycle.renew();
        let workers = engine.config.child_workers.get();
        for pool in engine.pools.all() {
            pool.reset(matches!(pool.id(), PoolId::Cpu(_)).then_some(workers));
        }
        busy::end_fork();
    }
}

impl Inner {
    /// Starts, in a forked child, the workers that its parent had.
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
            // All of them: what one runs may set a task of another free.
            if pool.has_lost_workers() {
                pool.start(&|| self.runner(pool.id()))?;
            }
        }
        self.generation.store(fork::generation(), Ordering::Relaxed);
        Ok(())
    }

    /// Refuses a GPU in a process that was forked from the engine's.
    ///
    /// # Errors
    /// [`ErrorKind::Engine`] there.
    pub(crate) fn refuse_gpu_in_child(&self, device: Device) -> Result<()> {
        if fork::generation() == self.born_in {
            return Ok(());
        }
        let message =
            format!("{device} does not survive a fork; use the GPU in the parent, or start a new process for it");
        Err(Error::new(ErrorKind::Engine { message }))
    }
}
