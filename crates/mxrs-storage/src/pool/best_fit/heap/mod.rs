//! Best fit over address ranges: takes, splits, joins and returns them. This module only computes with addresses: it has no
//! memory, no lock and no device.
//!
//! Memory is organized in *regions* of consecutive addresses, all multiples of a *granule*. A region is divided into
//! *chunks*: live, free, in motion between the heap and the device, or a *hole*: addresses without memory behind them.
//! There are two kinds of region, and a heap has only one of them:
//! - a *range* starts as one hole; memory is added and removed in whole units anywhere in it
//!   ([`Heap::begin_growth`], [`Heap::detach_all`]);
//! - a *segment* has memory throughout, and can only be removed as a whole.
//!
//! Invariants, all checked by [`Heap::check`]:
//! - the chunks of a region follow each other without gap or overlap, each at least a granule long;
//! - no two free chunks are adjacent, and no two holes are, because they are joined;
//! - the free set contains exactly the free chunks; likewise the maps of holes and of live chunks;
//! - holes begin and end at whole units;
//! - every sum in [`Sums`] agrees with the chunks.

mod check;
mod chunks;
mod free_set;
mod growth;
#[cfg(test)]
mod tests;

use chunks::{Chunk, Chunks, State};
use free_set::FreeSet;
pub(crate) use growth::{Growth, Leaving};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The number of a chunk.
type ChunkId = u32;

/// Stands for "no chunk".
const NONE: ChunkId = ChunkId::MAX;

/// A part of the free memory. Chunks of one arena never serve the requests of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arena {
    /// All requests if memory is one growable range; small requests if it comes in segments.
    First,
    /// Large requests if memory comes in segments. They are separate because a small block that stays among large ones would
    /// prevent joining.
    Large,
}

/// Sums over the chunks, in bytes or in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) live_bytes: u64,
    pub(super) free_bytes: u64,
    pub(super) free_chunks: u64,
    /// Free memory that was set aside because memory next to it is being added for the same request.
    pub(super) claimed_bytes: u64,
    /// The number of chunks of the memory in `claimed_bytes`.
    pub(super) claimed_chunks: u64,
    /// How often a free chunk was split because it was longer than the request.
    pub(super) splits: u64,
    /// How often a freed chunk was joined with a free neighbor.
    pub(super) joins: u64,
}

/// The heap; the head of this module explains it.
#[derive(Debug)]
pub(super) struct Heap {
    granule: usize,
    /// The number of bytes that are added or removed together within a range; `None` if regions are segments.
    unit: Option<usize>,
    chunks: Chunks,
    /// The free chunks of each arena.
    free: [FreeSet; 2],
    holes: BTreeMap<usize, ChunkId>,
    live: FxHashMap<usize, ChunkId>,
    sums: Sums,
}

impl Heap {
    /// An empty heap. Lengths of requests are multiples of `granule`; `unit` is a multiple of it.
    pub(super) fn new(granule: usize, unit: Option<usize>) -> Self {
        debug_assert!(unit.is_none_or(|unit| unit.is_multiple_of(granule)));
        Self {
            granule,
            unit,
            chunks: Chunks::default(),
            free: [FreeSet::new(granule), FreeSet::new(granule)],
            holes: BTreeMap::new(),
            live: FxHashMap::default(),
            sums: Sums::default(),
        }
    }

    pub(super) fn sums(&self) -> Sums {
        self.sums
    }

    /// The number of live chunks.
    pub(super) fn n_live(&self) -> u64 {
        self.live.len() as u64
    }

    /// The length of the longest free chunk in bytes; 0 if there is none.
    pub(super) fn longest_free(&self) -> usize {
        self.free.iter().map(FreeSet::longest).max().unwrap_or(0)
    }

    /// Adds a segment, which is free throughout. It is never joined with its neighbors in memory.
    pub(super) fn add_segment(&mut self, arena: Arena, start: usize, len: usize) {
        debug_assert!(self.unit.is_none());
        let id = self.chunks.insert(Chunk { start, len, below: NONE, above: NONE, state: State::Free, arena });
        self.enter_free(id);
    }

    /// Adds a range of whole units, which is one hole.
    pub(super) fn add_range(&mut self, start: usize, len: usize) {
        debug_assert!(self.unit.is_some_and(|unit| start.is_multiple_of(unit) && len.is_multiple_of(unit)));
        let chunk = Chunk { start, len, below: NONE, above: NONE, state: State::Hole, arena: Arena::First };
        let id = self.chunks.insert(chunk);
        self.holes.insert(start, id);
    }

    /// Takes the best fit for `len` bytes and splits off the rest. Returns the first address of the chunk, which is now
    /// live.
    pub(super) fn take(&mut self, arena: Arena, len: usize) -> Option<usize> {
        let id = self.free[arena as usize].best(len)?;
        self.leave_free(id);
        Some(self.make_live(id, len))
    }

    /// Frees a live chunk and joins it with its free neighbors. Returns its length; `None` if no live chunk starts at
    /// `start`.
    pub(super) fn give(&mut self, start: usize) -> Option<usize> {
        self.give_chunk(start).map(|(_, len)| len)
    }

    /// Like [`give`](Self::give), but also returns the free chunk that now contains the freed one.
    fn give_chunk(&mut self, start: usize) -> Option<(ChunkId, usize)> {
        let id = self.live.remove(&start)?;
        let len = self.chunks[id].len;
        self.sums.live_bytes -= len as u64;
        Some((self.make_free(id), len))
    }

    /// Makes the first `len` bytes of a chunk live and the rest free. The caller has removed the chunk from the free
    /// set and the maps of chunks.
    fn make_live(&mut self, id: ChunkId, len: usize) -> usize {
        self.chunks[id].state = State::Live;
        if self.chunks[id].len > len {
            let rest = self.chunks.split(id, len);
            self.sums.splits += 1;
            self.make_free(rest);
        }
        let start = self.chunks[id].start;
        self.live.insert(start, id);
        self.sums.live_bytes += len as u64;
        start
    }

    /// Makes a chunk free and joins it with its free neighbors; returns the resulting chunk. The caller has removed the
    /// given chunk from the free set and the maps of chunks.
    fn make_free(&mut self, id: ChunkId) -> ChunkId {
        let mut id = id;
        if let Some(above) = self.chunks.above_in(id, State::Free) {
            self.leave_free(above);
            self.chunks.absorb_above(id);
            self.sums.joins += 1;
        }
        if let Some(below) = self.chunks.below_in(id, State::Free) {
            self.leave_free(below);
            self.chunks.absorb_above(below);
            self.sums.joins += 1;
            id = below;
        }
        self.enter_free(id);
        id
    }

    /// Makes a chunk a hole and joins it with adjacent holes. The caller has removed the chunk from the free set and
    /// the maps of chunks.
    fn make_hole(&mut self, id: ChunkId) {
        let mut id = id;
        if let Some(above) = self.chunks.above_in(id, State::Hole) {
            self.holes.remove(&self.chunks[above].start);
            self.chunks.absorb_above(id);
        }
        match self.chunks.below_in(id, State::Hole) {
            Some(below) => {
                self.chunks.absorb_above(below);
                id = below;
            }
            None => _ = self.holes.insert(self.chunks[id].start, id),
        }
        self.chunks[id].state = State::Hole;
    }

    fn enter_free(&mut self, id: ChunkId) {
        let chunk = &mut self.chunks[id];
        chunk.state = State::Free;
        let Chunk { start, len, arena, .. } = *chunk;
        self.free[arena as usize].insert(id, start, len);
        self.sums.free_bytes += len as u64;
        self.sums.free_chunks += 1;
    }

    /// Removes a chunk from the free set without changing its state, which the caller sets.
    fn leave_free(&mut self, id: ChunkId) {
        let Chunk { start, len, arena, .. } = self.chunks[id];
        self.free[arena as usize].remove(id, start, len);
        self.sums.free_bytes -= len as u64;
        self.sums.free_chunks -= 1;
    }
}
