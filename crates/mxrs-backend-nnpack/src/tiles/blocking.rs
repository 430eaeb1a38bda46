//! How many tiles and panels are worked on at a time, by whom.

use crate::gemm::MAX_ROWS;

/// Who shares what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// Each thread takes blocks of tiles through all three steps by itself.
    Independent,
    /// The team transforms a block of inputs together; then each thread takes groups of panels through product and output
    /// transform, so that all weights are read once per block and not once per block and thread.
    Cooperative,
}

/// How a convolution is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blocking {
    /// Who shares what.
    pub schedule: Schedule,
    /// Tiles whose inputs are transformed at a time.
    pub tiles: usize,
    /// Panels of 32 output channels whose products are kept at a time.
    pub panels: usize,
    /// Threads it is meant for.
    pub threads: usize,
}

impl Blocking {
    /// Made to fit: no larger than what there is, and blocks of even sizes, as many as the threads can share.
    pub(super) fn fitted(mut self, n_tiles: usize, n_panels: usize) -> Self {
        self.threads = self.threads.max(1);
        let mut blocks = n_tiles.div_ceil(self.tiles.max(1));
        if self.schedule == Schedule::Independent {
            blocks = blocks.next_multiple_of(self.threads);
        }
        self.tiles = n_tiles.div_ceil(blocks).max(1);
        let groups = n_panels.div_ceil(self.panels.clamp(1, n_panels));
        self.panels = n_panels.div_ceil(groups);
        self
    }

    /// Parts that a block's tiles are cut into for the product, in the cooperative schedule, so that every thread has some.
    pub(super) fn parts(&self, n_panels: usize) -> usize {
        let groups = n_panels.div_ceil(self.panels);
        let enough = match self.schedule {
            Schedule::Independent => 1,
            Schedule::Cooperative if groups.is_multiple_of(self.threads) || groups >= 4 * self.threads => 1,
            Schedule::Cooperative => self.threads,
        };
        enough.min(self.tiles.div_ceil(MAX_ROWS)).max(1)
    }
}
