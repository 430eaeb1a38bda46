//! A pool: rounding policy × container of freed blocks × device memory, with a cache for each thread in front.
//!
//! # States of a block
//! *Live*: a [`Block`](crate::Block) owns it. *With a thread*: freed, in the magazine of its class in one
//! [`ThreadCache`]. *Inside*: freed, in the [`Container`]. *Leaving*: in no list, on its way back to the device. Only
//! [`Pool`] moves a block between states.
//!
//! A *magazine* is a thread's stack of cached blocks of one size class. The *books* are the data that all threads share
//! under one lock: the container, the statistics, and a list of all blocks outside the container. The *reserve* is the
//! part of the device's memory that a pool should leave free. S3 to S11 are guarantees listed in the head of the crate.
//!
//! # Steps
//! Allocating: round the request and take (1) the block of this class that this thread freed last, (2) the one on top in
//! the container, (3) one that another thread keeps; these are *hits*. On a miss (4) ask the device how much is free, and
//! if the block would cut into the reserve, return all cached blocks first; (5) request the memory; if refused, (6) empty
//! the cache, wait for threads that are returning memory, and try again; if refused, (7) run the hooks of
//! [`Storage::on_pressure`](crate::Storage::on_pressure), empty the cache again and try one last time.
//! Freeing puts the block on top of its magazine; a full magazine first moves its older half to the container.
//!
//! In front of a container that joins blocks ([`best_fit`]) all magazines together hold a bounded number of bytes, because
//! blocks cached by a thread cannot be joined. Before (4) all blocks that threads cache go into the container, and the pool
//! searches the container again. The pool also searches it before each request of (5) to (7). It requests only the missing
//! bytes, behind reserved addresses if the device has them.
//!
//! # Rules
//! 1. **Order of locks**: list of threads, caches by number, books. Step (1) and an ordinary free take one lock, the cache
//!    of the calling thread. Other threads take that lock only under rule 3. So these steps write no memory that another
//!    thread's hit reads or writes.
//! 2. A block moves between a magazine and the container under both locks, between two magazines under rule 3.
//! 3. A step that must see all blocks in one state (a miss, a flush, a snapshot) *freezes* the pool: it locks the list of
//!    threads, every cache and the books. So a miss is certain: at one instant no thread had a block of that class. If one
//!    thread allocates what another frees, memory does not grow.
//! 4. S3: while a pool is frozen, `reserved` is the sum of live and cached blocks. Each thread counts in its own cache; a
//!    thread that holds the lock of a cache together with that of the books adds the counts of the cache to the books.
//! 5. S10: no lock is held while the device is called, an event is waited for, or a hook runs, or a record is made. So a
//!    block that leaves is first taken out of the books, and a refused request waits until all leaving blocks have reached
//!    the device.
//! 6. S11: the books are written only after the device has granted a request.
//! 7. S9: a block carries the events of its former owners. A hit on a stream makes that stream wait for the events of other
//!    streams. The block keeps these events, because the stream may not have reached the wait yet. A hit without a stream
//!    waits on the host and drops the events, or passes them to the new owner, who waits. A block returns to the device only
//!    when all of its events are finished. In a pool that joins blocks, a block with events bypasses the magazines and stays
//!    whole until they are finished: step (3) checks its events, steps (4) and (6) wait for them.
//! 8. **Lifetime**: a block points to its pool without counting, so that a hit touches no shared counter. While a
//!    [`Storage`](crate::Storage) handle exists it owns the pool. Dropping the last handle freezes the pool, marks every
//!    cache *orphaned*, gives each live block a counted reference of its own ([`Pool::orphan`]), and returns what is cached.
//!    A thread that frees a block checks the mark under a lock of rule 3, before the block counts as freed. If the mark is
//!    set, the block goes directly back to the device; the last block drops the pool. A pool without handles does not
//!    allocate.
//! 9. A thread that ends puts its cache into the container. A thread that is already ending, or has no cache yet, works
//!    with the books directly.
//! 10. Across a fork all locks are held by the forking thread ([`ForkGuard`](crate::ForkGuard)), so the child finds every
//!     pool consistent. In the child, step (3) also finds the blocks cached by threads that exist only in the parent.

mod best_fit;
mod books;
mod container;
mod counts;
mod events;
mod fork;
mod free_lists;
mod freeing;
mod inventory;
mod ladder;
mod lifetime;
mod record;
mod rounding;
mod search;
mod thread_cache;

pub(crate) use events::WaitBy;
pub(crate) use fork::HeldPools;
pub(crate) use record::{RecordRef, Request};
pub(crate) use rounding::Rounding;

use crate::config::PoolConfig;
use crate::memory::{DeviceMemory, SharedMemory};
use crate::pressure::PressureHooks;
use crate::{PoolStats, Tag, TagStats, records};
use best_fit::BestFit;
use books::Books;
use container::{Container, Grown};
use crossbeam_utils::CachePadded;
use events::Patience;
use free_lists::FreeLists;
use mxrs_sync::atomic::AtomicUsize;
use mxrs_sync::{Arc, BriefLock, Rank};
use mxrs_types::PoolKind;
use mxrs_types::{Device, Result};
use rounding::SizeClass;
use search::Found;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use thread_cache::ThreadCache;

pub(crate) struct Pool {
    /// Identifies the pool in the threads' caches, and orders it among pools.
    id: u64,
    /// The device in its canonical form (`cpu(0)` for every cpu).
    device: Device,
    memory: Arc<dyn DeviceMemory>,
    /// The pool's memory, if other processes can map it.
    segments: Option<Arc<SharedMemory>>,
    rounding: Rounding,
    /// Whether freed blocks are cached, some of them by threads.
    caches: bool,
    /// Whether the container joins blocks, and therefore limits what threads cache.
    joins: bool,
    /// Whether memory is returned to the device in other pieces than those in which it was provided: as units of a
    /// range.
    regroups: bool,
    /// The number of the device's bytes that a growth must leave free, unless nothing is left to release from the cache.
    reserve_bytes: u64,
    hooks: Arc<PressureHooks>,
    threads: CachePadded<BriefLock<Threads>>,
    books: CachePadded<BriefLock<Books>>,
    /// The number of threads that are returning memory to the device; increased under the lock of the pool's shared
    /// data.
    returning: AtomicUsize,
}

/// The caches of the threads that use a pool, in the order of their numbers.
#[derive(Default)]
struct Threads {
    caches: Vec<Arc<ThreadCache>>,
    n_made: u64,
}

impl Pool {
    /// Makes a pool. This queries the device's size, so the caller must hold no lock.
    pub(crate) fn new(
        device: Device,
        memory: Arc<dyn DeviceMemory>,
        config: &PoolConfig,
        hooks: Arc<PressureHooks>,
    ) -> Self {
        let caches = config.kind != PoolKind::Unpooled;
        let total = if caches { memory.info().total } else { 0 };
        let reserve = u128::from(total) * u128::from(config.reserve_percent) / 100;
        let joins = config.kind == PoolKind::BestFit;
        let container: Box<dyn Container> = match config.kind {
            PoolKind::Naive | PoolKind::Round | PoolKind::Unpooled => Box::new(FreeLists::default()),
            PoolKind::BestFit => Box::new(BestFit::open(memory.as_ref(), total)),
        };
        let id = lifetime::next_id();
        Self {
            id,
            device,
            memory,
            segments: None,
            rounding: Rounding::on(device.kind, config),
            caches,
            joins,
            regroups: container.regroups(),
            reserve_bytes: u64::try_from(reserve).unwrap_or(u64::MAX),
            hooks,
            threads: CachePadded::new(BriefLock::new(Rank::StorageThreads, id, Threads::default())),
            books: CachePadded::new(BriefLock::new(Rank::Storage, id, Books::new(container))),
            returning: AtomicUsize::new(0),
        }
    }

    /// Records that the pool's memory is `segments`, which other processes can map.
    pub(crate) fn with_segments(mut self, segments: Arc<SharedMemory>) -> Self {
        self.segments = Some(segments);
        self
    }

    /// The pool's memory, if other processes can map it.
    pub(crate) fn segments(&self) -> Option<&SharedMemory> {
        self.segments.as_deref()
    }

    /// The statistics at one moment.
    pub(crate) fn stats(&self) -> PoolStats {
        self.frozen(|books, caches| books.snapshot(search::with_threads(caches)))
    }

    /// Live blocks by tag, most bytes first.
    pub(crate) fn tags(&self) -> Vec<(Tag, TagStats)> {
        self.frozen(|books, _| search::tags(books))
    }

    pub(crate) fn reset_peaks(&self) {
        self.frozen(|books, _| {
            books.stats.peak_reserved = books.stats.reserved;
            books.stats.peak_live_requested = books.stats.live_requested;
        });
    }

    /// Allocates a live record for `size ≥ 1` bytes that reports `device` as its device, and makes `wait_by`
    /// wait for the work of former owners. The caller is its owner.
    #[inline]
    pub(crate) fn allocate(
        self: &Arc<Self>,
        device: Device,
        size: usize,
        tag: Tag,
        wait_by: WaitBy<'_>,
    ) -> Result<RecordRef> {
        let Some(class) = self.rounding.class(size) else {
            return Err(self.out_of_memory(size, 0));
        };
        let mut request = ManuallyDrop::new(Request { device, size, tag });
        let own = if self.caches { self.take_own(class, &request) } else { None };
        let record = match own {
            Some(record) => record,
            // SAFETY: `take_own` failed, so `request` has not been moved out of.
            None => self.find_or_grow(class, unsafe { ManuallyDrop::take(&mut request) })?,
        };
        if record.is_marked() {
            self.settle(record, wait_by)?;
        }
        Ok(record)
    }

    /// Step (1): takes the block that this thread freed last. On success `request` has been moved out of.
    #[inline]
    fn take_own(&self, class: SizeClass, request: &ManuallyDrop<Request>) -> Option<RecordRef> {
        thread_cache::with(self.id, |cache| {
            let mut cache = cache.lock();
            let record = cache.pop(class.key)?;
            cache.counts.hit(request.size, class.block_bytes);
            // SAFETY: the lock of the cache that contained the record is held. The caller neither uses the request again
            // nor drops it.
            unsafe { record.revive(std::ptr::read(&raw const **request)) };
            Some(record)
        })
        .flatten()
    }

    #[cold]
    fn find_or_grow(self: &Arc<Self>, class: SizeClass, request: Request) -> Result<RecordRef> {
        let mut request = Some(request);
        if self.caches {
            self.join();
            if let Some(record) = self.refill(class, &mut request) {
                return Ok(record);
            }
            let mut found = self.search(class, &mut request);
            if matches!(found, Found::Nothing { .. }) && self.join_finished(Patience::None) {
                found = self.search(class, &mut request);
            }
            match found {
                Found::Hit(record) => return Ok(record),
                Found::Nothing { bytes, releasable: true } => self.keep_reserve(bytes),
                Found::Nothing { .. } => {}
            }
        }
        self.request(class, &mut request)
    }

    /// Makes a live block from memory that did not come from the device's `allocate`.
    pub(crate) fn adopt(self: &Arc<Self>, ptr: NonNull<u8>, bytes: usize, device: Device, tag: Tag) -> RecordRef {
        records::grown(self.device, ptr, bytes);
        let grown = Grown { ptr, bytes, pool: Arc::as_ptr(self), claim: None };
        let class = SizeClass { key: bytes, block_bytes: bytes };
        self.with_books(|books| books.grow(grown, class, Request { device, size: bytes, tag }))
    }

    /// Runs `work` on the pool's shared data, after adding the counts of this thread's cache to its statistics.
    fn with_books<R>(&self, work: impl FnOnce(&mut Books) -> R) -> R {
        let mut work = Some(work);
        let done = thread_cache::with(self.id, |cache| {
            let mut cache = cache.lock();
            let mut books = self.books.lock();
            books.stats.fold(&mut cache.counts);
            work.take().map(|work| work(&mut books))
        });
        match (done.flatten(), work) {
            (Some(done), _) => done,
            (None, Some(work)) => work(&mut self.books.lock()),
            (None, None) => unreachable!("work was done and gave nothing"),
        }
    }
}
