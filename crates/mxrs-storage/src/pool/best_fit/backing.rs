//! Where the memory of a pool comes from: ranges that grow, or segments.

use super::books::Books;
use super::heap::{Arena, Heap};
use super::segments;
use crate::memory::{DeviceMemory, GrowableMemory};
use std::ptr::NonNull;

/// The longest range that a pool reserves unasked.
const LONGEST_RANGE: u64 = 1 << 40;
/// A shorter range is not worth having: the pool would soon need another one.
const SHORTEST_RANGE: u64 = 64 << 20;

/// See the module. A pool keeps the kind it was opened with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Backing {
    /// Memory appears in reserved ranges, unit by unit.
    Ranges {
        unit: usize,
        /// Bytes of an ordinary range.
        range_bytes: usize,
    },
    /// The device allocates whole segments.
    Segments,
}

impl Backing {
    /// Reserves the first range, twice as long as the device is large: memory that cannot be joined for a while leaves
    /// holes, and the range should outlast them. Where the system grants less, half of it, and so on.
    pub(super) fn open(memory: &dyn DeviceMemory, total: u64, granule: usize) -> (Self, Books) {
        let growable = memory.growable().map(|growable| (growable, growable.unit_bytes()));
        if let Some((growable, unit)) = growable.filter(|(_, unit)| unit.is_power_of_two() && *unit >= granule) {
            let mut wish = total.saturating_mul(2).clamp(SHORTEST_RANGE, LONGEST_RANGE);
            while wish >= SHORTEST_RANGE {
                let bytes = usize::try_from(wish).ok().and_then(|wish| wish.checked_next_multiple_of(unit));
                if let Some((start, bytes)) = bytes.and_then(|bytes| Some((reserve(growable, bytes)?, bytes))) {
                    let mut books = Books::new(Heap::new(granule, Some(unit)));
                    books.add_range(start, bytes);
                    return (Self::Ranges { unit, range_bytes: bytes }, books);
                }
                wish /= 2;
            }
        }
        (Self::Segments, Books::new(Heap::new(granule, None)))
    }

    /// Which free memory may serve a request.
    pub(super) fn arena(self, block_bytes: usize) -> Arena {
        match self {
            Self::Ranges { .. } => Arena::First,
            Self::Segments => segments::arena(block_bytes),
        }
    }

    /// Another range for a request that no range has room for; `None` if the system grants none.
    pub(super) fn another_range(self, memory: &dyn DeviceMemory, block_bytes: usize) -> Option<(usize, usize)> {
        let Self::Ranges { unit, range_bytes } = self else { return None };
        let growable = memory.growable()?;
        let needed = block_bytes.checked_next_multiple_of(unit)?;
        [range_bytes.max(needed), needed].into_iter().find_map(|bytes| Some((reserve(growable, bytes)?, bytes)))
    }

    /// Returns memory to the device.
    ///
    /// # Safety
    /// The range is whole units that have memory, or a whole segment, nothing uses it, and it has left the books.
    pub(super) unsafe fn give_back(self, memory: &dyn DeviceMemory, ptr: NonNull<u8>, len: usize) {
        match (self, memory.growable()) {
            // SAFETY: units with memory, by the caller's promise.
            (Self::Ranges { .. }, Some(growable)) => unsafe { growable.decommit(ptr, len) },
            (Self::Ranges { .. }, None) => debug_assert!(false, "a device that could grow no longer can"),
            // SAFETY: a segment came from `allocate` with its whole length, and leaves once, by the caller's promise.
            (Self::Segments, _) => unsafe { memory.free(ptr, len) },
        }
    }

    /// Gives a range up.
    ///
    /// # Safety
    /// It was reserved with this length, is given up once, and nothing uses it.
    pub(super) unsafe fn unreserve(self, memory: &dyn DeviceMemory, ptr: NonNull<u8>, len: usize) {
        if let Some(growable) = memory.growable() {
            // SAFETY: the caller's promise is the same.
            unsafe { growable.unreserve(ptr, len) };
        }
    }
}

/// The first address of a new range. A range that breaks the promise of alignment is given up again.
fn reserve(growable: &dyn GrowableMemory, bytes: usize) -> Option<usize> {
    let ptr = growable.reserve(bytes)?;
    if ptr.addr().get().is_multiple_of(growable.unit_bytes()) {
        return Some(ptr.expose_provenance().get());
    }
    // SAFETY: reserved just now with this length; nobody else has seen it.
    unsafe { growable.unreserve(ptr, bytes) };
    None
}
