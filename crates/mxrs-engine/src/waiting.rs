//! CPU tasks that have to wait for device work: threads of their own wait, so that no CPU worker stands still.
//!
//! A granted CPU task whose variables have unfinished events goes to the pool [`PoolId::GpuWait`] of the device first. A
//! worker of that pool waits for the events and then queues the task in its own pool. The workers for copies do not wait
//! either: they enqueue the copies for which such tasks wait.

use crate::engine::Inner;
use crate::gpu::Waits;
use crate::op::{Dispatch, Property, Task, mark};
use crate::pool::PoolId;
use crate::streams::collect;
use mxrs_sync::fork;
use mxrs_types::DeviceKind;
use std::sync::Arc;

/// Whether the task is for a CPU and uses variables that have events.
#[inline]
pub(crate) fn may_wait(task: &Task) -> bool {
    task.marks() & mark::EVENTS != 0 && task.device.kind != DeviceKind::Gpu
}

impl Inner {
    /// Queues a granted CPU task whose variables have events: in the pool that waits for these events, or in the task's own
    /// pool if all events are finished.
    #[cold]
    pub(crate) fn enqueue_after_devices(self: &Arc<Self>, task: Task) {
        match self.waiting_pool(&task) {
            Some(pool) => self.pools.with(pool, &self.config, |pool| pool.push(task, false)),
            None => self.enqueue_now(task),
        }
    }

    /// The pool that waits for the first unfinished event of a task; `None` if the task need not wait. If the system refuses
    /// the threads of that pool, the task's own worker waits.
    fn waiting_pool(self: &Arc<Self>, task: &Task) -> Option<PoolId> {
        let waits_itself = task.property == Property::DeleteVar || !matches!(task.dispatch, Dispatch::Pool(_));
        // In a forked child the device belongs to the parent, and the task will fail.
        if waits_itself || fork::generation() != self.born_in {
            return None;
        }
        let mut waits = Waits::of_host();
        collect(task, &mut waits);
        let unfinished = waits.events().find(|event| !event.is_finished())?;
        let pool = PoolId::GpuWait(unfinished.stream().device.id);
        self.start_pool(pool).ok().map(|()| pool)
    }

    /// Waits until the device work is done that a task depends on, and queues the task in its own pool. A failure of the
    /// work is ignored here, because the task finds it when it runs.
    pub(crate) fn wait_then_enqueue(&self, task: Task) {
        // A forked child does not use the parent's device.
        if fork::generation() == self.born_in {
            let mut waits = Waits::of_host();
            collect(&task, &mut waits);
            for event in waits.events() {
                let _ = event.wait();
            }
        }
        self.enqueue_now(task);
    }
}
