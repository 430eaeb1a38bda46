//! Blockings that may be fast, the one that most often is first.

use super::{BLOCK, Blocking, Schedule, Shape, Variant};
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

impl Blocking {
    /// The one to take without trying.
    ///
    /// Blocks are small, so that factors stay in the second-level cache from the input transform to the last panel, and so
    /// that the products of one panel do until their transform. Weights that only memory can hold are read once for a
    /// larger block of the whole team.
    pub fn suggested(shape: &Shape, variant: Variant, threads: usize) -> Self {
        let [n, tiles] = sizes(shape, variant);
        let (c, k) = (shape.c.next_multiple_of(BLOCK), shape.k.next_multiple_of(BLOCK));
        let weights = n * c * k * size_of::<f32>();
        let least = if weights <= SMALL_WEIGHTS[0] { MAX_ROWS } else { MANY_BLOCKS * MAX_ROWS };
        if weights <= SMALL_WEIGHTS[1] && tiles >= least * threads {
            let most = OWN_BYTES / (n * c * size_of::<f32>());
            return Self { schedule: Schedule::Independent, tiles: rows(most.min(2 * MAX_ROWS)), panels: 1, threads };
        }
        let most = OWN_BYTES / (n * PANEL * size_of::<f32>());
        Self { schedule: Schedule::Cooperative, tiles: rows(most), panels: 1, threads }
    }

    /// Those worth trying, [`Blocking::suggested`] first.
    pub fn candidates(shape: &Shape, variant: Variant, threads: usize) -> Vec<Self> {
        let [n, tiles] = sizes(shape, variant);
        let panels = shape.k.div_ceil(PANEL);
        let mut all = vec![Self::suggested(shape, variant, threads)];
        let mut push = |schedule, tiles: usize, panels: usize| {
            let new = Self { schedule, tiles, panels, threads };
            let shared = if schedule == Schedule::Independent { threads } else { 1 };
            let bytes = n * tiles * (shared * shape.c + threads * panels * PANEL) * size_of::<f32>();
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

/// Products of a tile, tiles of all images.
fn sizes(shape: &Shape, variant: Variant) -> [usize; 2] {
    let ([down, across], [m, n]) = (variant.inputs(), variant.outputs());
    [down * across, shape.n * shape.out[0].div_ceil(m) * shape.out[1].div_ceil(n)]
}

/// Whole groups of rows.
fn rows(tiles: usize) -> usize {
    (tiles / MAX_ROWS).max(1) * MAX_ROWS
}
