//! The seam between the order of steps, which is the pool's, and how freed blocks are kept, which is a container's.

use super::Pool;
use super::best_fit::{Claim, Leaving};
use super::record::{Events, RecordRef, Request, Segment};
use super::rounding::SizeClass;
use std::ptr::NonNull;

/// Memory that a pool's device has just given.
pub(crate) struct Grown {
    pub(crate) ptr: NonNull<u8>,
    pub(crate) bytes: usize,
    pub(crate) pool: *const Pool,
    /// The reserved addresses that the memory was put behind; `None` where the device chose them.
    pub(crate) claim: Option<Claim>,
}

/// How a container wants to grow.
pub(crate) enum Growth {
    /// By so many bytes that the device allocates.
    Allocate(usize),
    /// By memory behind reserved addresses, which are now set aside.
    Commit(Claim),
    /// By a range of addresses first: one of these lengths, the first that can be had.
    Reserve([usize; 2]),
}

/// Keeps the freed blocks of one pool. All methods run under the lock of the books, so they call nothing foreign: no
/// device, no event.
///
/// The pool does the rest: it rounds, counts, keeps a few blocks with each thread in front of the container, checks the reserve, asks the device, and waits for events. A record is *outside* while it is live or with
/// a thread, and *inside* between [`put`](Self::put) and [`take`](Self::take).
///
/// A container that *joins* blocks makes records and ends them as it cuts and joins. A block with events it sets *apart*,
/// to serve its own class only, until the pool says that they are finished.
pub(crate) trait Container: Send {
    /// How many bytes all threads together may keep in front of the container, of a pool that holds `reserved` bytes.
    fn front_bytes(&self, _reserved: u64) -> usize {
        usize::MAX
    }

    /// A block of this class, if there is one. It comes out without an owner.
    fn take(&mut self, class: SizeClass) -> Option<RecordRef>;

    /// Keeps a block that has no owner any more.
    fn put(&mut self, record: RecordRef);

    /// How many bytes will be asked of the device when nothing serves this class.
    fn growth_bytes(&self, class: SizeClass) -> usize;

    /// The least that will do for this class, where that is less than [`growth_bytes`](Self::growth_bytes).
    fn least_bytes(&self, _class: SizeClass) -> Option<usize> {
        None
    }

    /// Begins to grow for this class.
    fn begin_growth(&mut self, class: SizeClass) -> Growth {
        Growth::Allocate(self.growth_bytes(class))
    }

    /// Addresses that the device has reserved.
    fn add_range(&mut self, _start: NonNull<u8>, _bytes: usize) {}

    /// Makes a block of this class, live at once, from memory the device has just given; keeps the rest. Records of
    /// `pool` are made with that pointer, which came from an `Arc`.
    fn grow(&mut self, memory: Grown, class: SizeClass, request: Request) -> RecordRef;

    /// The device refused to put memory behind addresses that were set aside.
    fn not_grown(&mut self, _claim: Claim) {}

    /// Takes a block that has no owner any more and must not come out again. What can go back to the device now is the
    /// answer.
    fn discard(&mut self, record: RecordRef) -> Option<Segment>;

    /// Gives up everything that is inside and can go back to the device.
    fn drain(&mut self) -> Vec<Segment>;

    /// The device has memory back that was given up.
    fn left(&mut self, _leaving: Leaving) {}

    /// Number and bytes of what is inside.
    fn inside(&self) -> (u64, u64);

    /// Bytes of the largest block that is inside, 0 if there is none.
    fn largest_bytes(&self) -> usize;

    /// The blocks that are set apart, with copies of their events.
    fn apart(&self) -> Vec<Apart> {
        Vec::new()
    }

    /// Some events are finished: what has no others may be joined. Answers the container's copies, which are to be
    /// dropped without a lock.
    fn join(&mut self, _finished: &[Apart]) -> Vec<Events> {
        Vec::new()
    }

    /// Events will never be finished: their blocks must not come out again. Answers how many bytes that were, and copies
    /// as for [`join`](Self::join).
    fn abandon(&mut self, _unending: &[Apart]) -> (u64, Vec<Events>) {
        (0, Vec::new())
    }

    /// The pool ends: the reserved addresses, first ones and lengths.
    fn close(&mut self) -> Vec<(NonNull<u8>, usize)> {
        Vec::new()
    }

    /// Whether the device gets memory back in other pieces than it gave.
    fn regroups(&self) -> bool {
        false
    }
}

/// A block that was set apart at some moment. It may have moved on, or be gone, so the record is not looked into.
pub(crate) struct Apart {
    pub(crate) record: RecordRef,
    pub(crate) key: usize,
    pub(crate) events: Events,
}
