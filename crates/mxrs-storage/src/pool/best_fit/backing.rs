//! The source of a pool's memory: reserved ranges of addresses that get memory as needed, or segments that the device
//! allocates.

use super::heap::Arena;
use super::segments;
use crate::memory::{DeviceMemory, GrowableMemory};
use std::ptr::NonNull;

/// The length in bytes of the longest range that a pool reserves initially.
const LONGEST_RANGE: u64 = 1 << 40;
/// The length in bytes of the shortest range that a pool reserves. With a shorter range it would soon need another one.
const SHORTEST_RANGE: u64 = 64 << 20;

/// How a pool gets memory; fixed when the pool is opened.
#[derive(Clone, Copy, Debug)]
pub(super) enum Backing {
    /// Memory is added to reserved ranges, unit by unit.
    Ranges {
        unit: usize,
        /// The length of the first range in bytes. Later ranges have the same length, if the system grants it and the
        /// request is not longer.
        range_bytes: usize,
    },
    /// The device allocates whole segments.
    Segments,
}

impl Backing {
    /// Reserves the first range. It is twice as long as the device's memory, because parts of it may be holes between
    /// blocks: addresses without memory. If the system refuses a length, half of that length is tried.
    pub(super) fn open(memory: &dyn DeviceMemory, total: u64, granule: usize) -> (Self, Option<(NonNull<u8>, usize)>) {
        let growable = memory.growable().map(|growable| (growable, growable.unit_bytes()));
        if let Some((growable, unit)) = growable.filter(|(_, unit)| unit.is_power_of_two() && *unit >= granule) {
            let mut wish = total.saturating_mul(2).clamp(SHORTEST_RANGE, LONGEST_RANGE);
            while wish >= SHORTEST_RANGE {
                let bytes = usize::try_from(wish).ok().and_then(|wish| wish.checked_next_multiple_of(unit));
                if let Some((start, bytes)) = bytes.and_then(|bytes| Some((reserve(growable, bytes)?, bytes))) {
                    return (Self::Ranges { unit, range_bytes: bytes }, Some((start, bytes)));
                }
                wish /= 2;
            }
        }
        (Self::Segments, None)
    }

    /// The number of bytes that are added or removed together within a range.
    pub(super) fn unit(self) -> Option<usize> {
        match self {
            Self::Ranges { unit, .. } => Some(unit),
            Self::Segments => None,
        }
    }

    /// The part of the free memory (see [`Arena`]) that may serve a request of `block_bytes`.
    pub(super) fn arena(self, block_bytes: usize) -> Arena {
        match self {
            Self::Ranges { .. } => Arena::First,
            Self::Segments => segments::arena(block_bytes),
        }
    }

    /// The lengths to try for another range if no range has room for the request, best first.
    pub(super) fn another_range(self, block_bytes: usize) -> [usize; 2] {
        match self {
            Self::Ranges { unit, range_bytes } => {
                let needed = block_bytes.checked_next_multiple_of(unit).unwrap_or(0);
                [range_bytes.max(needed), needed]
            }
            Self::Segments => [0; 2],
        }
    }
}

/// Reserves a range. A range that violates the promised alignment is unreserved again.
pub(in crate::pool) fn reserve(growable: &dyn GrowableMemory, bytes: usize) -> Option<NonNull<u8>> {
    let ptr = growable.reserve(bytes)?;
    if ptr.addr().get().is_multiple_of(growable.unit_bytes()) {
        return Some(ptr);
    }
    // SAFETY: reserved just now with this length, and not known to other code.
    unsafe { growable.unreserve(ptr, bytes) };
    None
}
