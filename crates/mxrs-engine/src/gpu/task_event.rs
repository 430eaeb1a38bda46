//! The event after the work of a task.

use super::recent::{Positions, RecentTasks};
use crate::op::OpName;
use mxrs_types::{DeviceEvent, Error, Result, StreamId};
use std::any::Any;
use std::sync::Arc;

/// An event of a device whose failure names the task that enqueued the work before it, and the task in which the failure
/// began. A device reports a failure without knowing tasks, and often long after the task.
#[derive(Debug)]
pub(crate) struct TaskEvent {
    event: Arc<dyn DeviceEvent>,
    task: OpName,
    recent: Arc<RecentTasks>,
}

impl TaskEvent {
    /// Gives an event the name of its task. The task's stream has waited for the events `waits`.
    pub(crate) fn wrap(
        event: Arc<dyn DeviceEvent>,
        task: OpName,
        waits: Positions,
        recent: &Arc<RecentTasks>,
    ) -> Arc<dyn DeviceEvent> {
        recent.note(&event, task.clone(), waits);
        Arc::new(Self { event, task, recent: Arc::clone(recent) })
    }

    #[cold]
    fn named(&self, error: Error) -> Error {
        let (task, device) = (&self.task, self.stream().device);
        error.context(match self.recent.origin(self.stream(), self.place()) {
            Some(origin) => format!("waiting for the work of `{task}` on {device}; it failed in or before {origin}"),
            None => format!("waiting for the work of `{task}` on {device}; it failed in or before this task"),
        })
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
        self.event.wait().map_err(|error| self.named(error))
    }

    /// The wrapped event, because a stream of the device needs the device's own type of event.
    fn as_any(&self) -> &dyn Any {
        self.event.as_any()
    }
}
