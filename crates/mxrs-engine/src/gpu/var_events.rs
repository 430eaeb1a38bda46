//! The events of one variable.

use super::waits::{EventList, Waits};
use mxrs_types::DeviceEvent;
use smallvec::SmallVec;
use std::sync::Arc;

#[cfg(all(test, not(loom)))]
pub(crate) mod tests;

/// Which device work last wrote a variable, and which has read it since: at most one writer event, and one reader event per
/// stream. One word; a variable that no GPU task used holds nothing more.
///
/// The caller serializes access, and lets the events of a task in ([`VarEvents::after`]) before it lets the next user of the
/// variable ask ([`VarEvents::before`]), as the rules of [`crate::gpu`] say.
#[derive(Debug, Default)]
pub struct VarEvents(Option<Box<Marks>>);

#[derive(Debug, Default)]
struct Marks {
    writer: Option<Arc<dyn DeviceEvent>>,
    /// Since the last write; the latest of each stream.
    readers: SmallVec<[Arc<dyn DeviceEvent>; 2]>,
}

impl VarEvents {
    /// Of a variable that no device work used.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Whether no event is kept.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|marks| marks.writer.is_none() && marks.readers.is_empty())
    }

    /// Adds what a read (the writer) or a write (the readers too) has to wait for. Asks no device anything.
    pub fn before(&self, write: bool, waits: &mut Waits) {
        let Some(marks) = &self.0 else { return };
        if let Some(writer) = &marks.writer {
            waits.add(writer, true);
        }
        if write {
            for reader in &marks.readers {
                waits.add(reader, false);
            }
        }
    }

    /// Notes the event of a task that waited for what [`VarEvents::before`] named, and has enqueued its work.
    pub fn after(&mut self, event: &Arc<dyn DeviceEvent>, write: bool) {
        let marks = self.0.get_or_insert_default();
        if write {
            marks.readers.clear();
            marks.writer = Some(Arc::clone(event));
            return;
        }
        match marks.readers.iter_mut().find(|reader| reader.stream() == event.stream()) {
            // Two workers may share a stream, and come here in the other order than their events.
            Some(reader) if reader.place() < event.place() => *reader = Arc::clone(event),
            Some(_) => {}
            None => marks.readers.push(Arc::clone(event)),
        }
    }

    /// Notes a host task that waited for what [`VarEvents::before`] named. A host read has left no trace when it is over;
    /// before a host write, everything was waited for.
    pub fn after_host(&mut self, write: bool) {
        if write && let Some(marks) = &mut self.0 {
            marks.writer = None;
            marks.readers.clear();
        }
    }

    /// Forgets the events that the host has waited for, so that a failure among them is not told again.
    pub fn forget(&mut self, waited: &Waits) {
        if let Some(marks) = &mut self.0 {
            marks.writer.take_if(|event| waited.covers(&**event));
            marks.readers.retain(|event| !waited.covers(&**event));
        }
    }

    /// Hands out all events, to whoever frees what the variable stood for.
    pub fn drain(&mut self) -> EventList {
        let Some(marks) = self.0.take() else { return EventList::new() };
        marks.writer.into_iter().chain(marks.readers).collect()
    }
}
