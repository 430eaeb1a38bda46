//! Rule 10: all locks of some pools, held from before a fork until after it.

use super::books::Books;
use super::thread_cache::Contents;
use super::{Pool, Threads};
use mxrs_sync::atomic::Ordering;
use mxrs_sync::{Arc, BriefGuard};

/// The locks of some pools. Dropping it releases them.
pub(crate) struct HeldPools {
    // Released in this order, and before the pools they belong to.
    _books: Vec<BriefGuard<'static, Books>>,
    _caches: Vec<BriefGuard<'static, Contents>>,
    _threads: Vec<BriefGuard<'static, Threads>>,
    pools: Vec<Arc<Pool>>,
}

impl HeldPools {
    /// Takes every lock of these pools, in the order of locks.
    pub(crate) fn lock(mut pools: Vec<Arc<Pool>>) -> Self {
        pools.sort_by_key(|pool| pool.id);
        // SAFETY: the value behind each `Arc` stays where it is for as long as `pools`, which is dropped last, holds it,
        // and no reference made here leaves this object.
        let statics: Vec<&'static Pool> = pools.iter().map(|pool| unsafe { &*Arc::as_ptr(pool) }).collect();
        let threads: Vec<_> = statics.iter().map(|pool| pool.threads.lock()).collect();
        let mut caches = Vec::new();
        for cache in threads.iter().flat_map(|threads| &threads.caches) {
            let guard = cache.lock();
            // SAFETY: the lists of threads are locked and keep every cache in place until after its guard is dropped.
            caches
                .push(unsafe { std::mem::transmute::<BriefGuard<'_, Contents>, BriefGuard<'static, Contents>>(guard) });
        }
        let books = statics.iter().map(|pool| pool.books.lock()).collect();
        Self { _books: books, _caches: caches, _threads: threads, pools }
    }

    /// Forgets the threads that the child of a fork does not have.
    pub(crate) fn forget_other_threads(&self) {
        for pool in &self.pools {
            pool.returning.store(0, Ordering::Relaxed);
        }
    }
}
