//! How tiles are cut: all tiles into blocks, a block into strips.

use super::Tiling;
use super::strip::BUFFER_COLUMNS;
use std::ops::Range;

/// A run of neighboring tiles in one row of tiles.
pub(crate) struct Strip {
    /// Image of the batch.
    pub image: usize,
    /// Row and column of the first tile, counted in tiles.
    pub at: [usize; 2],
    /// Index of the first tile within its block.
    pub first: usize,
    /// Number of tiles.
    pub len: usize,
}

impl Tiling {
    /// The tiles of a block.
    pub fn block(&self, block: usize) -> Range<usize> {
        let (first, tiles) = (block * self.blocking.tiles, self.n_tiles());
        first.min(tiles)..(first + self.blocking.tiles).min(tiles)
    }

    /// Largest number of neighboring tiles whose columns fit into the buffer of a transform.
    pub fn longest(&self) -> usize {
        (BUFFER_COLUMNS - self.transforms.n[1]) / self.transforms.m[1] + 1
    }

    /// Cuts the tiles `within`, which are a part of `block`, into strips. Each strip lies in one row of tiles and has
    /// at most `longest` tiles.
    pub fn strips(&self, block: Range<usize>, within: Range<usize>, longest: usize) -> impl Iterator<Item = Strip> {
        let [down, across] = self.tiles;
        let mut first = within.start;
        std::iter::from_fn(move || {
            if first >= within.end {
                return None;
            }
            let tile = block.start + first;
            let at = [tile / across % down, tile % across];
            let left = (across - at[1]).min(within.end - first);
            let strip = Strip { image: tile / (down * across), at, first, len: left.div_ceil(left.div_ceil(longest)) };
            first += strip.len;
            Some(strip)
        })
    }
}
