//! Neighboring address ranges as linked entries of a table.

use super::{Arena, ChunkId, NONE};

/// The state of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// In use by an owner.
    Live,
    /// Memory without an owner, available for reuse.
    Free,
    /// Addresses without memory behind them.
    Hole,
    /// Memory that a thread is adding or removing. Other threads do not use it until that thread has finished.
    Moving,
    /// No range: the entry of the table is free for the next new range.
    Unused,
}

/// A range of addresses and its neighbors in the same region (a longer range of addresses that was added as a whole).
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) start: usize,
    pub(super) len: usize,
    /// The range that ends where this one starts; [`NONE`] for the first of a region.
    pub(super) below: ChunkId,
    /// The range that starts where this one ends; [`NONE`] for the last of a region.
    pub(super) above: ChunkId,
    pub(super) state: State,
    pub(super) arena: Arena,
}

impl Chunk {
    pub(super) fn end(&self) -> usize {
        self.start + self.len
    }
}

/// All ranges by number. The numbers of removed ranges are reused.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    table: Vec<Chunk>,
    unused: Vec<ChunkId>,
}

impl std::ops::Index<ChunkId> for Chunks {
    type Output = Chunk;

    fn index(&self, id: ChunkId) -> &Chunk {
        &self.table[id as usize]
    }
}

impl std::ops::IndexMut<ChunkId> for Chunks {
    fn index_mut(&mut self, id: ChunkId) -> &mut Chunk {
        &mut self.table[id as usize]
    }
}

impl Chunks {
    pub(super) fn insert(&mut self, chunk: Chunk) -> ChunkId {
        if let Some(id) = self.unused.pop() {
            self.table[id as usize] = chunk;
            return id;
        }
        // Not reached in practice: 2^32 ranges of the smallest size would be 256 GiB of memory, and their table 200 GiB.
        let id = ChunkId::try_from(self.table.len()).expect("fewer than 2^32 ranges");
        self.table.push(chunk);
        id
    }

    /// Removes a range that has no neighbors.
    pub(super) fn remove(&mut self, id: ChunkId) {
        self.table[id as usize].state = State::Unused;
        self.unused.push(id);
    }

    /// Splits range `id`: it keeps its first `len` bytes, and its other bytes become a new range in the same state.
    pub(super) fn split(&mut self, id: ChunkId, len: usize) -> ChunkId {
        let whole = self[id];
        debug_assert!(0 < len && len < whole.len);
        let rest = self.insert(Chunk { start: whole.start + len, len: whole.len - len, below: id, ..whole });
        if whole.above != NONE {
            self[whole.above].below = rest;
        }
        let chunk = &mut self[id];
        chunk.len = len;
        chunk.above = rest;
        rest
    }

    /// Merges the range above range `id` into `id`, which keeps its number. So the first range of a region keeps its number
    /// too.
    pub(super) fn absorb_above(&mut self, id: ChunkId) {
        let above = self[id].above;
        let absorbed = self[above];
        let chunk = &mut self[id];
        chunk.len += absorbed.len;
        chunk.above = absorbed.above;
        if absorbed.above != NONE {
            self[absorbed.above].below = id;
        }
        self.remove(above);
    }

    /// The range directly below range `id`, if it is in state `state`.
    pub(super) fn below_in(&self, id: ChunkId, state: State) -> Option<ChunkId> {
        let below = self[id].below;
        (below != NONE && self[below].state == state).then_some(below)
    }

    /// The range directly above range `id`, if it is in state `state`.
    pub(super) fn above_in(&self, id: ChunkId, state: State) -> Option<ChunkId> {
        let above = self[id].above;
        (above != NONE && self[above].state == state).then_some(above)
    }

    /// All ranges.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ChunkId, &Chunk)> {
        let numbered = self.table.iter().enumerate().map(|(id, chunk)| (id as ChunkId, chunk));
        numbered.filter(|(_, chunk)| chunk.state != State::Unused)
    }
}
