//! Waits for the events that former owners left on a block, before the block gets another owner (guarantee S9 of the
//! pools).

use super::Pool;
use super::container::Apart;
use super::counts::Counts;
use super::record::{Events, Record, RecordRef, Segment};
use crate::records;
use mxrs_types::{DeviceStream, Result};

/// Whether to wait for events that are not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// Do not wait for unfinished events.
    None,
    /// Wait on the host for unfinished events, without a time limit.
    Endless,
}

/// What waits for the unfinished work of the former owners of a block that is allocated.
pub(crate) enum WaitBy<'a> {
    /// The calling thread.
    Host,
    /// This stream, on the device.
    Stream(&'a dyn DeviceStream),
    /// The new owner: the events of unfinished work are added to this list.
    Owner(&'a mut Events),
}

impl Pool {
    /// Makes `wait_by` wait for the work of the former owners of a block that was just allocated. If that fails, the block
    /// is put back as if it had not been allocated.
    #[cold]
    pub(super) fn settle(&self, record: RecordRef, wait_by: WaitBy<'_>) -> Result<()> {
        let events = record.take_events();
        let is_host = matches!(wait_by, WaitBy::Host);
        let outcome = match wait_by {
            WaitBy::Stream(stream) => events
                .iter()
                .filter(|event| event.stream() != stream.id() && !event.is_finished())
                .try_for_each(|event| stream.wait_for(&**event)),
            WaitBy::Owner(list) => {
                list.extend(events.iter().filter(|event| !event.is_finished()).cloned());
                Ok(())
            }
            WaitBy::Host => events.iter().try_for_each(|event| event.wait()),
        };
        // Unless the host has waited for them, the events are kept: they may be unfinished, and the next owner may use
        // another stream.
        if !is_host || outcome.is_err() {
            Record::mark(&record, events.into_iter().filter(|event| !event.is_finished()));
        }
        outcome.map_err(|error| {
            self.unhit(record);
            error.context(format!("waiting for earlier work on {} bytes of {}", record.block_bytes(), self.device))
        })
    }

    /// Puts a block back where it was taken from (the thread's cache or the container), and undoes the counting of the
    /// hit.
    fn unhit(&self, record: RecordRef) {
        let tag = self.with_books(|books| {
            let tag = books.retire(record, Counts::unhit);
            books.put(record);
            tag
        });
        drop(tag);
    }

    /// Waits on the host for all events of a block that its owner is freeing; returns whether all are finished.
    pub(super) fn wait_for_all(&self, record: RecordRef) -> bool {
        let mut events = record.take_events();
        events.retain(|event| event.wait().is_err() && !event.is_finished());
        let all = events.is_empty();
        record.mark(events);
        all
    }

    /// The container sets blocks apart because of their events. This function lets the container join those whose events are
    /// finished. If `patience` is `Endless`, it first waits for all events. Returns false if no event was finished and none
    /// will stay unfinished forever.
    pub(super) fn join_finished(&self, patience: Patience) -> bool {
        if !self.joins {
            return false;
        }
        // Events are queried while no lock is held. If a block changes meanwhile, the container notices it.
        let mut apart = self.books.lock().container.apart();
        let mut unending = Vec::new();
        for block in &mut apart {
            if patience == Patience::Endless
                && let Some(error) =
                    block.events.iter().find_map(|event| event.wait().err().filter(|_| !event.is_finished()))
            {
                tracing::error!(target: "mxrs_storage", "memory of {} may be in use forever: {error}", self.device);
                unending.push(Apart { record: block.record, key: block.key, events: block.events.clone() });
            }
            block.events.retain(|event| event.is_finished());
        }
        apart.retain(|block| !block.events.is_empty());
        if apart.is_empty() && unending.is_empty() {
            return false;
        }
        let mut books = self.books.lock();
        let gone = (books.abandon(&unending), books.container.join(&apart));
        drop(books);
        drop(gone);
        true
    }

    /// Returns memory to the device once nothing uses it any more.
    pub(super) fn give_back(&self, segment: Segment) {
        for event in &segment.events {
            if let Err(error) = event.wait()
                && !event.is_finished()
            {
                let (bytes, device) = (segment.bytes, self.device);
                tracing::error!(target: "mxrs_storage", "{bytes} bytes of {device} may be in use forever: {error}");
                self.books.lock().stats.abandoned_bytes += bytes as u64;
                return;
            }
        }
        let Segment { ptr, bytes, leaving, .. } = segment;
        // The record is made before the device gets the memory back. Afterwards another thread may get the same memory, and
        // its record would come first.
        records::returned(self.device, ptr, bytes);
        match self.memory.growable().filter(|_| self.regroups) {
            // SAFETY: the container has set these units of a range aside; they have memory that nothing uses.
            Some(growable) => unsafe { growable.decommit(ptr, bytes) },
            // SAFETY: the segment is the only owner of memory from `self.memory.allocate(bytes)`; it is in no list, and
            // all work on it is finished.
            None => unsafe { self.memory.free(ptr, bytes) },
        }
        if let Some(leaving) = leaving {
            self.books.lock().container.left(leaving);
        }
    }
}
