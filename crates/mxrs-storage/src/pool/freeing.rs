//! Frees a block: moves it into the calling thread's cache or into the container, or returns it directly to the device.

use super::books::Books;
use super::counts::Counts;
use super::events::Patience;
use super::record::RecordRef;
use super::thread_cache::{self, Contents};
use super::{Pool, lifetime, search};
use mxrs_sync::Arc;
use std::ptr::NonNull;

impl Pool {
    /// Frees a live block: moves it into the thread's cache or the container, or returns it to the device if the pool caches
    /// nothing.
    ///
    /// # Safety
    /// The caller owns the live block of `record`, which `pool` allocated, and does not use it any more.
    #[inline]
    pub(crate) unsafe fn free(pool: NonNull<Self>, record: RecordRef) {
        // SAFETY: the pool exists, because a pool is not dropped while one of its blocks is live (rule 8 of the pools).
        // Once the lock below is released, the pool may be gone, so no reference to it is kept.
        let (id, caches, joins) = unsafe { (pool.as_ref().id, pool.as_ref().caches, pool.as_ref().joins) };
        if caches && !(joins && record.is_marked()) {
            let freed = thread_cache::with(id, |cache| {
                let mut cache = cache.lock();
                if cache.orphaned {
                    return None;
                }
                if !cache.push(record) {
                    // SAFETY: before the pool can be dropped, it takes this cache's lock to mark the cache as orphaned.
                    // The lock is held and the mark is not set, so the pool exists.
                    let this = unsafe { pool.as_ref() };
                    if !this.push_slowly(&mut cache, record) {
                        return None;
                    }
                }
                // SAFETY: the caller owns the block, and the lock of the cache that now contains it is held.
                let (size, tag) = unsafe { record.retire() };
                cache.counts.freed(size, record.block_bytes());
                Some(tag)
            });
            // The tag is dropped after the lock is released. The pool may be gone by now, and the record may have
            // another owner.
            if let Some(Some(tag)) = freed {
                drop(tag);
                return;
            }
        }
        // SAFETY: the caller owns the live block, which has not been changed so far.
        unsafe { Self::free_slowly(pool, record) }
    }

    /// Adds the block to the thread's magazine (stack of cached blocks) of its class, after making room in it or making
    /// a new one. Returns false if the block is too large to be cached.
    #[cold]
    fn push_slowly(&self, cache: &mut Contents, record: RecordRef) -> bool {
        let mut books = self.books.lock();
        books.stats.fold(&mut cache.counts);
        if record.block_bytes() > cache.limit_bytes {
            return false;
        }
        if !cache.has_bytes(record.block_bytes()) {
            cache.take_all().into_iter().for_each(|older| books.put(older));
        }
        if cache.has_room(record.key()).is_none() {
            // In a pool that joins blocks, nearly every size is a class of its own. Without this limit, magazines of
            // sizes that are never requested again would accumulate.
            if self.joins && cache.n_classes() >= thread_cache::FRONT {
                cache.clear().into_iter().for_each(|older| books.put(older));
            }
            cache.add_magazine(record.key(), record.block_bytes());
        }
        if cache.has_room(record.key()) == Some(false) {
            cache.take_older_half(record.key()).into_iter().for_each(|older| books.put(older));
        }
        cache.push(record)
    }

    /// Frees a live block in the cases that [`free`](Self::free) does not handle: the calling thread has no cache, or the
    /// pool caches nothing.
    #[cold]
    unsafe fn free_slowly(pool: NonNull<Self>, record: RecordRef) {
        // SAFETY: the pool exists, because one of its blocks is live (rule 8 of the pools), and the pointer came from
        // its `Arc`.
        let this = unsafe { lifetime::counted(pool) };
        if !this.caches {
            // SAFETY: the caller owns the live block, which has not been changed so far.
            return unsafe { Self::free_directly(pool, record) };
        }
        if this.joins && record.is_marked() {
            record.sift();
            if !record.is_marked() {
                // SAFETY: the caller owns the live block. This recursion happens once: the block has no events now, and
                // only its owner adds events.
                return unsafe { Self::free(pool, record) };
            }
        } else if this.join() {
            // SAFETY: the caller owns the live block. This recursion happens once, because the thread has a cache now.
            return unsafe { Self::free(pool, record) };
        }
        let freed = this.with_books(|books| {
            if books.orphaned {
                return None;
            }
            let tag = books.retire(record, Counts::freed);
            books.put(record);
            Some(tag)
        });
        match freed {
            Some(tag) => drop(tag),
            // SAFETY: the caller owns the live block, which has not been changed so far.
            None => unsafe { Self::free_directly(pool, record) },
        }
    }

    /// Frees a live block: waits for its events, then returns its memory to the device.
    ///
    /// # Safety
    /// The same as for [`free`](Self::free).
    pub(crate) unsafe fn free_directly(pool: NonNull<Self>, record: RecordRef) {
        // SAFETY: the pool exists, because one of its blocks is live (rule 8 of the pools), and the pointer came from
        // its `Arc`.
        let this = unsafe { lifetime::counted(pool) };
        let is_apart = this.joins && record.is_marked() && !this.wait_for_all(record);
        let discard = |books: &mut Books| {
            let (segment, tag) = books.discard(record);
            if segment.is_some() {
                this.begin_return();
            }
            (segment, tag, books.orphaned)
        };
        let (segment, tag, orphaned) = if this.joins {
            // Moves the cached blocks into the container: if neighbors of the block are free there, more memory can be
            // returned with it.
            this.frozen(|books, caches| {
                search::gather(books, caches);
                discard(books)
            })
        } else {
            this.with_books(discard)
        };
        drop(tag);
        if segment.is_some() {
            this.finish_return(segment);
        }
        if is_apart {
            this.join_finished(Patience::Endless);
        }
        if orphaned {
            // SAFETY: the last handle of the storage was dropped while the block was live. This gave the block a
            // counted reference to the pool, which ends here.
            drop(unsafe { Arc::from_raw(pool.as_ptr()) });
        }
    }
}
