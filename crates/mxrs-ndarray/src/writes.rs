//! How often a storage has been written, counted when writes are asked for.
//!
//! The engine's versions count completed writes and let the writes of one bulk count once, so they cannot tell whether a
//! value read by a pending task has been overwritten since; this count can.

use mxrs_sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::panic::Location;

/// Count of writes and the place of the last.
pub(crate) struct Writes {
    count: AtomicU64,
    /// Of a `&'static Location`, or null.
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
        // SAFETY: null, or made of a `&'static Location` in `note`, and only ever read.
        unsafe { last.as_ref() }
    }
}
