//! The system's allocator with a counter in front of it, for programs that report allocations per call.

use mxrs_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::alloc::{GlobalAlloc, Layout, System};

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The system's allocator. It counts calls while [`allocations`] runs; at other times a call costs one extra load of a flag.
#[derive(Debug)]
pub struct Counting;

fn note() {
    if IS_COUNTING.load(Ordering::Relaxed) {
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call goes unchanged to `System`, which keeps the contract; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, and `System` requires the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, and `System` requires the same contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note();
        // SAFETY: the caller got `ptr` from this allocator, which got it from `System`, and keeps the rest of the contract.
        unsafe { System.realloc(ptr, layout, new_size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller got `ptr` from this allocator, which got it from `System`, and keeps the rest of the contract.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// Runs `work` and returns the number of allocations and reallocations by Rust code on all threads meanwhile. Always 0 in a
/// program whose `#[global_allocator]` is not [`Counting`]. Only one call may be active at a time.
pub fn allocations(work: impl FnOnce()) -> u64 {
    COUNT.store(0, Ordering::Relaxed);
    IS_COUNTING.store(true, Ordering::SeqCst);
    work();
    IS_COUNTING.store(false, Ordering::SeqCst);
    COUNT.load(Ordering::Relaxed)
}
