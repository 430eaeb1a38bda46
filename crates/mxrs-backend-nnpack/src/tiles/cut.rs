//! How tiles are cut: all of them into blocks, a block into strips.

use super::Tiling;
use super::strip::BUFFER_COLUMNS;
use std::ops::Range;

/// One run of neighboring tiles in a row of tiles.
pub(crate) struct Strip {
    /// Of the batch.
    pub image: usize,
    /// Row and column of tiles.
    pub at: [usize; 2],
    /// Of the block.
    pub first: usize,
    /// Tiles.
    pub len: usize,
}

impl Tiling {
    /// Tiles of a block.
    pub fn block(&self, block: usize) -> Range<usize> {
        let (first, tiles) = (block * self.blocking.tiles, self.n_tiles());
        first.min(tiles)..(first + self.blocking.tiles).min(tiles)
    }

    /// Tiles that the buffer can hold.
    pub fn longest(&self) -> usize {
        (BUFFER_COLUMNS - self.transforms.n[1]) / self.transforms.m[1] + 1
    }

    /// Cuts tiles (`within` a block) into strips of a row of tiles, of at most `longest`.
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
