//! Counts the writes to a block of storage at the time when the writes are requested.
//!
//! The engine's version numbers cannot replace this count: they count completed writes only, and several writes of one
//! bulk as one write. This count also shows whether a value that a pending task reads is going to be overwritten.

use mxrs_sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::panic::Location;

/// The number of writes, and the program line of the last one.
pub(crate) struct Writes {
    count: AtomicU64,
    /// A pointer from a `&'static Location`, or null.
    last: AtomicPtr<Location<'static>>,
}

impl Default for Writes {
    fn default() -> Self {
        Self { count: AtomicU64::new(0), last: AtomicPtr::new(std::ptr::null_mut()) }
    }
}

impl Writes {
    pub(crate) fn note(&self, site: &'static Location<'static>) {
        self.last.store(std::ptr::from_ref(site).cast_mut(), Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    pub(crate) fn last(&self) -> Option<&'static Location<'static>> {
        let last = self.last.load(Ordering::Relaxed);
        // SAFETY: null or a pointer from a `&'static Location` in `note`, which is never written through.
        unsafe { last.as_ref() }
    }
}
