//! The *books* of a pool: the data that its threads share under one lock. They are the container of freed blocks, the
//! statistics, and the *roster*: a list of the blocks outside the container.

use super::container::{Apart, Container, Grown};
use super::counts::Counts;
use super::inventory::Inventory;
use super::record::{Events, RecordRef, Request, Segment};
use super::rounding::SizeClass;
use crate::{PoolStats, Tag};
use mxrs_sync::atomic::Ordering;

/// Everything that the pool's lock guards.
pub(super) struct Books {
    pub(super) container: Box<dyn Container>,
    /// The statistics so far; [`snapshot`](Self::snapshot) fills in the numbers of cached blocks.
    pub(super) stats: PoolStats,
    pub(super) roster: Roster,
    inventory: Inventory,
    /// Whether the last handle of the storage is gone, so that freed blocks go directly to the device.
    pub(super) orphaned: bool,
}

impl Books {
    pub(super) fn new(container: Box<dyn Container>) -> Self {
        Self {
            container,
            stats: PoolStats::default(),
            roster: Roster::default(),
            inventory: Inventory::default(),
            orphaned: false,
        }
    }

    /// Takes a block of this class from the container.
    pub(super) fn take(&mut self, class: SizeClass) -> Option<RecordRef> {
        let record = self.container.take(class)?;
        self.roster.enter(record);
        Some(record)
    }

    /// Gives an owner to a block that was just taken from the container or from a thread's cache.
    pub(super) fn hit(&mut self, record: RecordRef, request: Request) {
        let mut counts = Counts::default();
        counts.hit(request.size, record.block_bytes());
        self.stats.fold(&mut counts);
        // SAFETY: the caller holds the lock under which the block was taken: that of the books, as `&mut self` shows,
        // or that of a thread's cache, because all locks of the pool are held while it searches the caches.
        unsafe { record.revive(request) };
    }

    /// Puts a block without an owner into the container.
    pub(super) fn put(&mut self, record: RecordRef) {
        self.roster.leave(record);
        self.container.put(record);
    }

    /// Makes a live block from memory that the device has just provided.
    pub(super) fn grow(&mut self, memory: Grown, class: SizeClass, request: Request) -> RecordRef {
        let (size, bytes) = (request.size, memory.bytes);
        if !self.container.regroups() {
            self.inventory.arrived(memory.ptr, bytes, &request.tag);
        }
        let record = self.container.grow(memory, class, request);
        self.roster.enter(record);
        self.stats.grew(size, record.block_bytes(), bytes);
        record
    }

    /// Frees a live block and calls `count` to count it. The caller then adds the record to the container or a thread's
    /// cache. Returns its tag, to be dropped without a lock.
    pub(super) fn retire(&mut self, record: RecordRef, count: impl FnOnce(&mut Counts, usize, usize)) -> Option<Tag> {
        // SAFETY: the caller is the owner of the block, and `&mut self` shows that the lock of the books is held.
        let (size, tag) = unsafe { record.retire() };
        let mut counts = Counts::default();
        count(&mut counts, size, record.block_bytes());
        self.stats.fold(&mut counts);
        tag
    }

    /// Frees a live block that the container must not hand out again.
    pub(super) fn discard(&mut self, record: RecordRef) -> (Option<Segment>, Option<Tag>) {
        let tag = self.retire(record, Counts::freed);
        self.roster.leave(record);
        let segment = self.container.discard(record);
        segment.iter().for_each(|segment| self.left(segment));
        (segment, tag)
    }

    /// Empties the container. Returns the memory that is to go back to the device.
    pub(super) fn drain(&mut self) -> Vec<Segment> {
        let segments = self.container.drain();
        segments.iter().for_each(|segment| self.left(segment));
        segments
    }

    /// Abandons blocks that were set apart and whose events will never finish.
    pub(super) fn abandon(&mut self, unending: &[Apart]) -> Vec<Events> {
        let (bytes, events) = self.container.abandon(unending);
        self.stats.abandoned_bytes += bytes;
        self.stats.reserved -= bytes;
        events
    }

    fn left(&mut self, segment: &Segment) {
        if !self.container.regroups() {
            self.inventory.left(segment.ptr, segment.bytes);
        }
        self.stats.shrank(segment.bytes);
    }

    /// The statistics, given the number and bytes of blocks that threads cache. The caller has already added the counts of
    /// all threads to `self.stats`.
    pub(super) fn snapshot(&self, with_threads: (u64, u64)) -> PoolStats {
        let mut stats = self.stats;
        let inside = self.container.inside();
        (stats.cached_blocks, stats.cached_bytes) = (inside.0 + with_threads.0, inside.1 + with_threads.1);
        // The threads may have reached their peaks at different times, so the sum of these peaks may exceed what was ever
        // held. Therefore the sum is limited.
        stats.peak_live_requested = stats.peak_live_requested.min(stats.peak_reserved).max(stats.live_requested);
        debug_assert_eq!(stats.reserved, stats.live_blocks_bytes + stats.cached_bytes, "S3");
        stats
    }
}

impl Drop for Books {
    fn drop(&mut self) {
        debug_assert!(
            self.roster.records.is_empty(),
            "a pool went away before {} of its blocks",
            self.roster.records.len()
        );
    }
}

/// The blocks outside the container, live or cached by a thread, in any order.
#[derive(Default)]
pub(super) struct Roster {
    records: Vec<RecordRef>,
}

impl Roster {
    fn enter(&mut self, record: RecordRef) {
        record.roster_at.store(self.records.len(), Ordering::Relaxed);
        self.records.push(record);
    }

    fn leave(&mut self, record: RecordRef) {
        let at = record.roster_at.load(Ordering::Relaxed);
        let left = self.records.swap_remove(at);
        debug_assert_eq!(left, record);
        if let Some(moved) = self.records.get(at) {
            moved.roster_at.store(at, Ordering::Relaxed);
        }
    }

    pub(super) fn records(&self) -> &[RecordRef] {
        &self.records
    }
}
