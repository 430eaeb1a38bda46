//! The first 64 bytes of a segment.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes of the header; the data after it is aligned like it.
pub(super) const HEADER_BYTES: usize = 64;

/// `mxrsshm` and the version of this layout.
const MAGIC: u64 = u64::from_ne_bytes(*b"mxrsshm\x01");

/// Lies in memory that other processes write, so every field is atomic.
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
    /// What the header says, and how many bytes follow it.
    Length(u64, u64),
    NoOwner,
    TooMany,
}

impl Header {
    /// The header at the start of a mapping.
    ///
    /// # Safety
    /// At least [`HEADER_BYTES`] bytes from `start` are mapped, readable and writable, at a multiple of 64, for as long as
    /// the result is used.
    pub(super) unsafe fn at<'a>(start: NonNull<u8>) -> &'a Self {
        // SAFETY: the caller promises the bytes; atomics allow that others write them at the same time, and every bit
        // pattern is one.
        unsafe { start.cast::<Self>().as_ref() }
    }

    /// Fills the header of a new segment: one mapping.
    pub(super) fn write(&self, len: u64) {
        self.len.store(len, Ordering::Relaxed);
        self.count.store(1, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Release);
    }

    /// Counts one more mapping of a segment with `available` bytes behind the header; its length.
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

    /// Takes one mapping away. A peer may have written nonsense: the count does not fall below 0.
    pub(super) fn leave(&self) {
        let _ = self.count.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |count| count.checked_sub(1));
    }

    /// Mappings that are counted now.
    pub(super) fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }
}
