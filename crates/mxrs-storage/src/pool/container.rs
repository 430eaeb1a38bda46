//! The seam between the order of steps, which is the pool's, and how freed blocks are kept, which is a container's.

use super::Pool;
use super::record::{RecordRef, Request, Segment};
use super::rounding::SizeClass;
use std::ptr::NonNull;

/// Memory that a pool's device has just given.
pub(crate) struct Grown {
    pub(crate) ptr: NonNull<u8>,
    pub(crate) bytes: usize,
    pub(crate) pool: *const Pool,
}

/// Keeps the freed blocks of one pool. All methods run under the lock of the books, so they call nothing foreign: no
/// device, no event.
///
/// The pool does the rest: it rounds, counts, keeps a few blocks of each class with each thread in front of the
/// container, checks the reserve, asks the device, and waits for events. A record is *outside* while it is live or with
/// a thread, and *inside* between [`put`](Self::put) and [`take`](Self::take).
pub(crate) trait Container: Send {
    /// How many blocks of this size one thread may keep in front of the container; 0 for none.
    fn magazine_limit(&self, block_bytes: usize) -> usize;

    /// Whether blocks of one class can serve another (by splitting or joining). If so the threads' blocks are put inside
    /// before the pool grows.
    fn serves_other_classes(&self) -> bool;

    /// A block of this class, if there is one. It comes out without an owner.
    fn take(&mut self, class: SizeClass) -> Option<RecordRef>;

    /// Keeps a block that has no owner any more.
    fn put(&mut self, record: RecordRef);

    /// How many bytes to ask of the device when nothing serves this class.
    fn growth_bytes(&self, class: SizeClass) -> usize;

    /// Makes a block of this class, live at once, from memory the device has just given; keeps the rest. Records of
    /// `pool` are made with that pointer, which came from an `Arc`.
    fn grow(&mut self, memory: Grown, class: SizeClass, request: Request) -> RecordRef;

    /// Takes a block that has no owner any more and must not come out again. What can go back to the device now is the
    /// answer.
    fn discard(&mut self, record: RecordRef) -> Option<Segment>;

    /// Gives up everything that is inside and can go back to the device.
    fn drain(&mut self) -> Vec<Segment>;

    /// Number and bytes of what is inside.
    fn inside(&self) -> (u64, u64);

    /// Bytes of the largest block that is inside, 0 if there is none.
    fn largest_bytes(&self) -> usize;
}
