//! The first 64 bytes of a segment of shared memory.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The size of the header in bytes; the data after it has the same alignment.
pub(super) const HEADER_BYTES: usize = 64;

/// The first eight bytes of a header: `mxrsshm` and the version of the layout.
const MAGIC: u64 = u64::from_ne_bytes(*b"mxrsshm\x01");

/// The header. Other processes write this memory, so every field is atomic.
#[repr(C, align(64))]
pub(super) struct Header {
    magic: AtomicU64,
    len: AtomicU64,
    count: AtomicU32,
}

const _: () = assert!(size_of::<Header>() == HEADER_BYTES);

/// Why a segment cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    Magic(u64),
    /// The length that the header states is wrong: that length, and the number of bytes that really follow the header.
    Length(u64, u64),
    NoOwner,
    TooMany,
}

impl Header {
    /// The header at the start of a mapping.
    ///
    /// # Safety
    /// `start` is a multiple of 64. At least [`HEADER_BYTES`] bytes from it are mapped, readable and writable for as long as
    /// the result is used.
    pub(super) unsafe fn at<'a>(start: NonNull<u8>) -> &'a Self {
        // SAFETY: the caller guarantees that the bytes of the header are mapped. Atomics allow concurrent writes by
        // other processes, and every bit pattern is valid.
        unsafe { start.cast::<Self>().as_ref() }
    }

    /// Fills the header of a new segment, which has `len` bytes of data and one mapping.
    pub(super) fn write(&self, len: u64) {
        self.len.store(len, Ordering::Relaxed);
        self.count.store(1, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Release);
    }

    /// Adds one to the number of mappings of a segment with `available` bytes after the header; returns the length of the
    /// data.
    pub(super) fn join(&self, available: u64) -> Result<u64, Unusable> {
        let magic = self.magic.load(Ordering::Acquire);
        if magic != MAGIC {
            return Err(Unusable::Magic(magic));
        }
        let len = self.len.load(Ordering::Relaxed);
        if len == 0 || len > available {
            return Err(Unusable::Length(len, available));
        }
        let more = |count: u32| if count == 0 { None } else { count.checked_add(1) };
        match self.count.fetch_update(Ordering::AcqRel, Ordering::Relaxed, more) {
            Ok(_) => Ok(len),
            Err(0) => Err(Unusable::NoOwner),
            Err(_) => Err(Unusable::TooMany),
        }
    }

    /// Subtracts one from the number of mappings. The number never falls below 0, even if another process has written a
    /// wrong value.
    pub(super) fn leave(&self) {
        let _ = self.count.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |count| count.checked_sub(1));
    }

    /// The number of mappings according to the header.
    pub(super) fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }
}
