//! The container of `BestFit`, which cuts blocks out of longer free ranges and joins them again.
//!
//! `take` selects the shortest free range that fits and cuts it to the length of the block. `put` joins the block with the
//! free ranges on both sides. The pool asks the device only for what is missing.
//!
//! If the device can add memory behind reserved addresses ([`GrowableMemory`](crate::GrowableMemory)), all blocks are
//! in one range that grows at its end, unit by unit, so every remainder has neighbors that it can be joined with.
//! Otherwise memory comes in [segments], and remainders are joined within them.
//!
//! How the container keeps the rules of the pool (numbered as in the head of the crate):
//! - S2, S3: [`heap`] contains each address once. The container has only free ranges inside, including remainders.
//! - S7: if a block is freed directly, as much of it as possible is returned to the device: the units, or the segment, that
//!   contain no other block. The rest becomes ordinary free memory.
//! - S9: ranges carry no events. A block with events is set apart as a whole, under its class, and serves only that class.
//!   The pool checks whether the events are finished before it grows, and waits for them before it gives up.
//! - S10: addresses whose memory is about to be added or removed are set aside in the heap, so no lock is held
//!   meanwhile.
//! - S11: a refused growth is undone.
//!
//! Blocks cached by threads cannot be joined. Therefore all threads together cache at most a 32nd of the pool's bytes (2 MiB
//! in a small pool). A thread that exceeds its share moves all its blocks into the container. The pool moves the blocks of
//! all threads into the container before it grows. So the range grows only if no free range can serve the request after
//! everything has been joined.

mod backing;
mod heap;
mod segments;

use super::Pool;
use super::container::{Apart, Container, Grown, Growth};
use super::record::{Events, RecordRef, Request, Segment};
use super::rounding::SizeClass;
use crate::ALIGNMENT;
use crate::memory::DeviceMemory;
use backing::Backing;
pub(super) use backing::reserve;
use heap::Heap;
pub(crate) use heap::{Growth as Claim, Leaving};
use mxrs_sync::Arc;
use mxrs_types::DeviceKind;
use rustc_hash::FxHashMap;
use std::ptr::NonNull;

/// In host memory, the length and address of a block are multiples of this many bytes.
pub(crate) const HOST_GRANULE: usize = ALIGNMENT;
/// In GPU memory, the length and address of a block are multiples of this many bytes.
const GPU_GRANULE: usize = 512;

/// The granule of a device's blocks.
pub(crate) const fn granule(kind: DeviceKind) -> usize {
    match kind {
        DeviceKind::Gpu => GPU_GRANULE,
        DeviceKind::Cpu | DeviceKind::CpuPinned | DeviceKind::CpuShared => HOST_GRANULE,
    }
}

/// All threads together cache at most the pool's bytes divided by this number, or [`LEAST_FRONT`] if that is more.
const FRONT_SHARE: u64 = 32;
/// The number of bytes that all threads together may cache even if the pool is small.
const LEAST_FRONT: usize = 2 << 20;

/// In debug builds, all invariants of the heap are checked after each change, but only while the heap has fewer than this
/// many free chunks and fewer than this many live ones, because the check visits every chunk.
const SMALL_HEAP: u64 = 256;

/// The container; the head of this module explains it.
pub(super) struct BestFit {
    heap: Heap,
    backing: Backing,
    /// Reserved ranges: first address and length.
    ranges: Vec<(NonNull<u8>, usize)>,
    /// The pool, which new records point to. Null until the pool first gets memory, because earlier there are no
    /// records.
    pool: *const Pool,
    apart: FxHashMap<usize, Vec<RecordRef>>,
    n_apart: u64,
    apart_bytes: u64,
    /// Whether memory was abandoned because the work that uses it may never end.
    has_abandoned: bool,
}

// SAFETY: the pointers only identify addresses and the pool, and are not dereferenced here; `RecordRef` is `Send`.
unsafe impl Send for BestFit {}

impl BestFit {
    /// Opens a container for a device of `total` bytes. It reserves addresses, so the caller must hold no lock.
    pub(super) fn open(memory: &dyn DeviceMemory, total: u64) -> Self {
        let granule = granule(memory.device().kind);
        let (backing, range) = Backing::open(memory, total, granule);
        let mut container = Self {
            heap: Heap::new(granule, backing.unit()),
            backing,
            ranges: Vec::new(),
            pool: std::ptr::null(),
            apart: FxHashMap::default(),
            n_apart: 0,
            apart_bytes: 0,
            has_abandoned: false,
        };
        if let Some((start, bytes)) = range {
            container.add_range(start, bytes);
        }
        container
    }

    fn segment(&self, leaving: Leaving) -> Segment {
        Segment { ptr: pointer(leaving.start), bytes: leaving.len, events: Events::new(), leaving: Some(leaving) }
    }

    /// Destroys a record and adds its block to the free ranges.
    fn give(&mut self, record: RecordRef) {
        let start = record.ptr().addr().get();
        // SAFETY: the caller passes the last pointer to the record. `put` gets it right after the pool's roster (its
        // list of blocks outside the container) lost it; `join` has just removed it from `self.apart`.
        drop(unsafe { record.destroy() });
        let known = self.heap.give(start).is_some();
        debug_assert!(known, "{start:#x} was given back, but is not live");
        self.check();
    }

    fn leave_apart(&mut self, key: usize, at: usize) -> Option<RecordRef> {
        let records = self.apart.get_mut(&key)?;
        let record = records.remove(at);
        self.n_apart -= 1;
        self.apart_bytes -= record.block_bytes() as u64;
        Some(record)
    }

    /// The index in `self.apart` of a block that was set apart; `None` if the block is no longer set apart.
    fn place(&self, apart: &Apart) -> Option<usize> {
        self.apart.get(&apart.key)?.iter().position(|record| *record == apart.record)
    }

    fn check(&self) {
        if cfg!(debug_assertions) && self.heap.sums().free_chunks < SMALL_HEAP && self.heap.n_live() < SMALL_HEAP {
            self.heap.check();
        }
    }
}

impl Container for BestFit {
    fn front_bytes(&self, reserved: u64) -> usize {
        usize::try_from(reserved / FRONT_SHARE).unwrap_or(usize::MAX).max(LEAST_FRONT)
    }

    fn take(&mut self, class: SizeClass) -> Option<RecordRef> {
        if let Some(n) = self.apart.get(&class.key).map(Vec::len).filter(|&n| n > 0) {
            return self.leave_apart(class.key, n - 1);
        }
        let start = self.heap.take(self.backing.arena(class.block_bytes), class.block_bytes)?;
        Some(RecordRef::idle(pointer(start), class.block_bytes, class.key, self.pool))
    }

    fn put(&mut self, record: RecordRef) {
        if record.is_marked() {
            self.n_apart += 1;
            self.apart_bytes += record.block_bytes() as u64;
            self.apart.entry(record.key()).or_default().push(record);
        } else {
            self.give(record);
        }
    }

    fn growth_bytes(&self, class: SizeClass) -> usize {
        match self.backing {
            Backing::Ranges { .. } => self.heap.growth_bytes(class.block_bytes).unwrap_or(class.block_bytes),
            Backing::Segments => segments::segment_bytes(class.block_bytes),
        }
    }

    fn least_bytes(&self, class: SizeClass) -> Option<usize> {
        let least = class.block_bytes;
        (matches!(self.backing, Backing::Segments) && least < segments::segment_bytes(least)).then_some(least)
    }

    fn begin_growth(&mut self, class: SizeClass) -> Growth {
        match self.backing {
            Backing::Ranges { .. } => match self.heap.begin_growth(class.block_bytes) {
                Some(claim) => Growth::Commit(claim),
                None => Growth::Reserve(self.backing.another_range(class.block_bytes)),
            },
            Backing::Segments => Growth::Allocate(segments::segment_bytes(class.block_bytes)),
        }
    }

    fn add_range(&mut self, start: NonNull<u8>, bytes: usize) {
        self.ranges.push((start, bytes));
        self.heap.add_range(start.expose_provenance().get(), bytes);
    }

    fn grow(&mut self, memory: Grown, class: SizeClass, request: Request) -> RecordRef {
        self.pool = memory.pool;
        let start = match memory.claim {
            Some(claim) => self.heap.grown(claim, class.block_bytes),
            None => {
                let arena = self.backing.arena(class.block_bytes);
                self.heap.add_segment(arena, memory.ptr.expose_provenance().get(), memory.bytes);
                match self.heap.take(arena, class.block_bytes) {
                    Some(start) => start,
                    None => unreachable!("{} bytes do not fit into {}", class.block_bytes, memory.bytes),
                }
            }
        };
        self.check();
        RecordRef::new(pointer(start), class.block_bytes, class.key, memory.pool, request)
    }

    fn not_grown(&mut self, claim: Claim) {
        self.heap.not_grown(claim);
        self.check();
    }

    fn discard(&mut self, record: RecordRef) -> Option<Segment> {
        if record.is_marked() {
            self.put(record);
            return None;
        }
        let start = record.ptr().addr().get();
        // SAFETY: `Books::discard` has removed the record from the pool's list of blocks and passes the last pointer to
        // it.
        drop(unsafe { record.destroy() });
        let given = self.heap.give_directly(start);
        debug_assert!(given.is_some(), "{start:#x} was given back, but is not live");
        given.and_then(|(_, leaving)| leaving).map(|leaving| self.segment(leaving))
    }

    fn drain(&mut self) -> Vec<Segment> {
        let leaving = self.heap.detach_all();
        leaving.into_iter().map(|leaving| self.segment(leaving)).collect()
    }

    fn left(&mut self, leaving: Leaving) {
        self.heap.left(leaving);
        self.check();
    }

    /// Includes free memory that is set aside for a growth in progress, because no block owns it yet.
    fn inside(&self) -> (u64, u64) {
        let sums = self.heap.sums();
        (sums.free_chunks + sums.claimed_chunks + self.n_apart, sums.free_bytes + sums.claimed_bytes + self.apart_bytes)
    }

    fn largest_bytes(&self) -> usize {
        let apart = self.apart.values().filter_map(|records| records.last()).map(|record| record.block_bytes()).max();
        self.heap.longest_free().max(apart.unwrap_or(0))
    }

    fn apart(&self) -> Vec<Apart> {
        let records = self.apart.iter().flat_map(|(&key, records)| records.iter().map(move |&record| (key, record)));
        records.map(|(key, record)| Apart { record, key, events: record.copy_events() }).collect()
    }

    fn join(&mut self, finished: &[Apart]) -> Vec<Events> {
        let mut gone = Vec::new();
        for apart in finished.iter().filter(|apart| !apart.events.is_empty()) {
            let Some(at) = self.place(apart) else { continue };
            let mut events = Events::new();
            if apart.record.forget(&apart.events, &mut events)
                && let Some(record) = self.leave_apart(apart.key, at)
            {
                self.give(record);
            }
            gone.push(events);
        }
        gone
    }

    fn abandon(&mut self, unending: &[Apart]) -> (u64, Vec<Events>) {
        let (mut bytes, mut gone) = (0, Vec::new());
        for apart in unending {
            let Some(at) = self.place(apart) else { continue };
            // If the block has none of these events any more, it was reused meanwhile and set apart again for other work. So
            // it is not abandoned.
            if !apart.record.copy_events().iter().any(|event| apart.events.iter().any(|old| Arc::ptr_eq(event, old))) {
                continue;
            }
            if let Some(record) = self.leave_apart(apart.key, at) {
                // SAFETY: `self.apart` had the only pointer to the record. In the heap the block stays live, so its
                // memory is not reused.
                let segment = unsafe { record.destroy() };
                bytes += segment.bytes as u64;
                gone.push(segment.events);
                self.has_abandoned = true;
            }
        }
        (bytes, gone)
    }

    /// Returns no range if memory was abandoned, because pending work may still use that memory.
    fn close(&mut self) -> Vec<(NonNull<u8>, usize)> {
        if self.has_abandoned { Vec::new() } else { std::mem::take(&mut self.ranges) }
    }

    fn regroups(&self) -> bool {
        matches!(self.backing, Backing::Ranges { .. })
    }
}

/// The pointer to an address inside a region. The provenance of the memory was exposed when the region was added.
fn pointer(start: usize) -> NonNull<u8> {
    match std::num::NonZero::new(start) {
        Some(start) => NonNull::with_exposed_provenance(start),
        None => unreachable!("no region contains address 0"),
    }
}
