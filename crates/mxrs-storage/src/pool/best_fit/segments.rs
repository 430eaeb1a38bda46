//! The sizes of segments to request.
//!
//! Small requests share short segments, so that a small block that stays does not keep a long segment from being
//! returned; medium requests share longer ones; a large request has its own segment. The sizes are those of PyTorch's
//! caching allocator.

use super::heap::Arena;

/// Requests up to this many bytes share segments of [`SMALL_SEGMENT`] bytes.
pub(super) const SMALL: usize = 1 << 20;
const SMALL_SEGMENT: usize = 2 << 20;
/// Requests up to this many bytes share segments of [`MEDIUM_SEGMENT`] bytes.
const MEDIUM: usize = 10 << 20;
const MEDIUM_SEGMENT: usize = 20 << 20;
/// Segments of large requests are multiples of this many bytes.
const LARGE_UNIT: usize = 2 << 20;

/// Which part of the free memory serves a request: small requests have their own segments.
pub(super) fn arena(block_bytes: usize) -> Arena {
    if block_bytes <= SMALL { Arena::First } else { Arena::Large }
}

/// The size in bytes of the segment to request from the device.
pub(super) fn segment_bytes(block_bytes: usize) -> usize {
    if block_bytes <= SMALL {
        SMALL_SEGMENT
    } else if block_bytes <= MEDIUM {
        MEDIUM_SEGMENT
    } else {
        block_bytes.checked_next_multiple_of(LARGE_UNIT).unwrap_or(block_bytes)
    }
}
