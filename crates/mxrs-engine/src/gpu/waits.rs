//! The events that a task or a caller has to wait for.

use super::reported::ReportedFailures;
use mxrs_types::{DeviceEvent, DeviceStream, Result, StreamId};
use smallvec::SmallVec;
use std::sync::Arc;

/// A list of events; the usual number fits without an allocation.
pub type EventList = SmallVec<[Arc<dyn DeviceEvent>; 4]>;

/// Collects the events that one task has to wait for, from its variables: the latest event of each stream except the
/// task's own.
///
/// Collecting does not query a device, so it may happen under a lock; the wait comes afterwards.
#[derive(Debug, Default)]
pub struct Waits {
    own: Option<StreamId>,
    events: SmallVec<[Wait; 4]>,
}

#[derive(Debug)]
struct Wait {
    event: Arc<dyn DeviceEvent>,
    /// Whether the task uses the result of the work before the event. If not, the task only waits until that work is
    /// finished, whether or not it failed.
    is_source: bool,
}

impl Waits {
    /// Makes an empty list for work that will be enqueued on this stream.
    pub fn of_stream(stream: StreamId) -> Self {
        Self { own: Some(stream), events: SmallVec::new() }
    }

    /// Makes an empty list for a thread of the host.
    pub fn of_host() -> Self {
        Self::default()
    }

    /// Adds an event; `is_source` if the task uses the result of the work before it.
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

    /// The events, one for each stream other than the task's own.
    pub fn events(&self) -> impl ExactSizeIterator<Item = &Arc<dyn DeviceEvent>> {
        self.events.iter().map(|wait| &wait.event)
    }

    /// Makes the stream wait without blocking the caller; events that are already finished are skipped.
    ///
    /// # Errors
    /// Returns the failure of work whose result the task would use, if that failure is already known and was not
    /// reported; or the device's error.
    pub fn place(&self, stream: &dyn DeviceStream, reported: &ReportedFailures) -> Result<()> {
        self.place_and(stream, reported, |_| {})
    }

    /// [`Waits::place`], which also calls `note` with each event for which the stream waits.
    ///
    /// # Errors
    /// Returns the errors of [`Waits::place`].
    pub(super) fn place_and(
        &self,
        stream: &dyn DeviceStream,
        reported: &ReportedFailures,
        mut note: impl FnMut(&dyn DeviceEvent),
    ) -> Result<()> {
        debug_assert_eq!(self.own, Some(stream.id()), "collected for another stream");
        for Wait { event, is_source } in &self.events {
            if !event.is_finished() {
                stream.wait_for(&**event)?;
                note(&**event);
            } else if *is_source {
                // The event is finished, so this does not block.
                event.wait().or_else(|error| if reported.covers(&**event) { Ok(()) } else { Err(error) })?;
            }
        }
        Ok(())
    }

    /// Blocks the calling thread until all events are finished or failed; for a task of the host.
    ///
    /// # Errors
    /// Returns the first failure of work whose result the task would use, unless it was already reported.
    pub fn wait(&self, reported: &ReportedFailures) -> Result<()> {
        let mut result = Ok(());
        for Wait { event, is_source } in &self.events {
            if let Err(error) = event.wait()
                && *is_source
                && result.is_ok()
                && !reported.covers(&**event)
            {
                result = Err(error);
            }
        }
        result
    }

    /// [`Waits::wait`], but a failure that it returns counts as reported from then on.
    ///
    /// # Errors
    /// Returns the errors of [`Waits::wait`].
    pub fn wait_and_report(&self, reported: &ReportedFailures) -> Result<()> {
        let result = self.wait(reported);
        if result.is_err() {
            let failed = self.events.iter().filter(|wait| wait.is_source && wait.event.wait().is_err());
            failed.for_each(|wait| reported.note(&*wait.event));
        }
        result
    }

    /// Whether the list has an event of the same stream that is at or after `event`.
    pub(super) fn covers(&self, event: &dyn DeviceEvent) -> bool {
        let (stream, place) = (event.stream(), event.place());
        self.events.iter().any(|wait| wait.event.stream() == stream && wait.event.place() >= place)
    }
}
