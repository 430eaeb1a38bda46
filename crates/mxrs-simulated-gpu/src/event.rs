//! Events of a simulated GPU.

use crate::clock::Clock;
use crate::gpu::{Shared, failure};
use crate::log::EventId;
use mxrs_sync::{Condvar, Mutex};
use mxrs_types::{DeviceEvent, Error, Result, StreamId};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The longest time that the host waits: a test that waits for work that the test itself holds back should fail instead
/// of hanging.
const PATIENCE: Duration = Duration::from_secs(30);

/// An event of a simulated GPU.
pub struct SimulatedEvent {
    pub(crate) id: EventId,
    /// The clock at this position of the stream: the actions that are finished once the event is finished.
    pub(crate) clock: Clock,
    pub(crate) mark: Arc<Mark>,
    shared: Arc<Shared>,
}

impl SimulatedEvent {
    pub(crate) fn new(id: EventId, clock: Clock, shared: Arc<Shared>) -> Self {
        Self { id, clock, mark: Arc::default(), shared }
    }

    /// Identifies the event.
    pub fn id(&self) -> EventId {
        self.id
    }
}

impl DeviceEvent for SimulatedEvent {
    fn stream(&self) -> StreamId {
        self.id.stream
    }

    fn place(&self) -> u64 {
        self.id.place
    }

    fn is_finished(&self) -> bool {
        let is_finished = self.mark.outcome().is_some();
        if is_finished {
            self.shared.checker.host_learns(&self.clock);
        }
        is_finished
    }

    fn wait(&self) -> Result<()> {
        if self.mark.outcome().is_none() {
            self.shared.log.event_wait(self.id);
        }
        let outcome = self.mark.wait_on_host(&self.id)?;
        self.shared.checker.host_learns(&self.clock);
        outcome.map_or(Ok(()), Err)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl fmt::Debug for SimulatedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimulatedEvent({})", self.id)
    }
}

/// A position in a queue that threads can wait for. It is set once, with the failure of the work before it, if there
/// was one.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    outcome: Mutex<Option<Option<Error>>>,
    changed: Condvar,
}

impl Mark {
    pub(crate) fn set(&self, failed: Option<Error>) {
        *self.outcome.lock() = Some(failed);
        self.changed.notify_all();
    }

    /// `None` until the position is reached; then the failure of the work before it, if there was one.
    pub(crate) fn outcome(&self) -> Option<Option<Error>> {
        self.outcome.lock().clone()
    }

    /// Waits as a stream does, without a time limit.
    pub(crate) fn wait_on_device(&self) -> Option<Error> {
        let mut outcome = self.outcome.lock();
        loop {
            match &*outcome {
                Some(failed) => return failed.clone(),
                None => outcome = self.changed.wait(outcome),
            }
        }
    }

    /// Waits as a thread of the host does; fails after [`PATIENCE`].
    pub(crate) fn wait_on_host(&self, what: &dyn fmt::Display) -> Result<Option<Error>> {
        let mut outcome = self.outcome.lock();
        loop {
            if let Some(failed) = &*outcome {
                return Ok(failed.clone());
            }
            let timed_out;
            (outcome, timed_out) = self.changed.wait_for(outcome, PATIENCE);
            if timed_out && outcome.is_none() {
                return Err(failure(format!("the host waited {PATIENCE:?} for {what}: is work held back?")));
            }
        }
    }
}
