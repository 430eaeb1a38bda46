//! Searches for the fastest variant and blocking on this machine, by timing them on memory of the real size.

use super::{Blocking, Epilogue, Plan, Shape, Variant};
use crate::tiles::BLOCK;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::time::{Duration, Instant};

/// Number of values over which the weights of the repetitions are spread, more than any cache holds. In a network the
/// caches do not hold a layer's weights either, because other layers run in between.
const COLD_VALUES: usize = (64 << 20) / size_of::<f32>();
/// Tiles per thread below which the number of images is not reduced.
const LEAST_TILES: usize = 800;
/// Values in a cache line.
const LINE: usize = 16;
/// Number of rounds in which every candidate is timed, and largest number of rounds.
const ROUNDS: [usize; 2] = [2, 8];
/// A candidate this many times slower than the fastest is not timed again.
const HOPELESS: f64 = 1.25;

/// A candidate and its time.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The variant.
    pub variant: Variant,
    /// The blocking, as for [`Plan::new`].
    pub blocking: Blocking,
    /// Number of images that were timed.
    pub images: usize,
    /// Shortest time of one run.
    pub time: Duration,
}

/// Times the [candidates](Blocking::candidates) of these variants, except variants for other filters. Returns all
/// times, the shortest first. It stops when the budget is spent, but runs each candidate at least once. A search
/// allocates memory for the layer and its weights, so keep the results.
///
/// # Errors
/// Fails if a size is zero.
pub fn search(shape: Shape, variants: &[Variant], isa: Isa, team: &Team, budget: Duration) -> Result<Vec<Measured>> {
    let start = Instant::now();
    let mut all: Vec<(Plan, Measured)> = vec![];
    let mut sizes = [0; 2];
    let tried = Shape { n: fewer_images(&shape, team.size()), ..shape };
    for &variant in variants.iter().filter(|v| v.kernel() == shape.kernel) {
        for blocking in Blocking::candidates(&shape, variant, team.size()) {
            let plan = Plan::new(tried, variant, blocking, isa)?;
            sizes[0] = sizes[0].max(plan.packed_bytes() / size_of::<f32>());
            sizes[1] = sizes[1].max(plan.scratch_bytes() / size_of::<f32>());
            all.push((plan, Measured { variant, blocking, images: tried.n, time: Duration::MAX }));
        }
    }
    let mut src = Lines::new(values(tried.n, tried.c, tried.size));
    let mut dst = Lines::new(values(tried.n, tried.k, tried.out));
    let mut weights = Lines::new(sizes[0] + COLD_VALUES);
    let mut scratch = Lines::new(sizes[1]);
    let bias = vec![0.5; shape.k];
    let epilogue = Epilogue { bias: Some(&bias), lo: 0.0, ..Epilogue::default() };
    let (src, dst, weights) = (src.values().as_ptr(), dst.values().as_mut_ptr(), weights.values().as_ptr());
    let mut at = 0;
    for round in 0..ROUNDS[1] {
        let best = all.iter().map(|(_, m)| m.time).min().unwrap_or_default();
        for (plan, measured) in &mut all {
            let is_over = start.elapsed() > budget;
            if (round > 0 && is_over)
                || (round >= ROUNDS[0] && measured.time.as_secs_f64() > best.as_secs_f64() * HOPELESS)
            {
                continue;
            }
            at += plan.packed_bytes() / size_of::<f32>();
            at = if at > COLD_VALUES { 0 } else { at };
            let from = Instant::now();
            // SAFETY: `src` and `dst` have the sizes of `tried`, `scratch` has the largest `scratch_bytes` of all
            // plans, and only this call uses them. `at <= COLD_VALUES`, and `weights` has `COLD_VALUES` more values
            // than the largest plan needs.
            unsafe { plan.run(src.cast(), weights.add(at), &epilogue, dst.cast(), scratch.values(), team)? };
            measured.time = measured.time.min(from.elapsed());
        }
    }
    let mut all: Vec<Measured> = all.into_iter().map(|(_, measured)| measured).collect();
    all.sort_by_key(|measured| measured.time);
    Ok(all)
}

/// The number of images to time: the fewest that give [`LEAST_TILES`] tiles per thread, and at most the whole batch.
fn fewer_images(shape: &Shape, threads: usize) -> usize {
    // Counts tiles of 6x6 outputs, the largest, whatever the variant, so that all variants are timed with the same
    // images.
    let tiles = shape.out[0].div_ceil(6) * shape.out[1].div_ceil(6);
    shape.n.min((LEAST_TILES * threads).div_ceil(tiles.max(1)))
}

/// Number of values that all images have together; the channels are padded to whole blocks.
fn values(images: usize, channels: usize, size: [usize; 2]) -> usize {
    images * channels.next_multiple_of(BLOCK) * size[0] * size[1]
}

/// Memory that begins at a cache line.
struct Lines {
    memory: Vec<f32>,
    first: usize,
    len: usize,
}

impl Lines {
    fn new(len: usize) -> Self {
        // The values are not zeros, because the system would map all untouched zero pages to the same memory.
        let memory = vec![0.125; len + LINE];
        let first = memory.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE);
        Self { memory, first, len }
    }

    fn values(&mut self) -> &mut [f32] {
        &mut self.memory[self.first..][..self.len]
    }
}
