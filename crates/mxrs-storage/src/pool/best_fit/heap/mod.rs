//! Best fit over address ranges: takes, splits, joins and gives back. It knows addresses only: no memory, no lock, no
//! device.
//!
//! Memory comes in *regions* of consecutive addresses. A region is cut into *chunks*: live, free, in motion between the
//! heap and the device, or a *hole*: addresses with no memory behind them. Two kinds of region exist, and a heap has
//! one of them:
//! - a *range* starts as one hole; memory appears in it and leaves it in whole units anywhere
//!   ([`Heap::begin_growth`], [`Heap::detach_all`]);
//! - a *segment* has memory throughout, and leaves as a whole or not at all.
//!
//! Invariants, all looked at by [`Heap::check`]:
//! - the chunks of a region follow each other without gap or overlap, each at least a granule long;
//! - no two free chunks touch, and no two holes do: they have been joined;
//! - the free set holds the free chunks, no others; likewise the maps of holes and of live chunks;
//! - holes begin and end at whole units;
//! - the sums are those of the chunks.

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

/// Number of a chunk.
type ChunkId = u32;

/// The number of no chunk.
const NONE: ChunkId = ChunkId::MAX;

/// Chunks of different arenas never serve each other's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arena {
    /// Every request where memory is one growable range; small requests where it comes in segments.
    First,
    /// Large requests where memory comes in segments: they would be kept apart by small blocks that stay.
    Large,
}

/// Sums over the chunks, in bytes or in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) live_bytes: u64,
    pub(super) free_bytes: u64,
    pub(super) free_chunks: u64,
    /// Free memory that a growth under way has set aside.
    pub(super) claimed_bytes: u64,
    /// Chunks of that memory.
    pub(super) claimed_chunks: u64,
    /// Times a free chunk was cut because it was longer than the request.
    pub(super) splits: u64,
    /// Times a freed chunk was joined with a free neighbor.
    pub(super) joins: u64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Heap {
    granule: usize,
    /// Bytes of memory that come and go together within a range; `None` where regions are segments.
    unit: Option<usize>,
    chunks: Chunks,
    /// By arena.
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

    /// Number of live chunks.
    pub(super) fn n_live(&self) -> u64 {
        self.live.len() as u64
    }

    /// Bytes of the longest free chunk, 0 if there is none.
    pub(super) fn longest_free(&self) -> usize {
        self.free.iter().map(FreeSet::longest).max().unwrap_or(0)
    }

    /// A new segment, free throughout. Its neighbors in memory are never joined with it.
    pub(super) fn add_segment(&mut self, arena: Arena, start: usize, len: usize) {
        debug_assert!(self.unit.is_none());
        let id = self.chunks.insert(Chunk { start, len, below: NONE, above: NONE, state: State::Free, arena });
        self.enter_free(id);
    }

    /// A new range of whole units, a hole throughout.
    pub(super) fn add_range(&mut self, start: usize, len: usize) {
        debug_assert!(self.unit.is_some_and(|unit| start.is_multiple_of(unit) && len.is_multiple_of(unit)));
        let chunk = Chunk { start, len, below: NONE, above: NONE, state: State::Hole, arena: Arena::First };
        let id = self.chunks.insert(chunk);
        self.holes.insert(start, id);
    }

    /// The best fit for `len` bytes, cut to that length and live from now on; its first address.
    pub(super) fn take(&mut self, arena: Arena, len: usize) -> Option<usize> {
        let id = self.free[arena as usize].best(len)?;
        self.leave_free(id);
        Some(self.make_live(id, len))
    }

    /// A live chunk becomes free, and one with its free neighbors. Gives its length; `None` if none starts there.
    pub(super) fn give(&mut self, start: usize) -> Option<usize> {
        self.give_chunk(start).map(|(_, len)| len)
    }

    /// As [`give`](Self::give), with the free chunk that it is now part of.
    fn give_chunk(&mut self, start: usize) -> Option<(ChunkId, usize)> {
        let id = self.live.remove(&start)?;
        let len = self.chunks[id].len;
        self.sums.live_bytes -= len as u64;
        Some((self.make_free(id), len))
    }

    /// A chunk of no state becomes live for its first `len` bytes and free for the rest.
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

    /// A chunk of no state becomes free and is joined with its free neighbors. Gives the chunk it is now part of.
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

    /// A chunk of no state becomes a hole and is joined with the holes beside it.
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

    /// Leaves the chunk's state as it is: the caller decides what it becomes.
    fn leave_free(&mut self, id: ChunkId) {
        let Chunk { start, len, arena, .. } = self.chunks[id];
        self.free[arena as usize].remove(id, start, len);
        self.sums.free_bytes -= len as u64;
        self.sums.free_chunks -= 1;
    }
}
