//! The interface between the pool, which decides the order of steps, and a container, which keeps freed blocks.

use super::Pool;
use super::best_fit::{Claim, Leaving};
use super::record::{Events, RecordRef, Request, Segment};
use super::rounding::SizeClass;
use std::ptr::NonNull;

/// Memory that a pool's device has just provided.
pub(crate) struct Grown {
    pub(crate) ptr: NonNull<u8>,
    pub(crate) bytes: usize,
    pub(crate) pool: *const Pool,
    /// The reserved addresses behind which the memory was added; `None` if the device chose the addresses.
    pub(crate) claim: Option<Claim>,
}

/// How the pool should get memory for a container.
pub(crate) enum Growth {
    /// The device allocates this many bytes.
    Allocate(usize),
    /// The device adds memory behind reserved addresses, which are now set aside.
    Commit(Claim),
    /// The device first reserves another range of addresses. The pool tries these two lengths in order.
    Reserve([usize; 2]),
}

/// Keeps the freed blocks of one pool. All methods run under the lock of the pool's shared data (`Books`), so they call
/// no device and no event.
///
/// The pool does the rest: it rounds, counts, caches a few blocks per thread in front of the container, keeps some of
/// the device's memory free, asks the device for memory, and waits for events. A record is *outside* while it is live
/// or cached by a thread, and *inside* between [`put`](Self::put) and [`take`](Self::take).
///
/// A container that *joins* blocks creates and destroys records as it splits and joins. It sets a block with events *apart*:
/// that block serves only its own class until the pool reports that the events are finished.
pub(crate) trait Container: Send {
    /// How many bytes all threads together may cache, if the pool holds `reserved` bytes.
    fn front_bytes(&self, _reserved: u64) -> usize {
        usize::MAX
    }

    /// Takes a block of this size class, if there is one. The block has no owner.
    fn take(&mut self, class: SizeClass) -> Option<RecordRef>;

    /// Adds a block that has no owner.
    fn put(&mut self, record: RecordRef);

    /// How many bytes to request from the device if no block serves this class.
    fn growth_bytes(&self, class: SizeClass) -> usize;

    /// The smallest number of bytes from the device that serves this class, if it is less than
    /// [`growth_bytes`](Self::growth_bytes).
    fn least_bytes(&self, _class: SizeClass) -> Option<usize> {
        None
    }

    /// Decides how to get memory for a block of this class. If the memory will be added behind reserved addresses, sets
    /// these addresses aside.
    fn begin_growth(&mut self, class: SizeClass) -> Growth {
        Growth::Allocate(self.growth_bytes(class))
    }

    /// Adds a range of addresses that the device has reserved.
    fn add_range(&mut self, _start: NonNull<u8>, _bytes: usize) {}

    /// Makes a live block of this class from memory that the device has just provided, and keeps the rest of that memory.
    /// The block's record points to `memory.pool`, which came from an `Arc`.
    fn grow(&mut self, memory: Grown, class: SizeClass, request: Request) -> RecordRef;

    /// Called if the device refused to add memory behind addresses that were set aside.
    fn not_grown(&mut self, _claim: Claim) {}

    /// Receives a block that has no owner and must not be reused. Returns the memory that can go back to the device now.
    fn discard(&mut self, record: RecordRef) -> Option<Segment>;

    /// Removes all freed blocks from the container whose memory can go back to the device, and returns that memory.
    fn drain(&mut self) -> Vec<Segment>;

    /// Called when the device has removed the memory of `_leaving`.
    fn left(&mut self, _leaving: Leaving) {}

    /// The number and the bytes of the freed blocks in the container.
    fn inside(&self) -> (u64, u64);

    /// The size in bytes of the largest freed block in the container; 0 if there is none.
    fn largest_bytes(&self) -> usize;

    /// The blocks that the container does not join because of their events, with copies of the events.
    fn apart(&self) -> Vec<Apart> {
        Vec::new()
    }

    /// Called when the events of these blocks, which were set apart, are finished: a block without other events may be
    /// joined. Returns the container's copies of the events, which must be dropped without a lock.
    fn join(&mut self, _finished: &[Apart]) -> Vec<Events> {
        Vec::new()
    }

    /// Called for blocks whose events will never finish; these blocks must not be reused. Returns the number of their bytes,
    /// and the container's copies of the events, as [`join`](Self::join) does.
    fn abandon(&mut self, _unending: &[Apart]) -> (u64, Vec<Events>) {
        (0, Vec::new())
    }

    /// Ends the container. Returns the first address and the length of each reserved range.
    fn close(&mut self) -> Vec<(NonNull<u8>, usize)> {
        Vec::new()
    }

    /// Whether memory is returned to the device in pieces other than those in which it was provided.
    fn regroups(&self) -> bool {
        false
    }
}

/// A block that was set apart (not joined, because it has events) when this value was made. The block may have changed
/// or been destroyed since, so its record must not be read.
pub(crate) struct Apart {
    pub(crate) record: RecordRef,
    pub(crate) key: usize,
    pub(crate) events: Events,
}
