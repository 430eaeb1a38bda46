//! The blockings that may be fast. The blocking that is usually fastest comes first.

use super::{BLOCK, Blocking, Factors, Schedule, Shape};
use crate::gemm::{MAX_ROWS, PANEL};

/// Sizes in bytes up to which packed weights stay in the caches, so that each thread can read them again for every
/// block of tiles. The larger size applies only if there are many blocks, because the first block reads the weights
/// from memory.
const SMALL_WEIGHTS: [usize; 2] = [4 << 20, 16 << 20];
/// Smallest number of blocks per thread for which the larger size in [`SMALL_WEIGHTS`] applies.
const MANY_BLOCKS: usize = 4;
/// Bytes that the transformed tiles or the products of one thread may take: about half of a second-level cache.
const OWN_BYTES: usize = 384 << 10;
/// Largest scratch memory in bytes.
const MOST_BYTES: usize = 128 << 20;

/// What the choice of a blocking depends on: the number of values of a transformed tile, the channels, and the number
/// of tiles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    factors: Factors,
    /// Input and output channels, padded.
    channels: [usize; 2],
    /// Tiles of all images.
    tiles: usize,
}

impl Work {
    /// Describes the work for tiles with `m` outputs, down and across.
    pub fn new(shape: &Shape, factors: Factors, m: [usize; 2]) -> Self {
        let channels = [shape.c, shape.k].map(|n| n.next_multiple_of(BLOCK));
        Self { factors, channels, tiles: shape.n * shape.out[0].div_ceil(m[0]) * shape.out[1].div_ceil(m[1]) }
    }

    /// The blocking to use without tuning.
    ///
    /// Blocks are small, so that two things stay in the second-level cache: the transformed tiles of a block, until the
    /// last panel has been multiplied; and the products of a panel, until they are transformed. If the weights do not
    /// fit into the caches, the whole team works on one larger block at a time and reads the weights once per block.
    pub fn suggested(&self, threads: usize) -> Blocking {
        let Self { factors, channels: [c, k], tiles } = *self;
        let weights = factors.numbers() * c * k * size_of::<f32>();
        let least = if weights <= SMALL_WEIGHTS[0] { MAX_ROWS } else { MANY_BLOCKS * MAX_ROWS };
        if weights <= SMALL_WEIGHTS[1] && tiles >= least * threads {
            let most = OWN_BYTES / (factors.planes() * c * size_of::<f32>());
            let tiles = rows(most.min(2 * MAX_ROWS));
            return Blocking { schedule: Schedule::Independent, tiles, panels: 1, threads };
        }
        let most = OWN_BYTES / (factors.numbers() * PANEL * size_of::<f32>());
        Blocking { schedule: Schedule::Cooperative, tiles: rows(most), panels: 1, threads }
    }

    /// The blockings worth timing, [`Self::suggested`] first.
    pub fn candidates(&self, threads: usize) -> Vec<Blocking> {
        let Self { factors, channels: [c, k], tiles } = *self;
        let panels = k.div_ceil(PANEL);
        let mut all = vec![self.suggested(threads)];
        let mut push = |schedule, tiles: usize, panels: usize| {
            let new = Blocking { schedule, tiles, panels, threads };
            let shared = if schedule == Schedule::Independent { threads } else { 1 };
            let (planes, numbers) = (factors.planes(), factors.numbers());
            let bytes = tiles * (planes * shared * c + numbers * threads * panels * PANEL) * size_of::<f32>();
            if bytes <= MOST_BYTES && !all.contains(&new) {
                all.push(new);
            }
        };
        for multiple in [1, 2, 4, 8] {
            push(Schedule::Independent, multiple * MAX_ROWS, 1);
            push(Schedule::Independent, multiple * MAX_ROWS, panels);
        }
        for multiple in [2, 4, 6, 12, 24] {
            push(Schedule::Cooperative, multiple * MAX_ROWS, 1);
            push(Schedule::Cooperative, multiple * MAX_ROWS, panels.div_ceil(threads));
        }
        // Different blockings may become equal when they are fitted to the number of tiles and panels. Only the first
        // of them stays.
        let mut seen = vec![];
        all.retain(|blocking| {
            let fitted = blocking.fitted(tiles, panels);
            let is_new = !seen.contains(&fitted);
            seen.push(fitted);
            is_new
        });
        all
    }
}

/// Rounds a number of tiles down to a multiple of [`MAX_ROWS`], but at least to [`MAX_ROWS`].
fn rows(tiles: usize) -> usize {
    (tiles / MAX_ROWS).max(1) * MAX_ROWS
}
