//! The event after the work of a task.

use crate::op::OpName;
use mxrs_types::{DeviceEvent, Result, ResultExt, StreamId};
use std::any::Any;
use std::sync::Arc;

/// An event of a device whose failure names the task that enqueued the work before it. A device reports a failure without
/// knowing tasks, and often long after the task.
#[derive(Debug)]
pub(crate) struct TaskEvent {
    event: Arc<dyn DeviceEvent>,
    task: OpName,
}

impl TaskEvent {
    /// Gives an event the name of its task.
    pub(crate) fn wrap(event: Arc<dyn DeviceEvent>, task: OpName) -> Arc<dyn DeviceEvent> {
        Arc::new(Self { event, task })
    }
}

impl DeviceEvent for TaskEvent {
    fn stream(&self) -> StreamId {
        self.event.stream()
    }

    fn place(&self) -> u64 {
        self.event.place()
    }

    fn is_finished(&self) -> bool {
        self.event.is_finished()
    }

    fn wait(&self) -> Result<()> {
        let context = || format!("waiting for the work of `{}` on {}", self.task, self.stream().device);
        self.event.wait().context(context)
    }

    /// The event of the device, for its streams.
    fn as_any(&self) -> &dyn Any {
        self.event.as_any()
    }
}
