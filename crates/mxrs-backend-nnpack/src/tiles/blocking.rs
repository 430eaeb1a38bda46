//! How many tiles and panels are processed at a time, and how threads share them.

use crate::gemm::MAX_ROWS;

/// How threads share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// Each thread takes blocks of tiles and does all three parts of the work on them: input transform, product, output
    /// transform.
    Independent,
    /// The team transforms a block of inputs together. Then each thread takes groups of panels and runs product and
    /// output transform on them. So all weights are read once per block, not once per block and thread.
    Cooperative,
}

/// How the work of a convolution is cut into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blocking {
    /// How threads share the work.
    pub schedule: Schedule,
    /// Number of tiles whose inputs are transformed at a time.
    pub tiles: usize,
    /// Number of panels of 32 output channels that are multiplied before their products are transformed to outputs.
    pub panels: usize,
    /// Number of threads.
    pub threads: usize,
}

impl Blocking {
    /// Fits the blocking to a problem: no larger than the problem, and with blocks of nearly equal size. If
    /// each thread works on blocks of its own ([`Schedule::Independent`]), their number is a multiple of the number of
    /// threads.
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

    /// Number of parts into which the cooperative schedule cuts the tiles of a block, so that every thread gets work in
    /// the product.
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
