//! A pool: rounding policy × container of freed blocks × device memory, with a cache for each thread in front.
//!
//! # States of a block
//! *Live*: a [`Block`](crate::Block) owns it. *With a thread*: freed, in the magazine of its class in one [`ThreadCache`]. *Inside*: freed,
//! in the [`Container`]. *Leaving*: in no list, on its way back to the device. Only [`Pool`] moves a block between states.
//!
//! # Steps
//! Allocating: round the request and take (1) the block of this class that this thread freed last, (2) the one on top in
//! the container, (3) one that another thread keeps; these are *hits*. On a miss (4) ask the device how much is free, and
//! if the block would cut into the reserve, return all cached blocks first; (5) request the memory; if refused, (6) empty
//! the cache, wait for threads that are returning memory just now, and try again; if refused, (7) run the hooks of
//! [`Storage::on_pressure`](crate::Storage::on_pressure), empty the cache again and try for the last time.
//! Freeing puts the block on top of its magazine; a full magazine first moves its older half to the container.
//!
//! In front of a container that joins blocks ([`best_fit`]) all magazines together hold a bounded number of bytes, as what
//! a thread keeps cannot be joined. Before (4) everything that threads keep goes into the container, which then looks once
//! more; it looks again before each request of (5) to (7), and asks for what is missing, in reserved addresses where the
//! device has them.
//!
//! # Rules
//! 1. **Order of locks**: list of threads, caches by number, books. The way of (1) and of an ordinary free takes one lock,
//!    the cache of the calling thread, which nobody else wants except under rule 3; it writes no memory that another
//!    thread's hit reads or writes.
//! 2. A block moves between a magazine and the container under both locks, between two magazines under rule 3.
//! 3. Who must see all blocks at once (a miss, a flush, a snapshot) *freezes* the pool: takes the list of threads, every
//!    cache and the books. So a miss is a miss: at one instant no thread had a block of that class. Memory does not grow
//!    because one thread allocates what another frees.
//! 4. S3: while a pool is frozen, `reserved` is the sum of live and cached blocks. Each thread counts in its own cache;
//!    whoever holds its lock together with the books folds the counts in.
//! 5. S10: no lock is held while the device is called, an event is waited for, or a hook or an observer runs. So leaving
//!    blocks are first taken out of the books, and who was refused waits for those under way.
//! 6. S11: books are written only after the device has said yes.
//! 7. S9: a block carries the events of its former owners. A hit on a stream makes that stream wait for those of other
//!    streams and keeps them, as the wait itself may lie in the future; a hit without a stream waits on the host and drops
//!    them; a block leaves for the device only when all are finished. Where blocks are joined, one with
//!    events goes past the magazines and stays whole until they are finished: (3) looks, (4) and (6) wait.
//! 8. **Lifetime**: a block points to its pool without counting, so that a hit touches no shared counter. While a
//!    [`Storage`](crate::Storage) handle exists it owns the pool. When the last one goes it freezes the pool, marks every
//!    cache *orphaned*, gives each live block a counted reference of its own ([`Pool::orphan`]), and returns what is
//!    cached. Whoever frees a block looks at the mark under a lock of rule 3, before the block counts as dead; from then
//!    on blocks go straight back to the device and the last one takes the pool with it. A pool without handles is never
//!    allocated from.
//! 9. A thread that ends puts its cache into the container. One that is ending already, and one that has no cache yet,
//!    work with the books directly.
//! 10. Across a fork all locks are held by the forking thread ([`ForkGuard`](crate::ForkGuard)), so the child finds every
//!     pool in order; blocks with threads that the child lacks are found by (3).

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

pub(crate) use fork::HeldPools;
pub(crate) use record::{RecordRef, Request};
pub(crate) use rounding::Rounding;

use crate::config::{PoolConfig, PoolKind};
use crate::memory::{DeviceMemory, SharedMemory};
use crate::observer::Watch;
use crate::pressure::PressureHooks;
use crate::{PoolStats, Tag, TagStats};
use best_fit::BestFit;
use books::Books;
use container::{Container, Grown};
use crossbeam_utils::CachePadded;
use events::Patience;
use free_lists::FreeLists;
use mxrs_sync::atomic::AtomicUsize;
use mxrs_sync::{Arc, BriefLock, Rank};
use mxrs_types::{Device, DeviceStream, Result};
use rounding::SizeClass;
use search::Found;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use thread_cache::ThreadCache;

pub(crate) struct Pool {
    /// Names the pool for the threads' caches, and orders it among pools.
    id: u64,
    /// The device in its canonical form (`cpu(0)` for every cpu).
    device: Device,
    memory: Arc<dyn DeviceMemory>,
    /// The same, where it can be mapped by other processes.
    segments: Option<Arc<SharedMemory>>,
    rounding: Rounding,
    /// Whether freed blocks are kept, some of them with threads.
    caches: bool,
    /// Whether the container joins blocks, and so bounds what threads keep.
    joins: bool,
    /// Whether memory leaves in other pieces than it came in: as units of a range.
    regroups: bool,
    /// Bytes of the device that growth should leave free while there is something to release.
    reserve_bytes: u64,
    watch: Arc<Watch>,
    hooks: Arc<PressureHooks>,
    threads: CachePadded<BriefLock<Threads>>,
    books: CachePadded<BriefLock<Books>>,
    /// Threads that are returning memory to the device just now; raised under the lock of the books.
    returning: AtomicUsize,
}

/// The threads that keep blocks of a pool, in the order of their numbers.
#[derive(Default)]
struct Threads {
    caches: Vec<Arc<ThreadCache>>,
    n_made: u64,
}

/// What pools of one storage share.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) watch: Arc<Watch>,
    pub(crate) hooks: Arc<PressureHooks>,
}

impl Pool {
    /// Asks the device for its size, so call it without a lock.
    pub(crate) fn new(
        device: Device,
        memory: Arc<dyn DeviceMemory>,
        config: &PoolConfig,
        around: Surroundings,
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
            watch: around.watch,
            hooks: around.hooks,
            threads: CachePadded::new(BriefLock::new(Rank::StorageThreads, id, Threads::default())),
            books: CachePadded::new(BriefLock::new(Rank::Storage, id, Books::new(container))),
            returning: AtomicUsize::new(0),
        }
    }

    /// Says that the memory can be mapped by other processes.
    pub(crate) fn with_segments(mut self, segments: Arc<SharedMemory>) -> Self {
        self.segments = Some(segments);
        self
    }

    /// The memory, where it can be mapped by other processes.
    pub(crate) fn segments(&self) -> Option<&SharedMemory> {
        self.segments.as_deref()
    }

    #[inline]
    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The figures, at one moment.
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

    /// A live record for `size ≥ 1` bytes that calls itself memory of `device`, for use on `stream` or by the host. The
    /// caller is its owner.
    #[inline]
    pub(crate) fn allocate(
        self: &Arc<Self>,
        device: Device,
        size: usize,
        tag: Tag,
        stream: Option<&dyn DeviceStream>,
    ) -> Result<RecordRef> {
        let Some(class) = self.rounding.class(size) else {
            return Err(self.out_of_memory(size, 0));
        };
        let mut request = ManuallyDrop::new(Request { device, size, tag });
        let own = if self.caches { self.take_own(class, &request) } else { None };
        let record = match own {
            Some(record) => record,
            // SAFETY: it has not been moved out of.
            None => self.find_or_grow(class, unsafe { ManuallyDrop::take(&mut request) })?,
        };
        if record.is_marked() {
            self.settle(record, stream)?;
        }
        Ok(record)
    }

    /// Step (1): the block that this thread freed last. On success `request` has been moved out of.
    #[inline]
    fn take_own(&self, class: SizeClass, request: &ManuallyDrop<Request>) -> Option<RecordRef> {
        thread_cache::with(self.id, |cache| {
            let mut cache = cache.lock();
            let record = cache.pop(class.key)?;
            cache.counts.hit(request.size, class.block_bytes);
            // SAFETY: the lock of the cache it was in is held. The caller does not use the request again, and nothing
            // drops it.
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

    /// Memory that came by another way than the device's `allocate` becomes a live block.
    pub(crate) fn adopt(self: &Arc<Self>, ptr: NonNull<u8>, bytes: usize, device: Device, tag: Tag) -> RecordRef {
        let grown = Grown { ptr, bytes, pool: Arc::as_ptr(self), claim: None };
        let class = SizeClass { key: bytes, block_bytes: bytes };
        self.with_books(|books| books.grow(grown, class, Request { device, size: bytes, tag }))
    }

    /// Runs `work` on the books after this thread's cache has reported to them.
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
