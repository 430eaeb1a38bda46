//! Orders tasks relative to device work: which events a task waits for before its body runs, and which it records
//! afterwards.

use crate::context::{RunContext, Worker};
use crate::engine::Inner;
use crate::gpu::{StreamOwner, TaskEvent, TaskStreams, VarEvents, Waits};
use crate::op::{Property, Task, mark};
use crate::pool::PoolId;
use crate::var::{Var, WaitFor};
use mxrs_sync::fork;
use mxrs_types::{Device, DeviceKind, Result};
use std::sync::Arc;

impl Inner {
    /// Calls [`Inner::order_after_devices`] if the task involves a device.
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

    /// Makes a granted task's stream, or this thread for a CPU task, wait for the device work that its variables depend
    /// on.
    ///
    /// # Errors
    /// Returns the device's error, or the failure of device work whose result the task uses.
    #[cold]
    fn order_after_devices(&self, task: &Task, context: RunContext, worker: Option<Worker>) -> Result<RunContext> {
        if task.property != Property::DeleteVar {
            let gpu = if task.device.kind == DeviceKind::Gpu { task.device } else { Device::gpu(0) };
            self.refuse_gpu_in_child(gpu)?;
        }
        if task.device.kind == DeviceKind::Gpu {
            let streams = Arc::new(TaskStreams::new(self.gpus.get(task.device)?.of(owner(worker))?));
            let mut waits = streams.waits();
            collect(task, &mut waits);
            streams.start(&waits, self.gpus.reported())?;
            return Ok(context.with_streams(&streams));
        }
        if task.property == Property::DeleteVar {
            let events = task.accesses().iter().flat_map(|a| a.var().with_events(|events| events.drain())).collect();
            return Ok(context.with_events(events));
        }
        let mut waits = Waits::of_host();
        collect(task, &mut waits);
        waits.wait(self.gpus.reported())?;
        note(task, |events, write| events.after_host(write));
        Ok(context)
    }

    /// Ends a GPU task's use of its streams, even if its body failed.
    ///
    /// # Errors
    /// Returns the error of the body if it failed, otherwise the device's error.
    #[cold]
    pub(crate) fn end_on_device(&self, task: &Task, streams: &TaskStreams, result: Result<()>) -> Result<()> {
        let finished = streams.finish(self.config.effective_gpu_sync());
        let finished = finished.map(|event| {
            let named = |event| TaskEvent::wrap(event, task.name.clone(), streams.waited_for(), self.gpus.recent());
            event.map(named)
        });
        match &finished {
            Ok(Some(event)) => note(task, |events, write| events.after(event, write)),
            Ok(None) | Err(_) if task.marks() & mark::EVENTS != 0 => {
                note(task, |events, write| events.after_host(write));
            }
            Ok(None) | Err(_) => {}
        }
        result.and(finished.map(drop))
    }

    /// Waits on the host for the device work that last wrote a variable, or for all work that uses it.
    ///
    /// # Errors
    /// Returns the failure of device work that wrote the variable; each failure is reported once.
    pub(crate) fn wait_for_devices(&self, var: &Var, wait_for: WaitFor) -> Result<()> {
        if self.gpus.is_empty() {
            return Ok(());
        }
        if fork::generation() != self.born_in {
            // In a forked child there is nothing to wait for: the device and its pending work belong to the parent.
            return Ok(());
        }
        let mut waits = Waits::of_host();
        var.cell().with_events(|events| events.before(wait_for == WaitFor::Everything, &mut waits));
        if waits.is_empty() {
            return Ok(());
        }
        let result = waits.wait_and_report(self.gpus.reported());
        var.cell().with_events(|events| events.forget(&waits));
        result
    }
}

/// Collects the events that a granted task has to wait for.
pub(crate) fn collect(task: &Task, waits: &mut Waits) {
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

/// The owner of the streams that a task uses.
fn owner(worker: Option<Worker>) -> StreamOwner {
    match worker {
        None => StreamOwner::Pusher,
        Some(Worker { pool, index }) => match pool {
            PoolId::Gpu(_) => StreamOwner::Worker(index),
            PoolId::GpuPriority(_) => StreamOwner::Prioritized(index),
            PoolId::GpuCopy(_) => StreamOwner::Copy(index),
            PoolId::Copy => StreamOwner::SharedCopy,
            PoolId::Global => StreamOwner::Shared,
            PoolId::Cpu(_) | PoolId::CpuPriority | PoolId::GpuWait(_) => StreamOwner::Pusher,
        },
    }
}
