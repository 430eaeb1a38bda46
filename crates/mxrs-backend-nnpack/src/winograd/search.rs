//! Which variant and blocking is fastest here: by trying, on memory of the real size.

use super::{Blocking, Epilogue, Plan, Shape, Variant};
use crate::Isa;
use crate::tiles::BLOCK;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::time::{Duration, Instant};

/// Weights lie somewhere else in each repetition, over as much memory as no cache holds, since a network's other layers come
/// in between.
const COLD_VALUES: usize = (64 << 20) / size_of::<f32>();
/// Tiles per thread below which the number of images is not reduced.
const LEAST_TILES: usize = 800;
/// Values in a cache line.
const LINE: usize = 16;
/// Rounds that everybody takes part in, and rounds at most.
const ROUNDS: [usize; 2] = [2, 8];
/// Slower than the fastest by so much, a candidate is not tried again.
const HOPELESS: f64 = 1.25;

/// A candidate and its time.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The tiles.
    pub variant: Variant,
    /// As for [`Plan::new`].
    pub blocking: Blocking,
    /// Images that were tried.
    pub images: usize,
    /// Shortest time of a run of them.
    pub time: Duration,
}

/// Tries variants (those for other filters are left out) with their [candidates](Blocking::candidates) and answers with all
/// times, the shortest first. Takes up to a budget, and at least a run of each. Results are worth keeping: a search allocates
/// memory for the layer and its weights.
///
/// # Errors
/// If a size is zero.
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
            // SAFETY: all memory is as large as the largest plan needs, and here alone; weights begin within the cold part.
            unsafe { plan.run(src.cast(), weights.add(at), &epilogue, dst.cast(), scratch.values(), team)? };
            measured.time = measured.time.min(from.elapsed());
        }
    }
    let mut all: Vec<Measured> = all.into_iter().map(|(_, measured)| measured).collect();
    all.sort_by_key(|measured| measured.time);
    Ok(all)
}

/// As few images as still show what a block of them costs.
fn fewer_images(shape: &Shape, threads: usize) -> usize {
    // By the largest tiles of all, so that all variants are tried with the same images.
    let tiles = shape.out[0].div_ceil(6) * shape.out[1].div_ceil(6);
    shape.n.min((LEAST_TILES * threads).div_ceil(tiles.max(1)))
}

/// Values of images in blocks of channels.
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
        // Not zeros: untouched zero pages would all be the same memory.
        let memory = vec![0.125; len + LINE];
        let first = memory.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE);
        Self { memory, first, len }
    }

    fn values(&mut self) -> &mut [f32] {
        &mut self.memory[self.first..][..self.len]
    }
}
