//! The blocks that one thread caches, in a stack (*magazine*) per size class, and how a thread finds its caches.
//!
//! A magazine has a limit on the number of its blocks. In a pool that joins blocks, the total bytes of the cached
//! blocks are limited too.

use super::Pool;
use super::counts::Counts;
use super::record::RecordRef;
use crossbeam_utils::CachePadded;
use mxrs_sync::{Arc, BriefGuard, BriefLock, Rank, Weak, thread_local};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// One thread's cache of one pool. The pool has it in its list, its thread uses it, and other threads may empty it.
#[derive(Debug)]
pub(super) struct ThreadCache {
    /// The position of this cache in the order of locks, which also identifies the cache.
    pub(super) number: u64,
    contents: CachePadded<BriefLock<Contents>>,
}

/// The data that the lock of a thread's cache guards.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) number: u64,
    magazines: Vec<Magazine>,
    /// For each key of a size class, the index of the magazine of that class in `magazines`.
    places: FxHashMap<usize, usize>,
    /// For each result of [`front`], the index of the magazine that was last used by a key with that result. It may be
    /// outdated.
    recent: [usize; FRONT],
    /// The sum of the sizes of the cached blocks.
    held_bytes: usize,
    /// A block is not cached if `held_bytes` would exceed this. Set while the pool is frozen.
    pub(super) limit_bytes: usize,
    pub(super) counts: Counts,
    /// Whether the last handle of the storage is gone, so that no block may be cached.
    pub(super) orphaned: bool,
}

/// A stack of freed blocks of one class.
#[derive(Debug)]
struct Magazine {
    key: usize,
    limit: usize,
    records: Vec<RecordRef>,
}

/// The number of slots of [`front`], which find a magazine without the hash table; a power of two.
pub(super) const FRONT: usize = 64;

/// A magazine holds at most this many bytes. But its limit is never below 2 blocks and never above 32.
const MAGAZINE_BYTES: usize = 4 << 20;

/// The largest number of blocks of this size that one thread caches.
pub(super) fn magazine_limit(block_bytes: usize) -> usize {
    (MAGAZINE_BYTES / block_bytes.max(1)).clamp(2, 32)
}

/// Maps keys, which are sizes or small numbers, to [`FRONT`] slots: the top bits of a product with 2^64 / φ (Knuth's
/// multiplicative hashing).
#[inline]
fn front(key: usize) -> usize {
    ((key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - FRONT.ilog2())) as usize
}

impl ThreadCache {
    pub(super) fn new(number: u64, limit_bytes: usize) -> Self {
        let contents = Contents {
            number,
            magazines: Vec::new(),
            places: FxHashMap::default(),
            recent: [0; FRONT],
            held_bytes: 0,
            limit_bytes,
            counts: Counts::default(),
            orphaned: false,
        };
        Self { number, contents: CachePadded::new(BriefLock::new(Rank::StorageCache, number, contents)) }
    }

    #[inline]
    pub(super) fn lock(&self) -> BriefGuard<'_, Contents> {
        self.contents.lock()
    }
}

impl Contents {
    #[inline]
    fn magazine(&mut self, key: usize) -> Option<&mut Magazine> {
        let mut place = self.recent[front(key)];
        if self.magazines.get(place).is_none_or(|magazine| magazine.key != key) {
            place = self.look_up(key)?;
        }
        self.magazines.get_mut(place)
    }

    #[cold]
    fn look_up(&mut self, key: usize) -> Option<usize> {
        let place = *self.places.get(&key)?;
        self.recent[front(key)] = place;
        Some(place)
    }

    /// Takes the block of this class that was added last.
    #[inline]
    pub(super) fn pop(&mut self, key: usize) -> Option<RecordRef> {
        let record = self.magazine(key)?.records.pop()?;
        self.held_bytes -= record.block_bytes();
        Some(record)
    }

    /// Adds a block if its class has a magazine with room and the limit of bytes allows it.
    #[inline]
    pub(super) fn push(&mut self, record: RecordRef) -> bool {
        let held_bytes = self.held_bytes + record.block_bytes();
        if held_bytes > self.limit_bytes {
            return false;
        }
        match self.magazine(record.key()) {
            // The limit is the capacity, so this never allocates.
            Some(magazine) if magazine.records.len() < magazine.limit => {
                magazine.records.push(record);
                self.held_bytes = held_bytes;
                true
            }
            _ => false,
        }
    }

    /// Whether the limit of bytes allows one more block of this size.
    pub(super) fn has_bytes(&self, block_bytes: usize) -> bool {
        self.held_bytes + block_bytes <= self.limit_bytes
    }

    /// Whether the magazine of this class has room for one more block; `None` if there is no magazine.
    pub(super) fn has_room(&mut self, key: usize) -> Option<bool> {
        self.magazine(key).map(|magazine| magazine.records.len() < magazine.limit)
    }

    /// Adds a magazine for a class that has none.
    pub(super) fn add_magazine(&mut self, key: usize, block_bytes: usize) {
        let limit = magazine_limit(block_bytes);
        self.places.insert(key, self.magazines.len());
        self.magazines.push(Magazine { key, limit, records: Vec::with_capacity(limit) });
    }

    /// The number of classes that have a magazine.
    pub(super) fn n_classes(&self) -> usize {
        self.magazines.len()
    }

    /// Takes the older half of a class, oldest first; at least one block if there is any.
    pub(super) fn take_older_half(&mut self, key: usize) -> Vec<RecordRef> {
        let Some(magazine) = self.magazine(key) else { return Vec::new() };
        let half = magazine.records.len().div_ceil(2);
        let older: Vec<RecordRef> = magazine.records.drain(..half).collect();
        self.held_bytes -= older.iter().map(|record| record.block_bytes()).sum::<usize>();
        older
    }

    /// Takes all blocks; within each class, the oldest comes first.
    pub(super) fn take_all(&mut self) -> Vec<RecordRef> {
        self.held_bytes = 0;
        self.magazines.iter_mut().flat_map(|magazine| magazine.records.drain(..)).collect()
    }

    /// Takes all blocks as [`take_all`](Self::take_all) does, and also removes the magazines.
    pub(super) fn clear(&mut self) -> Vec<RecordRef> {
        let all = self.take_all();
        self.places.clear();
        self.magazines.clear();
        all
    }

    /// The number and bytes of the cached blocks.
    pub(super) fn held(&self) -> (u64, u64) {
        let n_blocks = self.magazines.iter().map(|magazine| magazine.records.len() as u64).sum();
        (n_blocks, self.held_bytes as u64)
    }

    /// The size in bytes of the largest cached block.
    pub(super) fn largest_bytes(&self) -> usize {
        let tops = self.magazines.iter().filter_map(|magazine| magazine.records.last());
        tops.map(|record| record.block_bytes()).max().unwrap_or(0)
    }
}

/// The caches of the current thread, one for each pool that it has used.
#[derive(Default)]
struct Here {
    entries: RefCell<Vec<Entry>>,
}

struct Entry {
    pool_id: u64,
    cache: Arc<ThreadCache>,
    pool: Weak<Pool>,
}

thread_local! {
    static HERE: Here = Here::default();
}

impl Drop for Here {
    /// Moves the blocks to the containers when the thread ends.
    fn drop(&mut self) {
        for Entry { cache, pool, .. } in self.entries.get_mut().drain(..) {
            if let Some(pool) = pool.upgrade() {
                pool.dismiss(&cache);
            }
        }
    }
}

/// Runs `work` with this thread's cache of a pool; `None` if it has none. `work` must not call [`insert`].
#[inline]
pub(super) fn with<R>(pool_id: u64, work: impl FnOnce(&ThreadCache) -> R) -> Option<R> {
    HERE.try_with(|here| {
        let entries = here.entries.borrow();
        entries.iter().find(|entry| entry.pool_id == pool_id).map(|entry| work(&entry.cache))
    })
    .ok()
    .flatten()
}

/// Whether this thread can have caches; false while its thread-local values are destroyed.
pub(super) fn is_possible() -> bool {
    HERE.try_with(|_| ()).is_ok()
}

/// Makes `cache` this thread's cache of `pool`, and removes the thread's caches of pools that are gone.
pub(super) fn insert(pool_id: u64, cache: Arc<ThreadCache>, pool: Weak<Pool>) {
    let _ = HERE.try_with(|here| {
        let mut entries = here.entries.borrow_mut();
        entries.retain(|entry| !entry.cache.lock().orphaned);
        entries.push(Entry { pool_id, cache, pool });
    });
}
