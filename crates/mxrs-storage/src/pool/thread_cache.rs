//! The blocks one thread keeps to itself, and how a thread finds them.

use super::Pool;
use super::counts::Counts;
use super::record::RecordRef;
use crossbeam_utils::CachePadded;
use mxrs_sync::{Arc, OwnerGuard, OwnerLock, Rank, Weak, thread_local};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// One thread's cache of one pool: listed by the pool, used by the thread, emptied by whoever needs the memory more.
#[derive(Debug)]
pub(super) struct ThreadCache {
    /// Place in the lock order, and name.
    pub(super) number: u64,
    contents: CachePadded<OwnerLock<Contents>>,
}

/// What the lock of a thread's cache guards.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) number: u64,
    magazines: FxHashMap<usize, Magazine>,
    pub(super) counts: Counts,
    /// The last handle of the pool is gone: nothing may be kept any more.
    pub(super) orphaned: bool,
}

/// Freed blocks of one class, the last one on top.
#[derive(Debug)]
struct Magazine {
    records: Vec<RecordRef>,
    limit: usize,
}

impl ThreadCache {
    pub(super) fn new(number: u64) -> Self {
        let contents = Contents { number, ..Contents::default() };
        Self { number, contents: CachePadded::new(OwnerLock::new(Rank::StorageCache, number, contents)) }
    }

    #[inline]
    pub(super) fn lock(&self) -> OwnerGuard<'_, Contents> {
        self.contents.lock()
    }
}

impl Contents {
    /// The block of this class that was put here last.
    #[inline]
    pub(super) fn pop(&mut self, key: usize) -> Option<RecordRef> {
        self.magazines.get_mut(&key)?.records.pop()
    }

    /// Whether one more block of this class may be kept; `None` if the class has no magazine yet.
    #[inline]
    pub(super) fn has_room(&self, key: usize) -> Option<bool> {
        self.magazines.get(&key).map(|magazine| magazine.records.len() < magazine.limit)
    }

    /// Makes a magazine that keeps up to `limit` blocks.
    #[cold]
    pub(super) fn add_magazine(&mut self, key: usize, limit: usize) {
        self.magazines.insert(key, Magazine { records: Vec::with_capacity(limit), limit });
    }

    /// Keeps a block if its class has a magazine with room.
    #[inline]
    pub(super) fn push(&mut self, key: usize, record: RecordRef) -> bool {
        match self.magazines.get_mut(&key) {
            Some(magazine) if magazine.records.len() < magazine.limit => {
                magazine.records.push(record);
                true
            }
            _ => false,
        }
    }

    /// Takes the older half of a class away, at least one if there is any, oldest first.
    pub(super) fn take_older_half(&mut self, key: usize) -> Vec<RecordRef> {
        let Some(magazine) = self.magazines.get_mut(&key) else { return Vec::new() };
        let half = magazine.records.len().div_ceil(2);
        magazine.records.drain(..half).collect()
    }

    /// Takes everything away, each class oldest first.
    pub(super) fn take_all(&mut self) -> Vec<RecordRef> {
        self.magazines.drain().flat_map(|(_, magazine)| magazine.records).collect()
    }

    /// Number and bytes of the blocks here.
    pub(super) fn held(&self) -> (u64, u64) {
        self.magazines.values().fold((0, 0), |(n_blocks, bytes), magazine| {
            let n = magazine.records.len() as u64;
            (n_blocks + n, bytes + n * magazine.records.first().map_or(0, |record| record.block_bytes() as u64))
        })
    }

    /// Bytes of the largest block here.
    pub(super) fn largest_bytes(&self) -> usize {
        self.magazines.values().filter_map(|magazine| magazine.records.first()).map(|r| r.block_bytes()).max().unwrap_or(0)
    }
}

/// The caches of the current thread, one for each pool it has used.
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
    /// The thread ends: what it kept goes to the containers.
    fn drop(&mut self) {
        for Entry { cache, pool, .. } in self.entries.get_mut().drain(..) {
            if let Some(pool) = pool.upgrade() {
                pool.dismiss(&cache);
            }
        }
    }
}

/// Runs `work` with this thread's cache of a pool; `None` if it has none. `work` must not come back here to
/// [`insert`].
#[inline]
pub(super) fn with<R>(pool_id: u64, work: impl FnOnce(&ThreadCache) -> R) -> Option<R> {
    HERE.try_with(|here| {
        let entries = here.entries.borrow();
        entries.iter().find(|entry| entry.pool_id == pool_id).map(|entry| work(&entry.cache))
    })
    .ok()
    .flatten()
}

/// Whether this thread can keep caches: it cannot any more when it is ending.
pub(super) fn is_possible() -> bool {
    HERE.try_with(|_| ()).is_ok()
}

/// Makes `cache` this thread's cache of `pool`, and forgets those of pools that are gone.
pub(super) fn insert(pool_id: u64, cache: Arc<ThreadCache>, pool: Weak<Pool>) {
    let _ = HERE.try_with(|here| {
        let mut entries = here.entries.borrow_mut();
        entries.retain(|entry| !entry.cache.lock().orphaned);
        entries.push(Entry { pool_id, cache, pool });
    });
}
