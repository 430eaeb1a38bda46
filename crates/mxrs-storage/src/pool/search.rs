//! Finds blocks outside a thread's own cache: in the container, and in the caches of all other threads.

use super::books::Books;
use super::record::{RecordRef, Request};
use super::rounding::SizeClass;
use super::thread_cache::{self, Contents, magazine_limit};
use super::{Pool, ThreadCache};
use crate::{Tag, TagStats};
use mxrs_sync::{Arc, BriefGuard};
use rustc_hash::FxHashMap;

/// The number of blocks that a thread moves from the container into its cache at once.
const REFILL: usize = 8;

/// The result of a search of the whole pool.
pub(super) enum Found {
    Hit(RecordRef),
    /// No block serves the class. `bytes`: the amount to request from the device; `releasable`: whether anything is
    /// cached.
    Nothing {
        bytes: usize,
        releasable: bool,
    },
}

impl Pool {
    /// Gives this thread a cache, unless the thread has one or is ending, or the last handle of the storage is gone.
    /// Returns whether it got one.
    pub(super) fn join(self: &Arc<Self>) -> bool {
        if thread_cache::with(self.id, |_| ()).is_some() || !thread_cache::is_possible() {
            return false;
        }
        let mut threads = self.threads.lock();
        if self.books.lock().orphaned {
            return false;
        }
        // If the pool joins blocks, all threads share one limit; the call of `frozen` below sets this thread's part of it.
        let limit_bytes = if self.joins { 0 } else { usize::MAX };
        let cache = Arc::new(ThreadCache::new((self.id << 24) + threads.n_made, limit_bytes));
        threads.n_made += 1;
        threads.caches.push(Arc::clone(&cache));
        drop(threads);
        thread_cache::insert(self.id, cache, Arc::downgrade(self));
        if self.joins {
            self.frozen(|_, _| ());
        }
        true
    }

    /// Step (2): takes a block from the container, and some more blocks of its class for the thread's cache.
    pub(super) fn refill(&self, class: SizeClass, request: &mut Option<Request>) -> Option<RecordRef> {
        thread_cache::with(self.id, |cache| {
            let mut cache = cache.lock();
            let mut books = self.books.lock();
            books.stats.fold(&mut cache.counts);
            let record = books.take(class)?;
            if !self.joins {
                self.take_more(class, &mut cache, &mut books);
            }
            let request = request.take()?;
            cache.counts.hit(request.size, record.block_bytes());
            // SAFETY: the record was in the container. The lock that guards the container is held.
            unsafe { record.revive(request) };
            Some(record)
        })
        .flatten()
    }

    /// Takes some more blocks of a class from the container for the thread's cache.
    fn take_more(&self, class: SizeClass, cache: &mut Contents, books: &mut Books) {
        if cache.has_room(class.key).is_none() {
            cache.add_magazine(class.key, class.block_bytes);
        }
        let mut more = Vec::new();
        while more.len() < REFILL.min(magazine_limit(class.block_bytes) / 2)
            && let Some(next) = books.take(class)
        {
            more.push(next);
        }
        // The blocks were taken from the top of their list, so the block taken last goes to the bottom of the thread's
        // stack.
        for next in more.into_iter().rev() {
            if !cache.push(next) {
                books.put(next);
            }
        }
    }

    /// Step (3): finds any block of this class, wherever it is cached.
    pub(super) fn search(&self, class: SizeClass, request: &mut Option<Request>) -> Found {
        let own = thread_cache::with(self.id, |cache| cache.number);
        self.frozen(|books, caches| {
            let mut found = books.take(class);
            if found.is_none() {
                found = steal(class, own, books, caches);
            }
            if found.is_none() && self.joins {
                gather(books, caches);
                found = books.take(class);
            }
            if let (Some(record), Some(request)) = (found, request.take_if(|_| found.is_some())) {
                books.hit(record, request);
                return Found::Hit(record);
            }
            let releasable = books.container.inside().0 + with_threads(caches).0 > 0;
            Found::Nothing { bytes: books.container.growth_bytes(class), releasable }
        })
    }

    /// Freezes the pool (rule 3 of the pools): takes all of its locks, adds the counts of all threads to the
    /// statistics, and runs `work`.
    pub(super) fn frozen<R>(&self, work: impl FnOnce(&mut Books, &mut [BriefGuard<'_, Contents>]) -> R) -> R {
        let threads = self.threads.lock();
        let mut caches: Vec<_> = threads.caches.iter().map(|cache| cache.lock()).collect();
        let mut books = self.books.lock();
        for cache in &mut caches {
            books.stats.fold(&mut cache.counts);
        }
        let done = work(&mut books, &mut caches);
        if self.joins {
            share_front(&mut books, &mut caches);
        }
        done
    }
}

/// Sets how much each thread may cache, if the container limits it; the excess goes into the container.
fn share_front(books: &mut Books, caches: &mut [BriefGuard<'_, Contents>]) {
    let limit_bytes = books.container.front_bytes(books.stats.reserved) / caches.len().max(1);
    for cache in caches {
        cache.limit_bytes = limit_bytes;
        if !cache.has_bytes(0) {
            cache.take_all().into_iter().for_each(|record| books.put(record));
        }
    }
}

/// Moves all blocks that threads cache into the container.
pub(super) fn gather(books: &mut Books, caches: &mut [BriefGuard<'_, Contents>]) {
    caches.iter_mut().flat_map(|cache| cache.clear()).for_each(|record| books.put(record));
}

/// Takes the older half of another thread's blocks of this class. Returns one of them and puts the rest into this thread's
/// cache.
fn steal(
    class: SizeClass,
    own: Option<u64>,
    books: &mut Books,
    caches: &mut [BriefGuard<'_, Contents>],
) -> Option<RecordRef> {
    let victim = caches.iter_mut().filter(|cache| Some(cache.number) != own);
    let mut loot = victim.map(|cache| cache.take_older_half(class.key)).find(|loot| !loot.is_empty())?;
    let found = loot.pop();
    let mut own = caches.iter_mut().find(|cache| Some(cache.number) == own);
    for record in loot {
        let kept = own.as_mut().is_some_and(|own| {
            if own.has_room(class.key).is_none() {
                own.add_magazine(class.key, class.block_bytes);
            }
            own.push(record)
        });
        if !kept {
            books.put(record);
        }
    }
    found
}

/// The number and bytes of blocks that threads cache.
pub(super) fn with_threads(caches: &[BriefGuard<'_, Contents>]) -> (u64, u64) {
    caches.iter().map(|cache| cache.held()).fold((0, 0), |sum, held| (sum.0 + held.0, sum.1 + held.1))
}

/// Live blocks by tag, most bytes first. The caller holds all locks of the pool.
pub(super) fn tags(books: &Books) -> Vec<(Tag, TagStats)> {
    let mut by_tag: FxHashMap<&Tag, TagStats> = FxHashMap::default();
    for record in books.roster.records() {
        // SAFETY: the pool is frozen, so all of its locks are held.
        if let Some(request) = unsafe { record.request() } {
            let stats = by_tag.entry(&request.tag).or_default();
            stats.blocks += 1;
            stats.bytes += record.block_bytes() as u64;
        }
    }
    let mut tags: Vec<_> = by_tag.into_iter().map(|(tag, stats)| (tag.clone(), stats)).collect();
    tags.sort_by(|(tag_a, a), (tag_b, b)| {
        (b.bytes, &tag_a.scope, &tag_a.name).cmp(&(a.bytes, &tag_b.scope, &tag_b.name))
    });
    tags
}
