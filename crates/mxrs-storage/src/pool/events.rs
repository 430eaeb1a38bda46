//! S9: a block that other streams may still use is waited for before it changes hands.

use super::Pool;
use super::counts::Counts;
use super::record::{Record, RecordRef, Segment};
use mxrs_types::{DeviceStream, Result};

impl Pool {
    /// Makes `stream`, or the host, wait for the former owners of a block that has just been handed out. If that fails
    /// the block goes back as if it had never been handed out.
    #[cold]
    pub(super) fn settle(&self, record: RecordRef, stream: Option<&dyn DeviceStream>) -> Result<()> {
        let events = record.take_events();
        let outcome = match stream {
            Some(stream) => events
                .iter()
                .filter(|event| event.stream() != stream.id() && !event.is_finished())
                .try_for_each(|event| stream.wait_for(&**event)),
            None => events.iter().try_for_each(|event| event.wait()),
        };
        // What a stream has been told to wait for may be unfinished still, and the next owner may be another.
        if stream.is_some() || outcome.is_err() {
            Record::mark(&record, events.into_iter().filter(|event| !event.is_finished()));
        }
        outcome.map_err(|error| {
            self.unhit(record);
            error.context(format!("waiting for earlier work on {} bytes of {}", record.block_bytes(), self.device))
        })
    }

    /// Puts a block back on top of its list and takes the hit back.
    fn unhit(&self, record: RecordRef) {
        let tag = self.with_books(|books| {
            let tag = books.retire(record, Counts::unhit);
            books.put(record);
            tag
        });
        drop(tag);
    }

    /// Returns memory to the device once nothing uses it any more.
    pub(super) fn give_back(&self, segment: Segment) {
        for event in &segment.events {
            if let Err(error) = event.wait()
                && !event.is_finished()
            {
                let (bytes, device) = (segment.bytes, self.device);
                tracing::error!(target: "mxrs_storage", "{bytes} bytes of {device} may be in use for ever: {error}");
                self.books.lock().stats.abandoned_bytes += bytes as u64;
                return;
            }
        }
        // SAFETY: the segment is the sole owner of memory that `self.memory.allocate(bytes)` gave; it has left every list,
        // and all work on it is finished.
        unsafe { self.memory.free(segment.ptr, segment.bytes) };
    }
}
