//! The blocks one thread keeps to itself, and how a thread finds them.
//!
//! A magazine bounds the blocks of a class. Where blocks are joined, a limit of bytes bounds all of them together.

use super::Pool;
use super::counts::Counts;
use super::record::RecordRef;
use crossbeam_utils::CachePadded;
use mxrs_sync::{Arc, BriefGuard, BriefLock, Rank, Weak, thread_local};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// One thread's cache of one pool: listed by the pool, used by the thread, emptied by whoever needs the memory more.
#[derive(Debug)]
pub(super) struct ThreadCache {
    /// Place in the lock order, and name.
    pub(super) number: u64,
    contents: CachePadded<BriefLock<Contents>>,
}

/// What the lock of a thread's cache guards.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) number: u64,
    magazines: Vec<Magazine>,
    /// Place in `magazines` by key.
    places: FxHashMap<usize, usize>,
    /// The place that was asked for last among the keys that [`front`] maps here. It may be out of date.
    recent: [usize; FRONT],
    /// Sum of the blocks here.
    held_bytes: usize,
    /// No block is kept that would take `held_bytes` beyond this. Set while the pool is frozen.
    pub(super) limit_bytes: usize,
    pub(super) counts: Counts,
    /// The last handle of the pool is gone: nothing may be kept any more.
    pub(super) orphaned: bool,
}

/// Freed blocks of one class, the last one on top.
#[derive(Debug)]
struct Magazine {
    key: usize,
    limit: usize,
    records: Vec<RecordRef>,
}

/// Number of places that are found without a search; a power of two.
pub(super) const FRONT: usize = 64;

/// Blocks up to this size are kept by the dozen, larger ones in pairs or a little more.
const MAGAZINE_BYTES: usize = 4 << 20;

/// How many blocks of this size one thread keeps.
pub(super) fn magazine_limit(block_bytes: usize) -> usize {
    (MAGAZINE_BYTES / block_bytes.max(1)).clamp(2, 32)
}

/// Spreads keys, which are sizes or small numbers, over [`FRONT`] places: the top bits of a product with 2^64 / φ
/// (Knuth's multiplicative hashing).
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

    /// The block of this class that was put here last.
    #[inline]
    pub(super) fn pop(&mut self, key: usize) -> Option<RecordRef> {
        let record = self.magazine(key)?.records.pop()?;
        self.held_bytes -= record.block_bytes();
        Some(record)
    }

    /// Keeps a block if its class has a magazine with room, and the cache has room for its bytes.
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

    /// Whether the bytes of one more block may be kept.
    pub(super) fn has_bytes(&self, block_bytes: usize) -> bool {
        self.held_bytes + block_bytes <= self.limit_bytes
    }

    /// Whether one more block of this class may be kept; `None` if the class has no magazine yet.
    pub(super) fn has_room(&mut self, key: usize) -> Option<bool> {
        self.magazine(key).map(|magazine| magazine.records.len() < magazine.limit)
    }

    /// Makes a magazine for blocks of a class, where there is none.
    pub(super) fn add_magazine(&mut self, key: usize, block_bytes: usize) {
        let limit = magazine_limit(block_bytes);
        self.places.insert(key, self.magazines.len());
        self.magazines.push(Magazine { key, limit, records: Vec::with_capacity(limit) });
    }

    /// Number of classes that have a magazine.
    pub(super) fn n_classes(&self) -> usize {
        self.magazines.len()
    }

    /// Takes the older half of a class away, at least one if there is any, oldest first.
    pub(super) fn take_older_half(&mut self, key: usize) -> Vec<RecordRef> {
        let Some(magazine) = self.magazine(key) else { return Vec::new() };
        let half = magazine.records.len().div_ceil(2);
        let older: Vec<RecordRef> = magazine.records.drain(..half).collect();
        self.held_bytes -= older.iter().map(|record| record.block_bytes()).sum::<usize>();
        older
    }

    /// Takes everything away, each class oldest first.
    pub(super) fn take_all(&mut self) -> Vec<RecordRef> {
        self.held_bytes = 0;
        self.magazines.iter_mut().flat_map(|magazine| magazine.records.drain(..)).collect()
    }

    /// As [`take_all`](Self::take_all), and forgets the classes.
    pub(super) fn clear(&mut self) -> Vec<RecordRef> {
        let all = self.take_all();
        self.places.clear();
        self.magazines.clear();
        all
    }

    /// Number and bytes of the blocks here.
    pub(super) fn held(&self) -> (u64, u64) {
        let n_blocks = self.magazines.iter().map(|magazine| magazine.records.len() as u64).sum();
        (n_blocks, self.held_bytes as u64)
    }

    /// Bytes of the largest block here.
    pub(super) fn largest_bytes(&self) -> usize {
        let tops = self.magazines.iter().filter_map(|magazine| magazine.records.last());
        tops.map(|record| record.block_bytes()).max().unwrap_or(0)
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
