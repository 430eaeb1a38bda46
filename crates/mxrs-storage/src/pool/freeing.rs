//! Giving a block up: to the thread's own magazine, past it into the container, or straight to the device.

use super::books::Books;
use super::counts::Counts;
use super::events::Patience;
use super::record::RecordRef;
use super::thread_cache::{self, Contents};
use super::{Pool, lifetime, search};
use mxrs_sync::Arc;
use std::ptr::NonNull;

impl Pool {
    /// Takes a live block back: to the thread, into the container, or to the device where nothing is cached.
    ///
    /// # Safety
    /// The caller owns the live block of `record`, which `pool` allocated, and gives it up.
    #[inline]
    pub(crate) unsafe fn free(pool: NonNull<Self>, record: RecordRef) {
        // SAFETY: the block is live, so by rule 8 the pool is alive. From the release of the lock below on it may not be,
        // so no reference to it is kept.
        let (id, caches, joins) = unsafe { (pool.as_ref().id, pool.as_ref().caches, pool.as_ref().joins) };
        if caches && !(joins && record.is_marked()) {
            let freed = thread_cache::with(id, |cache| {
                let mut cache = cache.lock();
                if cache.orphaned {
                    return None;
                }
                if !cache.push(record) {
                    // SAFETY: the lock of a cache that is not orphaned is held, so the pool stays.
                    let this = unsafe { pool.as_ref() };
                    if !this.push_slowly(&mut cache, record) {
                        return None;
                    }
                }
                // SAFETY: the caller gives the block up, and the lock of the cache it is now in is held.
                let (size, tag) = unsafe { record.retire() };
                cache.counts.freed(size, record.block_bytes());
                Some(tag)
            });
            // The tag goes when no lock is held. The pool may be gone by now, and the record another's.
            if let Some(Some(tag)) = freed {
                drop(tag);
                return;
            }
        }
        // SAFETY: as the caller promises; nothing was done to the block so far.
        unsafe { Self::free_slowly(pool, record) }
    }

    /// Makes room in, or makes, the magazine for a block and puts it there; false where the block is too large to be kept.
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
            // Sizes that never come back would pile up where every granule makes a class.
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

    /// Takes a live block back where the calling thread has no cache, or the pool keeps nothing.
    #[cold]
    unsafe fn free_slowly(pool: NonNull<Self>, record: RecordRef) {
        // SAFETY: the block is live, so the pool is alive by rule 8, and the pointer came from its `Arc`.
        let this = unsafe { lifetime::counted(pool) };
        if !this.caches {
            // SAFETY: as the caller promises.
            return unsafe { Self::free_directly(pool, record) };
        }
        if this.joins && record.is_marked() {
            record.sift();
            if !record.is_marked() {
                // SAFETY: as the caller promises. This happens once: nobody else adds events.
                return unsafe { Self::free(pool, record) };
            }
        } else if this.join() {
            // SAFETY: as the caller promises. This happens once: the thread has a cache now.
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
            // SAFETY: as the caller promises; nothing was done to the block so far.
            None => unsafe { Self::free_directly(pool, record) },
        }
    }

    /// Takes a live block back and returns it to the device, after its events.
    ///
    /// # Safety
    /// As for [`free`](Self::free).
    pub(crate) unsafe fn free_directly(pool: NonNull<Self>, record: RecordRef) {
        // SAFETY: the block is live, so the pool is alive by rule 8, and the pointer came from its `Arc`.
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
            // More can leave with the block if its free neighbors are in the container.
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
            // SAFETY: the pool was orphaned while the block was live, so the block had a counted reference.
            drop(unsafe { Arc::from_raw(pool.as_ptr()) });
        }
    }
}
