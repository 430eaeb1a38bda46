//! The events of one variable.

use super::waits::{EventList, Waits};
use mxrs_types::DeviceEvent;
use smallvec::SmallVec;
use std::sync::Arc;

/// The device work that last wrote a variable, and the work that has read it since: at most one writer event, and one
/// reader event per stream. Takes one word; a variable that no GPU task has used allocates nothing more.
///
/// The caller serializes access, and adds the events of a task ([`VarEvents::after`]) before the next user of the
/// variable requests them ([`VarEvents::before`]), as the rules of [`crate::gpu`] require.
#[derive(Debug, Default)]
pub struct VarEvents(Option<Box<Marks>>);

#[derive(Debug, Default)]
struct Marks {
    writer: Option<Arc<dyn DeviceEvent>>,
    /// The latest event of each stream since the last write.
    readers: SmallVec<[Arc<dyn DeviceEvent>; 2]>,
    /// Work on the same memory from before the variable existed. Every access waits for it, and uses no result of it.
    former: Vec<Arc<dyn DeviceEvent>>,
}

impl VarEvents {
    /// The events of a variable that no device work has used: none.
    pub const fn new() -> Self {
        Self(None)
    }

    /// The events of a variable whose memory is still used by this earlier work: every access until the first write waits
    /// for the work, and a failure of the work is not an error of the access.
    pub fn of_former(former: Vec<Arc<dyn DeviceEvent>>) -> Self {
        if former.is_empty() { Self(None) } else { Self(Some(Box::new(Marks { former, ..Marks::default() }))) }
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.0
            .as_ref()
            .is_none_or(|marks| marks.writer.is_none() && marks.readers.is_empty() && marks.former.is_empty())
    }

    /// Adds to `waits` the events that the next access has to wait for: the writer event for a read; the writer event
    /// and all reader events for a write. Does not query a device.
    pub fn before(&self, write: bool, waits: &mut Waits) {
        let Some(marks) = &self.0 else { return };
        if let Some(writer) = &marks.writer {
            waits.add(writer, true);
        }
        for former in &marks.former {
            waits.add(former, false);
        }
        if write {
            for reader in &marks.readers {
                waits.add(reader, false);
            }
        }
    }

    /// Adds the event of a task that has enqueued its work after waiting for the events from [`VarEvents::before`].
    pub fn after(&mut self, event: &Arc<dyn DeviceEvent>, write: bool) {
        let marks = self.0.get_or_insert_default();
        if write {
            marks.readers.clear();
            marks.former.clear();
            marks.writer = Some(Arc::clone(event));
            return;
        }
        match marks.readers.iter_mut().find(|reader| reader.stream() == event.stream()) {
            // Two workers that share a stream may call this function in the opposite order of their events, so the
            // later event is kept.
            Some(reader) if reader.place() < event.place() => *reader = Arc::clone(event),
            Some(_) => {}
            None => marks.readers.push(Arc::clone(event)),
        }
    }

    /// Records a host task that has waited for the events from [`VarEvents::before`]. A host read leaves no event; a
    /// host write has waited for everything, so all events are dropped.
    pub fn after_host(&mut self, write: bool) {
        if write && let Some(marks) = &mut self.0 {
            marks.writer = None;
            marks.readers.clear();
            marks.former.clear();
        }
    }

    /// Drops the events that the host has waited for, so that a failure among them is not reported again.
    pub fn forget(&mut self, waited: &Waits) {
        if let Some(marks) = &mut self.0 {
            marks.writer.take_if(|event| waited.covers(&**event));
            marks.readers.retain(|event| !waited.covers(&**event));
            marks.former.retain(|event| !waited.covers(&**event));
        }
    }

    /// Takes all events, for the code that frees the variable's memory.
    pub fn drain(&mut self) -> EventList {
        let Some(marks) = self.0.take() else { return EventList::new() };
        marks.writer.into_iter().chain(marks.readers).chain(marks.former).collect()
    }
}
