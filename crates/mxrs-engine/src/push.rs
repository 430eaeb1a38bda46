//! Pushes a task. After the push, the task waits for grants, is queued in a pool, or has run.

use crate::busy::Busy;
use crate::context::{Worker, is_inside};
use crate::engine::Inner;
use crate::op::{Body, Dispatch, OpName, PoolRole, Property, Task, Uses, give_back_uses, normalize};
use crate::parker::Parker;
use crate::pool::PoolId;
use crate::records;
use crate::var::{self, Refused};
use crate::waiting::may_wait;
use mxrs_sync::Team;
use mxrs_sync::atomic::{Ordering, fence_after_rmw};
use mxrs_trace::SpanKind;
use mxrs_types::EngineKind;
use mxrs_types::{Device, DeviceKind, Error, ErrorKind, Result};
use std::sync::Arc;

/// Why a push failed, and the task unless it has run. The caller must not drop the task while it holds a lock.
pub(crate) struct NotPushed {
    pub(crate) error: Error,
    pub(crate) task: Option<Task>,
}

impl NotPushed {
    /// Returns the error after dropping the body. If the drop panics, the caller gets the panic instead of the error.
    fn into_error(self) -> Error {
        let Self { error, task } = self;
        drop(task);
        error
    }

    fn failed(error: Error) -> Self {
        Self { error, task: None }
    }
}

impl Inner {
    /// Checks a task, appends it to its variables, and dispatches it if it need not wait.
    #[inline]
    pub(crate) fn push(
        self: &Arc<Self>,
        name: OpName,
        mut uses: Uses<'_>,
        device: Device,
        priority: i32,
        property: Property,
        body: impl Body,
    ) -> Result<()> {
        for u in &uses {
            // SAFETY: a use borrows a handle of its variable, which keeps the `VarCell` alive.
            unsafe { u.cell().as_ref() }.check_engine(self.id)?;
        }
        normalize(&mut uses);
        self.notice_fork()?;
        let dispatch = self.choose(device, property)?;
        let name = if self.config.backtrace || self.config.stack_trace_depth > 0 { name.traced() } else { name };
        let mut task = Task::new(name, &uses, device, priority, property, dispatch, body);
        give_back_uses(uses);
        if !self.buffers.are_idle() {
            match self.collect(task)? {
                Some(alone) => task = alone,
                None => return Ok(()),
            }
        }
        self.push_task(task).map_err(NotPushed::into_error)
    }

    /// Appends a task to its variables, and dispatches it if it need not wait.
    #[inline(always)]
    pub(crate) fn push_task(self: &Arc<Self>, task: Task) -> Result<(), NotPushed> {
        if records::are_needed() { self.push_recorded(task) } else { self.push_unrecorded(task) }
    }

    #[cold]
    #[inline(never)]
    fn push_recorded(self: &Arc<Self>, task: Task) -> Result<(), NotPushed> {
        let _span = self.task_span(SpanKind::Push, &task);
        self.log_if_asked(&task, "push");
        self.push_unrecorded(task)
    }

    fn push_unrecorded(self: &Arc<Self>, task: Task) -> Result<(), NotPushed> {
        let busy = self.announce();
        let (dispatch, deletes) = (task.dispatch, task.property == Property::DeleteVar);
        if self.is_stopped() && !deletes && !task.is_bulk() && !is_inside(self.id) {
            self.refuse();
            let message = format!("{}: the engine is stopped; start it before pushing", task.name);
            return Err(NotPushed { error: Error::new(ErrorKind::Engine { message }), task: Some(task) });
        }
        // The pool is started only after the push is announced: from the announcement on, a stop of the engine waits
        // for the task before it ends the workers.
        if let Dispatch::Pool(kind) = dispatch
            && let Err(error) = self.start_pool(kind.of_device(task.device))
        {
            self.refuse();
            return Err(NotPushed { error, task: Some(task) });
        }
        let parker = match dispatch {
            Dispatch::Pusher => {
                let parker = Parker::of_thread();
                task.set_parker(&parker);
                Some(parker)
            }
            _ => None,
        };
        let mut task = task;
        let task = loop {
            match var::append(task, deletes) {
                Ok(task) => break task,
                Err((Refused::Collected, back)) => {
                    self.flush_all();
                    task = back;
                }
                Err((Refused::Deleted(error), task)) => {
                    // Undoes the count of the push before the body is dropped, because the drop may panic.
                    self.refuse();
                    if parker.is_some() {
                        drop(task.take_parker());
                    }
                    return Err(NotPushed { error, task: Some(task) });
                }
            }
        };
        // This thread stays marked as busy until the end of this function. This includes running the task, because a
        // forked child has no thread that could finish it.
        let _busy = busy;
        match (task, dispatch) {
            (None, Dispatch::Pusher) => {
                // The thread that gives the last grant finds this thread's parker in the task and hands the task back
                // through it.
                let task = parker.and_then(|parker| parker.wait_for_task());
                task.map_or(Ok(()), |task| self.run_on_pusher(task)).map_err(NotPushed::failed)
            }
            (None, _) => Ok(()),
            (Some(task), Dispatch::Pusher) => {
                drop(task.take_parker());
                self.run_on_pusher(task).map_err(NotPushed::failed)
            }
            (Some(task), Dispatch::Completer) => self.run_on_pusher(task).map_err(NotPushed::failed),
            (Some(task), Dispatch::Pool(_)) => {
                if matches!(task.property, Property::Async | Property::DeleteVar) && task.device.is_host() {
                    self.run_deferred(task, None, None);
                } else {
                    self.enqueue(task);
                }
                Ok(())
            }
        }
    }

    /// Counts a push that begins, once no fork is being prepared.
    #[inline]
    fn announce(&self) -> Busy {
        let count = || {
            // A push is counted before it checks for a stop or a fork; a stop or a fork sets its flag before it reads
            // the count. So the push sees the flag, or the stop or fork sees the push.
            self.tally.pushed.fetch_add(1, Ordering::SeqCst);
            fence_after_rmw();
        };
        Busy::enter_with(count, || self.refuse())
    }

    #[cold]
    fn refuse(&self) {
        self.tally.refused.fetch_add(1, Ordering::Relaxed);
        self.note_completed();
    }

    /// Chooses where a task runs.
    #[inline]
    pub(crate) fn choose(self: &Arc<Self>, device: Device, property: Property) -> Result<Dispatch> {
        let gpu = device.kind == DeviceKind::Gpu;
        if gpu {
            self.gpus.get(device)?;
            self.gpus.note_use();
            self.refuse_gpu_in_child(device)?;
        }
        let kind = match (self.config.kind, property) {
            (EngineKind::Naive, _) if is_inside(self.id) => return Ok(Dispatch::Completer),
            (EngineKind::Naive, _) => return Ok(Dispatch::Pusher),
            (EngineKind::Threaded, Property::CopyFromGpu | Property::CopyToGpu) => PoolRole::Copy,
            (EngineKind::Threaded, _) => PoolRole::Global,
            (EngineKind::ThreadedPerDevice, Property::CpuPrioritized) if !gpu => PoolRole::CpuPriority,
            (EngineKind::ThreadedPerDevice, Property::CopyFromGpu | Property::CopyToGpu) if gpu => PoolRole::GpuCopy,
            (EngineKind::ThreadedPerDevice, Property::GpuPrioritized) if gpu => PoolRole::GpuPriority,
            (EngineKind::ThreadedPerDevice, _) if gpu => PoolRole::Gpu,
            (EngineKind::ThreadedPerDevice, _) => PoolRole::Cpu,
        };
        if property == Property::DeleteVar && self.is_stopped() {
            // In a stopped engine the workers may have ended or may be about to end, so a deletion does not run on
            // them.
            return Ok(Dispatch::Completer);
        }
        Ok(Dispatch::Pool(kind))
    }

    #[inline]
    pub(crate) fn start_pool(self: &Arc<Self>, id: PoolId) -> Result<()> {
        self.pools.with(
            id,
            &self.config,
            |pool| if pool.is_started() { Ok(()) } else { pool.start(&|| self.runner(id)) },
        )
    }

    /// The function with which the workers of a pool run a task.
    pub(crate) fn runner(self: &Arc<Self>, id: PoolId) -> crate::pool::Runner {
        let inner = Arc::clone(self);
        if let PoolId::GpuWait(_) = id {
            return Arc::new(move |task: Task, _| {
                inner.wait_then_enqueue(task);
                None
            });
        }
        Arc::new(move |task: Task, index| {
            let worker = Worker { pool: id, index };
            let keeps_loops = task.device.kind == DeviceKind::Gpu && !inner.config.gpu_workers_share_loops;
            let _alone = keeps_loops.then(Team::alone);
            inner.run_deferred(task, Some(worker), Some(worker))
        })
    }

    /// Queues a granted task in its pool. If it depends on work of a device, the pool that waits for that work gets it first.
    #[inline]
    pub(crate) fn enqueue(self: &Arc<Self>, task: Task) {
        if may_wait(&task) { self.enqueue_after_devices(task) } else { self.enqueue_now(task) }
    }

    /// Puts a granted task into its pool's queue.
    #[inline]
    pub(crate) fn enqueue_now(&self, task: Task) {
        if let Dispatch::Pool(kind) = task.dispatch {
            let front = task.property == Property::DeleteVar;
            self.pools.with(kind.of_device(task.device), &self.config, |pool| pool.push(task, front));
        }
    }
}
