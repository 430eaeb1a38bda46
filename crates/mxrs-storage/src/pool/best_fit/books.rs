//! What the lock of a best-fit pool guards: the heap, and the figures that belong to it.

use super::heap::{Arena, Growth, Heap, Leaving};
use crate::PoolStats;

pub(super) struct Books {
    heap: Heap,
    stats: PoolStats,
    /// Reserved ranges: first addresses and lengths.
    ranges: Vec<(usize, usize)>,
    /// Threads that are returning memory to the device just now.
    returning: usize,
}

impl Books {
    pub(super) fn new(heap: Heap) -> Self {
        Self { heap, stats: PoolStats::default(), ranges: Vec::new(), returning: 0 }
    }

    /// The figures at this moment. Free memory that a growth has set aside still counts as cached.
    pub(super) fn stats(&self) -> PoolStats {
        let sums = self.heap.sums();
        PoolStats {
            cached_blocks: sums.free_chunks + sums.claimed_chunks,
            cached_bytes: sums.free_bytes + sums.claimed_bytes,
            live_blocks_bytes: sums.live_bytes,
            ..self.stats
        }
    }

    pub(super) fn reset_peaks(&mut self) {
        self.stats.peak_reserved = self.stats.reserved;
        self.stats.peak_live_requested = self.stats.live_requested;
    }

    pub(super) fn longest_free(&self) -> usize {
        self.heap.longest_free()
    }

    /// Whether there is free memory at all.
    pub(super) fn has_free(&self) -> bool {
        self.heap.sums().free_bytes > 0
    }

    /// Serves a request from free memory; its address.
    pub(super) fn take(&mut self, arena: Arena, size: usize, block_bytes: usize) -> Option<usize> {
        let start = self.heap.take(arena, block_bytes)?;
        self.stats.hits += 1;
        self.lives(size);
        Some(start)
    }

    /// A live block becomes free memory; whether there was one.
    pub(super) fn give(&mut self, start: usize, size: usize) -> bool {
        let known = self.heap.give(start).is_some();
        if known {
            self.dies(size);
        }
        known
    }

    /// A live block becomes free memory, and what can leave is set aside. `None` if there is no such block.
    pub(super) fn give_directly(&mut self, start: usize, size: usize) -> Option<Option<Leaving>> {
        let (_, leaving) = self.heap.give_directly(start)?;
        self.dies(size);
        if let Some(leaving) = &leaving {
            self.returning += 1;
            self.leaves(leaving);
        }
        Some(leaving)
    }

    /// Sets aside all free memory that can leave.
    pub(super) fn detach_all(&mut self, is_flush: bool) -> Vec<Leaving> {
        let leaving = self.heap.detach_all();
        self.returning += usize::from(!leaving.is_empty());
        leaving.iter().for_each(|leaving| self.leaves(leaving));
        if is_flush && !leaving.is_empty() {
            self.stats.flushes += 1;
            self.stats.flushed_bytes += leaving.iter().map(|leaving| leaving.len as u64).sum::<u64>();
        }
        leaving
    }

    /// The device has memory back that was set aside.
    pub(super) fn left(&mut self, leaving: Leaving) {
        self.heap.left(leaving);
        self.check();
    }

    pub(super) fn is_returning(&self) -> bool {
        self.returning > 0
    }

    /// A thread has returned what it set aside, or lost it in a panic of the device; whether it was the last one.
    pub(super) fn has_returned(&mut self) -> bool {
        self.returning -= 1;
        self.returning == 0
    }

    pub(super) fn add_range(&mut self, start: usize, len: usize) {
        self.ranges.push((start, len));
        self.heap.add_range(start, len);
    }

    /// All ranges, which are no longer the heap's.
    pub(super) fn take_ranges(&mut self) -> Vec<(usize, usize)> {
        std::mem::take(&mut self.ranges)
    }

    /// Bytes by which a range would have to grow for a block; `None` if none has room.
    pub(super) fn growth_bytes(&self, block_bytes: usize) -> Option<usize> {
        self.heap.growth_bytes(block_bytes)
    }

    pub(super) fn begin_growth(&mut self, block_bytes: usize) -> Option<Growth> {
        self.heap.begin_growth(block_bytes)
    }

    /// The device gave what a growth asked for; the address of the block.
    pub(super) fn grown(&mut self, growth: Growth, size: usize, block_bytes: usize) -> usize {
        self.comes(growth.len);
        let start = self.heap.grown(growth, block_bytes);
        self.lives(size);
        self.check();
        start
    }

    /// The device refused; whether another thread may have use for what was set aside is not our concern.
    pub(super) fn not_grown(&mut self, growth: Growth) {
        self.refused();
        self.heap.not_grown(growth);
        self.check();
    }

    /// The device gave a segment; the address of the block, if it has room in it.
    pub(super) fn add_segment(
        &mut self,
        (start, len): (usize, usize),
        arena: Arena,
        size: usize,
        block_bytes: usize,
    ) -> Option<usize> {
        self.comes(len);
        self.heap.add_segment(arena, start, len);
        let start = self.heap.take(arena, block_bytes)?;
        self.lives(size);
        self.check();
        Some(start)
    }

    pub(super) fn refused(&mut self) {
        self.stats.refusals += 1;
    }

    fn comes(&mut self, bytes: usize) {
        self.stats.system_gave(bytes);
    }

    fn leaves(&mut self, leaving: &Leaving) {
        self.stats.system_takes(leaving.len);
    }

    fn lives(&mut self, size: usize) {
        self.stats.allocations += 1;
        self.stats.live_blocks += 1;
        self.stats.live_requested += size as u64;
        self.stats.peak_live_requested = self.stats.peak_live_requested.max(self.stats.live_requested);
    }

    fn dies(&mut self, size: usize) {
        self.stats.frees += 1;
        self.stats.live_blocks -= 1;
        self.stats.live_requested -= size as u64;
    }

    /// In debug builds, and while that is cheap, all invariants.
    fn check(&self) {
        if cfg!(debug_assertions) && self.heap.sums().free_chunks + self.stats.live_blocks < 256 {
            self.heap.check();
            let sums = self.heap.sums();
            assert_eq!(self.stats.reserved, sums.live_bytes + sums.free_bytes + sums.claimed_bytes);
        }
    }
}
