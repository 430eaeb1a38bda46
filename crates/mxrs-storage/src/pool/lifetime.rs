//! How long a pool lives (rule 8 of the pools), and what happens at the end of a thread that uses it (rule 9).

use super::Pool;
use super::events::Patience;
use super::search;
use super::thread_cache::ThreadCache;
use mxrs_sync::Arc;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that identifies the pool in the process. The counter is the standard library's atomic even under loom,
/// because no other access depends on its order.
pub(super) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Makes a counted reference to a pool from the uncounted reference of a block.
///
/// # Safety
/// `pool` came from an `Arc`, and the pool exists.
pub(super) unsafe fn counted(pool: NonNull<Pool>) -> Arc<Pool> {
    // SAFETY: the caller guarantees that the pool exists; `from_raw` takes over the count that was just added.
    unsafe {
        Arc::increment_strong_count(pool.as_ptr());
        Arc::from_raw(pool.as_ptr())
    }
}

impl Pool {
    /// Orphans the pool when the last handle is dropped: each live block gets a counted reference, and cached blocks
    /// are returned to the device.
    pub(crate) fn orphan(self: &Arc<Self>) {
        let segments = self.frozen(|books, caches| {
            books.orphaned = true;
            caches.iter_mut().for_each(|cache| cache.orphaned = true);
            search::gather(books, caches);
            // `free_directly` of each block takes over one of these references.
            (0..books.stats.live_blocks).for_each(|_| std::mem::forget(Arc::clone(self)));
            books.drain()
        });
        segments.into_iter().for_each(|segment| self.give_back(segment));
        if self.join_finished(Patience::Endless) {
            let segments = self.books.lock().drain();
            segments.into_iter().for_each(|segment| self.give_back(segment));
        }
    }

    /// Removes the cache of a thread that ends.
    pub(super) fn dismiss(&self, cache: &Arc<ThreadCache>) {
        let mut threads = self.threads.lock();
        let mut contents = cache.lock();
        let mut books = self.books.lock();
        books.stats.fold(&mut contents.counts);
        contents.clear().into_iter().for_each(|record| books.put(record));
        threads.caches.retain(|other| !Arc::ptr_eq(other, cache));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let Some(growable) = self.memory.growable().filter(|_| self.regroups) else { return };
        let ranges = self.books.lock().container.close();
        for (start, bytes) in ranges {
            // SAFETY: the range was reserved with this length and is unreserved once. No block is left in it, because blocks
            // keep their pool; and no work uses it, because the container returns only ranges that no work uses.
            unsafe { growable.unreserve(start, bytes) };
        }
    }
}
