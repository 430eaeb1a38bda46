//! Blockings that may be fast, the one that most often is first.

use super::{BLOCK, Blocking, Factors, Schedule, Shape};
use crate::gemm::{MAX_ROWS, PANEL};

/// Packed weights up to these sizes are read for every block of tiles without slowing the products down, since they come from
/// the caches; of the larger size only if there are many blocks, the first of which reads them from memory.
const SMALL_WEIGHTS: [usize; 2] = [4 << 20, 16 << 20];
/// What are many.
const MANY_BLOCKS: usize = 4;
/// What one thread's factors or products may take: about half a second-level cache.
const OWN_BYTES: usize = 384 << 10;
/// Most scratch memory.
const MOST_BYTES: usize = 128 << 20;

/// What decides about blockings: how much a tile becomes, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    factors: Factors,
    /// Input and output channels, padded.
    channels: [usize; 2],
    /// Of all images.
    tiles: usize,
}

impl Work {
    /// Of tiles with `m` outputs, down and across.
    pub fn new(shape: &Shape, factors: Factors, m: [usize; 2]) -> Self {
        let channels = [shape.c, shape.k].map(|n| n.next_multiple_of(BLOCK));
        Self { factors, channels, tiles: shape.n * shape.out[0].div_ceil(m[0]) * shape.out[1].div_ceil(m[1]) }
    }

    /// The blocking to take without trying.
    ///
    /// Blocks are small, so that factors stay in the second-level cache from the input transform to the last panel, and so
    /// that the products of one panel do until their transform. Weights that only memory can hold are read once for a
    /// larger block of the whole team.
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

    /// Those worth trying, [`Self::suggested`] first.
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
        // Two that are the same once they are made to fit count once.
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

/// Whole groups of rows.
fn rows(tiles: usize) -> usize {
    (tiles / MAX_ROWS).max(1) * MAX_ROWS
}
