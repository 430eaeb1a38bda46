//! How threads share a matrix product of many rows (output pixels) by many panels (of 32 output channels each), and how
//! large the pieces are. Each sum runs over all blocks of 16 input channels, once for each tap of the window.

use crate::convolve::part;
use std::ops::Range;

/// Bytes of the left operand (the data) that stay in the second-level cache while the panels of weights are read.
const LEFT_BYTES: usize = 320 << 10;
/// Largest number of blocks of 16 channels that one product adds up.
const MOST_BLOCKS: usize = 48;
/// Bytes of the weights of one input channel in a panel, which has 32 columns.
const PANEL_BYTES: usize = 32 * size_of::<f32>();
/// Bytes that one row of the left operand has in a block of 16 channels.
const ROW_BYTES: usize = 16 * size_of::<f32>();

/// Sizes of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Groups of rows; one product computes one group.
    pub groups: usize,
    /// Rows of the longest group.
    pub rows: usize,
    /// Panels of the right operand.
    pub panels: usize,
    /// Blocks of 16 channels that each sum runs over.
    pub blocks: usize,
}

/// Threads in a grid: `by_rows` shares of the rows times `by_panels` shares of the panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    sizes: Sizes,
    by_rows: usize,
    by_panels: usize,
}

impl Grid {
    /// Returns the grid of at most `threads` threads with the lowest estimated time.
    pub fn new(sizes: Sizes, threads: usize) -> Self {
        let grids =
            (1..=threads.max(1)).map(|by_panels| Self { sizes, by_rows: threads.max(1) / by_panels, by_panels });
        let useful = grids.filter(|grid| grid.by_panels <= sizes.panels);
        let best = useful.min_by(|a, b| a.cycles().total_cmp(&b.cycles()));
        let mut grid = best.unwrap_or(Self { sizes, by_rows: 1, by_panels: 1 });
        grid.by_rows = grid.by_rows.clamp(1, sizes.groups.max(1));
        grid
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.by_rows * self.by_panels
    }

    /// Number of shares of the rows, and of the panels.
    pub fn sides(&self) -> [usize; 2] {
        [self.by_rows, self.by_panels]
    }

    /// The panels in the share number `share`.
    pub fn panels(&self, share: usize) -> Range<usize> {
        part(self.sizes.panels, self.by_panels, share)
    }

    /// Number of pieces that the groups are cut into. It is the same for each share of the rows, and no piece has more
    /// than [`groups_at_once`](Self::groups_at_once) groups.
    pub fn pieces(&self) -> usize {
        self.by_rows * self.sizes.groups.div_ceil(self.by_rows).div_ceil(self.groups_at_once())
    }

    /// The groups in the piece number `piece`.
    pub fn piece(&self, piece: usize) -> Range<usize> {
        part(self.sizes.groups, self.pieces(), piece)
    }

    /// Number of parts into which the sum over input channels is divided. Each part adds up at most `MOST_BLOCKS` blocks of
    /// channels.
    pub fn depth_parts(&self) -> usize {
        self.sizes.blocks.div_ceil(MOST_BLOCKS).max(1)
    }

    /// Largest number of groups of a piece. Up to this number, the left operand of the groups stays in the second-level
    /// cache.
    pub fn groups_at_once(&self) -> usize {
        let blocks = self.sizes.blocks.div_ceil(self.depth_parts()).max(1);
        (LEFT_BYTES / (self.sizes.rows * blocks * ROW_BYTES)).max(1)
    }

    /// Estimated cycles of the slowest thread: its multiplications, and its reads from memory and the third-level
    /// cache.
    fn cycles(&self) -> f64 {
        let Sizes { groups, rows, panels, blocks } = self.sizes;
        let (groups, panels) = (groups.div_ceil(self.by_rows), panels.div_ceil(self.by_panels));
        let product = (groups * panels * blocks * 16 * 2 * rows) as f64;
        let left = (groups * rows * blocks * ROW_BYTES) as f64;
        let passes = groups.div_ceil(self.groups_at_once());
        let right = (panels * blocks * 16 * PANEL_BYTES) as f64;
        // Weights come from memory in the first pass, and from the third-level cache in later passes.
        product + left / 16.0 + right / 8.0 + (passes - 1) as f64 * right / 24.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_product_is_made_once() {
        for (groups, panels) in [(1, 1), (4, 64), (224, 2), (3, 5), (449, 7)] {
            for threads in 1..=9 {
                let grid = Grid::new(Sizes { groups, rows: 14, panels, blocks: 36 }, threads);
                assert!((1..=threads).contains(&grid.threads()));
                let mut made = vec![0; groups * panels];
                let [by_rows, by_panels] = grid.sides();
                assert_eq!(grid.threads(), by_rows * by_panels);
                assert!(grid.pieces().is_multiple_of(by_rows));
                for (piece, share) in (0..grid.pieces()).flat_map(|g| (0..by_panels).map(move |p| (g, p))) {
                    let (g, p) = (grid.piece(piece), grid.panels(share));
                    assert!((1..=grid.groups_at_once()).contains(&g.len()));
                    g.flat_map(|g| p.clone().map(move |p| g * panels + p)).for_each(|at| made[at] += 1);
                }
                assert!(made.iter().all(|n| *n == 1), "{grid:?}");
            }
        }
    }

    #[test]
    fn few_rows_share_panels_and_few_panels_share_rows() {
        let few_rows = Grid::new(Sizes { groups: 4, rows: 13, panels: 64, blocks: 32 }, 2);
        assert_eq!((few_rows.by_rows, few_rows.by_panels), (1, 2));
        let few_panels = Grid::new(Sizes { groups: 224, rows: 14, panels: 2, blocks: 4 }, 2);
        assert_eq!((few_panels.by_rows, few_panels.by_panels), (2, 1));
    }
}
