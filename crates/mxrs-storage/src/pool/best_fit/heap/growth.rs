//! Adds memory to a heap and removes it, each in two steps: the first sets the addresses aside, the second records the
//! outcome. In between the device is called, without the lock that guards the heap. A *hole* is a run of addresses without
//! memory; memory is added to it and removed in whole *units*.

use super::chunks::{Chunk, State};
use super::{ChunkId, Heap, NONE};
use crate::pool::best_fit::pointer;
use std::ptr::NonNull;

/// Units of a range that are about to get memory, and the adjacent free memory that will serve the same request.
#[derive(Debug)]
#[must_use = "pass it to `grown` or `not_grown`"]
pub(crate) struct Growth {
    id: ChunkId,
    free_below: usize,
    free_above: usize,
    /// The first address that needs memory.
    pub(in crate::pool) start: usize,
    /// The number of bytes that need memory.
    pub(in crate::pool) len: usize,
}

impl Growth {
    /// The first byte that needs memory.
    pub(in crate::pool) fn ptr(&self) -> NonNull<u8> {
        pointer(self.start)
    }
}

/// Memory that is about to be removed.
#[derive(Debug)]
#[must_use = "pass it to `left`"]
pub(crate) struct Leaving {
    id: ChunkId,
    /// The first address that loses its memory.
    pub(in crate::pool) start: usize,
    /// The number of bytes that lose their memory.
    pub(in crate::pool) len: usize,
}

/// Where a heap grows: a hole (addresses without memory), the bytes of memory to add in it, and the free bytes next to it.
#[derive(Clone, Copy)]
struct Plan {
    hole: ChunkId,
    commit: usize,
    free_below: usize,
    free_above: usize,
}

impl Heap {
    /// The number of bytes that must be added before `len` bytes can be served; `None` if no hole has room.
    pub(in crate::pool::best_fit) fn growth_bytes(&self, len: usize) -> Option<usize> {
        self.plan(len).map(|plan| plan.commit)
    }

    /// The hole in which the fewest units of memory must be added to serve `len` bytes. Free chunks next to a hole count,
    /// because they have memory already. Among equally good holes, it is the one at the lowest address.
    fn plan(&self, len: usize) -> Option<Plan> {
        let unit = self.unit?;
        let mut best: Option<Plan> = None;
        for &hole in self.holes.values() {
            let length = |chunk: ChunkId| self.chunks[chunk].len;
            let free_below = self.chunks.below_in(hole, State::Free).map_or(0, length);
            let missing = len.saturating_sub(free_below).max(1);
            let plan = if missing <= length(hole) {
                Plan { hole, commit: missing.next_multiple_of(unit), free_below, free_above: 0 }
            } else {
                let free_above = self.chunks.above_in(hole, State::Free).map_or(0, length);
                if missing - length(hole) > free_above {
                    continue;
                }
                Plan { hole, commit: length(hole), free_below, free_above }
            };
            if best.is_none_or(|best| plan.commit < best.commit) {
                best = Some(plan);
            }
        }
        best
    }

    /// Sets aside the units that `len` bytes need, and the adjacent free memory; `None` if no hole has room.
    pub(in crate::pool::best_fit) fn begin_growth(&mut self, len: usize) -> Option<Growth> {
        let Plan { hole, commit, free_below, free_above } = self.plan(len)?;
        let start = self.chunks[hole].start;
        self.holes.remove(&start);
        if self.chunks[hole].len > commit {
            let rest = self.chunks.split(hole, commit);
            self.holes.insert(self.chunks[rest].start, rest);
        }
        let mut id = hole;
        if free_above > 0 {
            let above = self.chunks[id].above;
            self.claim(above);
            self.chunks.absorb_above(id);
        }
        if free_below > 0 {
            let below = self.chunks[id].below;
            self.claim(below);
            self.chunks.absorb_above(below);
            id = below;
        }
        self.chunks[id].state = State::Moving;
        Some(Growth { id, free_below, free_above, start, len: commit })
    }

    /// Ends a growth for which the device added the memory: the first `len` bytes are now live. Returns their first
    /// address.
    pub(in crate::pool::best_fit) fn grown(&mut self, growth: Growth, len: usize) -> usize {
        self.unclaim(&growth);
        self.make_live(growth.id, len)
    }

    /// Ends a growth that the device refused, restoring the previous state.
    pub(in crate::pool::best_fit) fn not_grown(&mut self, growth: Growth) {
        self.unclaim(&growth);
        let Growth { id, free_below, free_above, len, .. } = growth;
        let hole = if free_below > 0 { self.chunks.split(id, free_below) } else { id };
        let above = (free_above > 0).then(|| self.chunks.split(hole, len));
        self.make_hole(hole);
        if free_below > 0 {
            self.make_free(id);
        }
        if let Some(above) = above {
            self.make_free(above);
        }
    }

    fn claim(&mut self, id: ChunkId) {
        self.leave_free(id);
        self.sums.claimed_bytes += self.chunks[id].len as u64;
        self.sums.claimed_chunks += 1;
    }

    fn unclaim(&mut self, growth: &Growth) {
        self.sums.claimed_bytes -= (growth.free_below + growth.free_above) as u64;
        self.sums.claimed_chunks -= u64::from(growth.free_below > 0) + u64::from(growth.free_above > 0);
    }

    /// Sets aside all free memory that can be removed: whole units of ranges, whole segments.
    pub(in crate::pool::best_fit) fn detach_all(&mut self) -> Vec<Leaving> {
        let free: Vec<ChunkId> = self.free.iter().flat_map(|set| set.iter()).collect();
        free.into_iter().filter_map(|id| self.detach(id, 0, usize::MAX)).collect()
    }

    /// Frees a live chunk. Sets aside the units that contained the chunk, or its segment, if they are now entirely
    /// free. Returns the chunk's length and what was set aside; `None` if no live chunk starts at `start`.
    pub(in crate::pool::best_fit) fn give_directly(&mut self, start: usize) -> Option<(usize, Option<Leaving>)> {
        let (id, len) = self.give_chunk(start)?;
        Some((len, self.detach(id, start, start + len)))
    }

    /// Sets aside memory of a free chunk: in a range, the whole units that contain an address from `first` up to
    /// `limit`; in a segment, the whole segment if it is entirely free.
    fn detach(&mut self, id: ChunkId, first: usize, limit: usize) -> Option<Leaving> {
        let Chunk { start, len, below, above, .. } = self.chunks[id];
        let end = start + len;
        let (from, to) = match self.unit {
            None if below == NONE && above == NONE => (start, end),
            None => return None,
            Some(unit) => {
                let from = start.next_multiple_of(unit).max(first / unit * unit);
                (from, (end / unit * unit).min(limit.checked_next_multiple_of(unit).unwrap_or(limit)))
            }
        };
        if from >= to {
            return None;
        }
        self.leave_free(id);
        let mut middle = id;
        if from > start {
            middle = self.chunks.split(id, from - start);
            self.enter_free(id);
        }
        if to < end {
            let rest = self.chunks.split(middle, to - from);
            self.enter_free(rest);
        }
        self.chunks[middle].state = State::Moving;
        Some(Leaving { id: middle, start: from, len: to - from })
    }

    /// Records that the device has removed the memory. In a range, its addresses become a hole; a segment is dropped.
    pub(in crate::pool::best_fit) fn left(&mut self, leaving: Leaving) {
        match self.unit {
            Some(_) => self.make_hole(leaving.id),
            None => self.chunks.remove(leaving.id),
        }
    }
}
