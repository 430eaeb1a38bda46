//! Holds all locks of several pools from before a fork until after it (rule 10 of the pools).

use super::books::Books;
use super::thread_cache::Contents;
use super::{Pool, Threads};
use mxrs_sync::atomic::Ordering;
use mxrs_sync::{Arc, BriefGuard};

/// The locks of several pools. Dropping it releases them.
pub(crate) struct HeldPools {
    // Fields are dropped in the order of declaration, so all locks are released before the pools that own them are dropped.
    _books: Vec<BriefGuard<'static, Books>>,
    _caches: Vec<BriefGuard<'static, Contents>>,
    _threads: Vec<BriefGuard<'static, Threads>>,
    pools: Vec<Arc<Pool>>,
}

impl HeldPools {
    /// Takes every lock of these pools: first the lists of threads, then the threads' caches, then the shared data.
    pub(crate) fn lock(mut pools: Vec<Arc<Pool>>) -> Self {
        pools.sort_by_key(|pool| pool.id);
        // SAFETY: each `Arc` in `pools` keeps its value in place, and `pools` is dropped last. No reference made here
        // leaves this object.
        let statics: Vec<&'static Pool> = pools.iter().map(|pool| unsafe { &*Arc::as_ptr(pool) }).collect();
        let threads: Vec<_> = statics.iter().map(|pool| pool.threads.lock()).collect();
        let mut caches = Vec::new();
        for cache in threads.iter().flat_map(|threads| &threads.caches) {
            let guard = cache.lock();
            // SAFETY: the lists of threads are locked, so every cache stays in place until its guard is dropped.
            caches
                .push(unsafe { std::mem::transmute::<BriefGuard<'_, Contents>, BriefGuard<'static, Contents>>(guard) });
        }
        let books = statics.iter().map(|pool| pool.books.lock()).collect();
        Self { _books: books, _caches: caches, _threads: threads, pools }
    }

    /// In the child, resets the number of threads that are returning memory, because those threads do not exist there.
    pub(crate) fn forget_other_threads(&self) {
        for pool in &self.pools {
            pool.returning.store(0, Ordering::Relaxed);
        }
    }
}
