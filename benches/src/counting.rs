//! The system's allocator with a counter in front, for programs that report allocations per call.

use mxrs_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::alloc::{GlobalAlloc, Layout, System};

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The system's allocator; counts while [`allocations`] runs, and is one load of a flag dearer at other times.
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
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note();
        // SAFETY: `ptr` came from `System` by way of this allocator; the rest is the caller's promise.
        unsafe { System.realloc(ptr, layout, new_size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: `ptr` came from `System` by way of this allocator; the rest is the caller's promise.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// Allocations and reallocations of Rust code on all threads while `work` runs; always 0 in a program whose
/// `#[global_allocator]` is not [`Counting`]. One caller at a time.
pub fn allocations(work: impl FnOnce()) -> u64 {
    COUNT.store(0, Ordering::Relaxed);
    IS_COUNTING.store(true, Ordering::SeqCst);
    work();
    IS_COUNTING.store(false, Ordering::SeqCst);
    COUNT.load(Ordering::Relaxed)
}
