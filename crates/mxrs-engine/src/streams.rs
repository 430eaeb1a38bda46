//! Tasks and the queues of devices: what is waited for before a body, and what is noted after it.

use crate::context::{RunContext, Worker};
use crate::engine::Inner;
use crate::gpu::{Seat, TaskStreams, VarEvents, Waits};
use crate::op::{Property, Task, mark};
use crate::pool::PoolId;
use crate::var::{Var, WaitFor};
use mxrs_sync::fork;
use mxrs_types::{Device, DeviceKind, Result};
use std::sync::Arc;

impl Inner {
    /// [`Inner::order_after_devices`], where a device has to do with the task at all.
    #[inline]
    pub(crate) fn order_if_needed(
        &self,
        task: &Task,
        context: RunContext,
        worker: Option<Worker>,
    ) -> Result<RunContext> {
        if task.marks() & mark::EVENTS == 0 && task.device.kind != DeviceKind::Gpu {
            return Ok(context);
        }
        self.order_after_devices(task, context, worker)
    }

    /// Makes a granted task's stream, or for a CPU task this thread, wait for the device work its variables depend on.
    ///
    /// # Errors
    /// What the device reports; failures of work whose results the task uses.
    #[cold]
    fn order_after_devices(&self, task: &Task, context: RunContext, worker: Option<Worker>) -> Result<RunContext> {
        if task.property != Property::DeleteVar {
            let gpu = if task.device.kind == DeviceKind::Gpu { task.device } else { Device::gpu(0) };
            self.refuse_gpu_in_child(gpu)?;
        }
        if task.device.kind == DeviceKind::Gpu {
            let streams = Arc::new(TaskStreams::new(self.gpus.get(task.device)?.of(seat(worker))?));
            let mut waits = streams.waits();
            collect(task, &mut waits);
            streams.start(&waits, self.gpus.told())?;
            return Ok(context.with_streams(&streams));
        }
        if task.property == Property::DeleteVar {
            let events = task.accesses().iter().flat_map(|a| a.var().with_events(|events| events.drain())).collect();
            return Ok(context.with_events(events));
        }
        let mut waits = Waits::of_host();
        collect(task, &mut waits);
        waits.wait(self.gpus.told())?;
        note(task, |events, write| events.after_host(write));
        Ok(context)
    }

    /// Ends a GPU task's use of its streams, whatever its body said.
    ///
    /// # Errors
    /// The body's; else what the device reports.
    #[cold]
    pub(crate) fn end_on_device(&self, task: &Task, streams: &TaskStreams, result: Result<()>) -> Result<()> {
        let finished = streams.finish(self.config.effective_gpu_sync());
        match &finished {
            Ok(Some(event)) => note(task, |events, write| events.after(event, write)),
            Ok(None) | Err(_) if task.marks() & mark::EVENTS != 0 => {
                note(task, |events, write| events.after_host(write));
            }
            Ok(None) | Err(_) => {}
        }
        result.and(finished.map(drop))
    }

    /// Waits, on the host, for the device work that last wrote a variable, or for all that uses it.
    ///
    /// # Errors
    /// The failure of work that wrote it; told once.
    pub(crate) fn wait_for_devices(&self, var: &Var, wait_for: WaitFor) -> Result<()> {
        if self.gpus.is_empty() {
            return Ok(());
        }
        if fork::generation() != self.born_in {
            // The device is the parent's; so is what it still does.
            return Ok(());
        }
        let mut waits = Waits::of_host();
        var.cell().with_events(|events| events.before(wait_for == WaitFor::Everything, &mut waits));
        if waits.is_empty() {
            return Ok(());
        }
        let result = waits.wait_and_tell(self.gpus.told());
        var.cell().with_events(|events| events.forget(&waits));
        result
    }
}

fn collect(task: &Task, waits: &mut Waits) {
    if task.marks() & mark::EVENTS == 0 {
        return;
    }
    for access in task.accesses() {
        access.var().with_events(|events| events.before(access.write, waits));
    }
}

fn note(task: &Task, mut note: impl FnMut(&mut VarEvents, bool)) {
    for access in task.accesses() {
        access.var().with_events(|events| note(events, access.write));
    }
}

/// Whose streams a task uses.
fn seat(worker: Option<Worker>) -> Seat {
    match worker {
        None => Seat::Pusher,
        Some(Worker { pool, index }) => match pool {
            PoolId::Gpu(_) => Seat::Worker(index),
            PoolId::GpuPriority(_) => Seat::Prioritised(index),
            PoolId::GpuCopy(_) => Seat::Copy(index),
            PoolId::Copy => Seat::SharedCopy,
            PoolId::Global => Seat::Shared,
            PoolId::Cpu(_) | PoolId::CpuPriority => Seat::Pusher,
        },
    }
}
