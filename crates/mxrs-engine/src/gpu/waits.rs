//! The events that a task, or a caller, has to wait for.

use super::told::Told;
use mxrs_types::{DeviceEvent, DeviceStream, Result, StreamId};
use smallvec::SmallVec;
use std::sync::Arc;

/// Some events; the usual number fits without an allocation.
pub type EventList = SmallVec<[Arc<dyn DeviceEvent>; 4]>;

/// Collects events over the variables of one task: of each foreign stream only the latest, of the task's own stream none.
///
/// Collecting asks no device anything, so it may happen under a lock; waiting is done after.
#[derive(Debug, Default)]
pub struct Waits {
    own: Option<StreamId>,
    events: SmallVec<[Wait; 4]>,
}

#[derive(Debug)]
struct Wait {
    event: Arc<dyn DeviceEvent>,
    /// Whether what the task uses comes from the work before the event. If not, that work must only be out of the way:
    /// its failure is another's.
    is_source: bool,
}

impl Waits {
    /// For work that will be enqueued on this stream.
    pub fn of_stream(stream: StreamId) -> Self {
        Self { own: Some(stream), events: SmallVec::new() }
    }

    /// For a thread of the host.
    pub fn of_host() -> Self {
        Self::default()
    }

    /// Adds one; `is_source` if the task uses what the work before the event made.
    pub(super) fn add(&mut self, event: &Arc<dyn DeviceEvent>, is_source: bool) {
        let stream = event.stream();
        if self.own == Some(stream) {
            return;
        }
        match self.events.iter_mut().find(|known| known.event.stream() == stream) {
            Some(known) => {
                known.is_source |= is_source;
                if known.event.place() < event.place() {
                    known.event = Arc::clone(event);
                }
            }
            None => self.events.push(Wait { event: Arc::clone(event), is_source }),
        }
    }

    /// Whether there is nothing to wait for.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The events, one per foreign stream.
    pub fn events(&self) -> impl ExactSizeIterator<Item = &Arc<dyn DeviceEvent>> {
        self.events.iter().map(|wait| &wait.event)
    }

    /// Makes the stream wait, without blocking the caller; events already finished are left out.
    ///
    /// # Errors
    /// The failure of work that the task would have used, where it is known already and was not told; what the device
    /// reports.
    pub fn place(&self, stream: &dyn DeviceStream, told: &Told) -> Result<()> {
        debug_assert_eq!(self.own, Some(stream.id()), "collected for another stream");
        for Wait { event, is_source } in &self.events {
            if !event.is_finished() {
                stream.wait_for(&**event)?;
            } else if *is_source {
                // Finished, so this does not block.
                event.wait().or_else(|error| if told.covers(&**event) { Ok(()) } else { Err(error) })?;
            }
        }
        Ok(())
    }

    /// Blocks the calling thread until all are finished, failed or not: for a task of the host.
    ///
    /// # Errors
    /// The first failure of work that the task would have used, and that was not told.
    pub fn wait(&self, told: &Told) -> Result<()> {
        let mut result = Ok(());
        for Wait { event, is_source } in &self.events {
            if let Err(error) = event.wait()
                && *is_source
                && result.is_ok()
                && !told.covers(&**event)
            {
                result = Err(error);
            }
        }
        result
    }

    /// As [`Waits::wait`], for a caller who hears of the failure: it then counts as told.
    ///
    /// # Errors
    /// See there.
    pub fn wait_and_tell(&self, told: &Told) -> Result<()> {
        let result = self.wait(told);
        if result.is_err() {
            let failed = self.events.iter().filter(|wait| wait.is_source && wait.event.wait().is_err());
            failed.for_each(|wait| told.note(&*wait.event));
        }
        result
    }

    /// Whether one of the events is at or after this one, in the same stream.
    pub(super) fn covers(&self, event: &dyn DeviceEvent) -> bool {
        let (stream, place) = (event.stream(), event.place());
        self.events.iter().any(|wait| wait.event.stream() == stream && wait.event.place() >= place)
    }
}
