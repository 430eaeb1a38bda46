//! The free ranges of a heap, ordered so that the best fit is found quickly.
//!
//! All lengths are multiples of a *granule*. A range of at most [`N_BINS`] granules is in the bin of its exact length:
//! a list, last in first out, so that a small request is served by reading one word of bits instead of searching a
//! tree. Longer ranges are in a tree ordered by length, then by address. The first entry of the tree that is long
//! enough is the best fit: the shortest range that fits, and the one with the lowest address if several are equally
//! short.

use super::{ChunkId, NONE};
use std::collections::BTreeMap;

/// Each length of 1 to this many granules has its own bin.
const N_BINS: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Links {
    before: ChunkId,
    after: ChunkId,
}

#[derive(Debug)]
pub(super) struct FreeSet {
    granule: usize,
    /// The first range of each bin.
    bins: [ChunkId; N_BINS],
    /// Bit `n` is set if bin `n` has a range.
    filled: u32,
    /// For each range, its neighbors in the list of its bin.
    links: Vec<Links>,
    /// Ranges too long for a bin, by length and address.
    long: BTreeMap<(usize, usize), ChunkId>,
}

impl FreeSet {
    pub(super) fn new(granule: usize) -> Self {
        Self { granule, bins: [NONE; N_BINS], filled: 0, links: Vec::new(), long: BTreeMap::new() }
    }

    fn bin(&self, len: usize) -> usize {
        len.div_ceil(self.granule) - 1
    }

    pub(super) fn insert(&mut self, id: ChunkId, start: usize, len: usize) {
        let bin = self.bin(len);
        if bin >= N_BINS {
            self.long.insert((len, start), id);
            return;
        }
        let after = self.bins[bin];
        if after != NONE {
            self.links[after as usize].before = id;
        }
        if self.links.len() <= id as usize {
            self.links.resize(id as usize + 1, Links { before: NONE, after: NONE });
        }
        self.links[id as usize] = Links { before: NONE, after };
        self.bins[bin] = id;
        self.filled |= 1 << bin;
    }

    pub(super) fn remove(&mut self, id: ChunkId, start: usize, len: usize) {
        let bin = self.bin(len);
        if bin >= N_BINS {
            let removed = self.long.remove(&(len, start));
            debug_assert_eq!(removed, Some(id));
            return;
        }
        let Links { before, after } = self.links[id as usize];
        match before {
            NONE => self.bins[bin] = after,
            before => self.links[before as usize].after = after,
        }
        if after != NONE {
            self.links[after as usize].before = before;
        }
        if self.bins[bin] == NONE {
            self.filled &= !(1 << bin);
        }
    }

    /// The shortest range of at least `len` bytes, or one of several equally short ones.
    pub(super) fn best(&self, len: usize) -> Option<ChunkId> {
        let bin = self.bin(len);
        if bin < N_BINS {
            let fitting = self.filled >> bin;
            if fitting != 0 {
                return Some(self.bins[bin + fitting.trailing_zeros() as usize]);
            }
        }
        self.long.range((len, 0)..).next().map(|(_, &id)| id)
    }

    /// The length of the longest range in bytes; 0 if there is none.
    pub(super) fn longest(&self) -> usize {
        match self.long.last_key_value() {
            Some((&(len, _), _)) => len,
            None => (u32::BITS - self.filled.leading_zeros()) as usize * self.granule,
        }
    }

    /// All ranges, in any order.
    pub(super) fn iter(&self) -> impl Iterator<Item = ChunkId> + '_ {
        let in_bins = self.bins.iter().flat_map(|&first| {
            std::iter::successors((first != NONE).then_some(first), |&id| {
                let after = self.links[id as usize].after;
                (after != NONE).then_some(after)
            })
        });
        in_bins.chain(self.long.values().copied())
    }
}
