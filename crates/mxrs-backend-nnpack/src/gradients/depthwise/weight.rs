//! The gradient of the weights: for each tap of the window, a sum over all pixels of products of the output's gradient
//! and the data.
//!
//! The rows of all images are cut into a fixed number of parts, whose sums are added in their order at the end. So the
//! bits of the result do not depend on the number of threads.

use crate::convolve::{Convolve, Operands, part};
use crate::dispatch::for_each_set;
use crate::gemm::lanes::Lanes;
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Largest number of parts of the rows.
const PARTS: usize = 8;
/// Taps of a line of the window that are summed at a time.
const TAPS: usize = 4;
/// Multiply-adds per thread below which another thread costs more than it saves.
const SMALL: usize = 1 << 15;

/// A prepared gradient of the weights. Its operand `src` is the gradient of the output, `weights` is the data, both in
/// blocks of channels, and `dst` is the gradient of the weights, `[channels][1][kh][kw]`.
pub struct DepthwiseWeight {
    p: ConvProblem,
    kernel: unsafe fn(&Rows<'_>),
    threads: usize,
}

/// Some rows of all images, of one block of channels.
struct Rows<'a> {
    p: &'a ConvProblem,
    ograd: *const f32,
    data: *const f32,
    block: usize,
    /// Rows of the output, counted through all images.
    rows: Range<usize>,
    /// The sums, `[tap][16]`.
    to: *mut f32,
}

for_each_set! {
    /// Returns the function that computes the sums of some rows.
    fn sum_rows: unsafe fn(rows: &Rows<'_>) = sums_of
}

impl DepthwiseWeight {
    /// Prepares the gradient for at most `threads` threads.
    pub fn new(p: ConvProblem, isa: Isa, threads: usize) -> Self {
        Self { p, kernel: sum_rows(isa), threads: threads.max(1) }
    }

    fn n_parts(&self) -> usize {
        PARTS.min(self.p.n * self.p.oh)
    }

    fn blocks(&self) -> usize {
        self.p.c.div_ceil(BLOCK)
    }

    /// Number of sums of one part of one block.
    fn n_sums(&self) -> usize {
        self.p.kh * self.p.kw * BLOCK
    }
}

impl Convolve for DepthwiseWeight {
    fn scratch_bytes(&self) -> usize {
        self.n_parts() * self.blocks() * self.n_sums() * size_of::<f32>()
    }

    fn supports_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let (p, n_parts, n_sums) = (&self.p, self.n_parts(), self.n_sums());
        let jobs = self.blocks() * n_parts;
        let work = self.blocks() * p.n * p.pixels() * n_sums;
        let threads = (work / SMALL).clamp(1, self.threads).min(jobs);
        team.run(threads, &|i| {
            for job in part(jobs, threads, i) {
                let (block, rows) = (job / n_parts, part(p.n * p.oh, n_parts, job % n_parts));
                // SAFETY: the block and the rows exist; the scratch memory has `n_sums` values for each job, and `part`
                // gives each job to one thread.
                unsafe {
                    let to = o.scratch.add(job * n_sums);
                    (self.kernel)(&Rows { p, ograd: o.src, data: o.weights, block, rows, to });
                }
            }
        });
        for channel in 0..p.c {
            for tap in 0..p.kh * p.kw {
                // SAFETY: all sums are complete. The job of each part of the channel's block has a sum for the tap, and
                // the result has `p.c` windows.
                unsafe {
                    let sums = o.scratch.add(channel / BLOCK * n_parts * n_sums + tap * BLOCK + channel % BLOCK);
                    let sum = (0..n_parts).map(|i| *sums.add(i * n_sums)).sum::<f32>();
                    *o.dst.add(channel * p.kh * p.kw + tap) = sum;
                }
            }
        }
        Ok(())
    }
}

/// # Safety
/// `ograd` and `data` must be the tensors of the problem, the rows and the block must exist, and `to` must have room for
/// the sums. The processor must have the instructions of `L`.
#[inline(always)]
unsafe fn sums_of<L: Lanes>(rows: &Rows<'_>) {
    let p = rows.p;
    let blocks = p.c.div_ceil(BLOCK);
    // SAFETY: `row < n * oh` and `y < h` bound the lines of both tensors; `taps` reads only pixels in these lines, and
    // adds to the sums of taps of the window.
    unsafe {
        rows.to.write_bytes(0, p.kh * p.kw * BLOCK);
        for row in rows.rows.clone() {
            let (plane, oy) = (row / p.oh * blocks + rows.block, row % p.oh);
            let ograd = rows.ograd.add((plane * p.oh + oy) * p.ow * BLOCK);
            for ky in 0..p.kh {
                let y = (oy * p.stride.0 + ky * p.dilate.0).wrapping_sub(p.pad.0);
                if y >= p.h {
                    continue;
                }
                let data = rows.data.add((plane * p.h + y) * p.w * BLOCK);
                for kx in (0..p.kw).step_by(TAPS) {
                    let to = rows.to.add((ky * p.kw + kx) * BLOCK);
                    match (p.kw - kx).min(TAPS) {
                        1 => taps::<L, 1>(p, ograd, data, kx, to),
                        2 => taps::<L, 2>(p, ograd, data, kx, to),
                        3 => taps::<L, 3>(p, ograd, data, kx, to),
                        _ => taps::<L, TAPS>(p, ograd, data, kx, to),
                    }
                }
            }
        }
    }
}

/// Adds the products of one row to the sums of `N` taps from column `kx` of the window on.
///
/// # Safety
/// `ograd` must be a row of the output, `data` a row of the data, and `to` must have `N * BLOCK` sums.
#[inline(always)]
unsafe fn taps<L: Lanes, const N: usize>(
    p: &ConvProblem,
    ograd: *const f32,
    data: *const f32,
    kx: usize,
    to: *mut f32,
) {
    // The pixels of the output for which tap `i` lies in the row of the data.
    let range = |i: usize| {
        let reach = (kx + i) * p.dilate.1;
        let first = p.pad.1.saturating_sub(reach).div_ceil(p.stride.1).min(p.ow);
        let end = (p.w + p.pad.1).saturating_sub(reach).div_ceil(p.stride.1).clamp(first, p.ow);
        first..end
    };
    // The pixels of the output for which all `N` taps lie in the row of the data.
    let common = range(0).start..range(N - 1).end.max(range(0).start);
    let at = |ox: usize, i: usize| ox * p.stride.1 + (kx + i) * p.dilate.1 - p.pad.1;
    for lane in (0..BLOCK).step_by(L::N) {
        // SAFETY: `range` keeps the pixels of the output below `ow` and their taps in `0..w`; `lane + L::N <= BLOCK`.
        unsafe {
            let mut sums = [[L::splat(0.0); N]; 2];
            for first in common.clone().step_by(2) {
                for (ox, sums) in (first..common.end).zip(&mut sums) {
                    let g = L::load(ograd.add(ox * BLOCK + lane));
                    for (i, sum) in sums.iter_mut().enumerate() {
                        *sum = g.mul_add(L::load(data.add(at(ox, i) * BLOCK + lane)), *sum);
                    }
                }
            }
            for i in 0..N {
                let mut sum = sums[0][i].add(sums[1][i]);
                let all = range(i);
                for ox in (all.start..common.start.min(all.end)).chain(common.end.max(all.start)..all.end) {
                    let g = L::load(ograd.add(ox * BLOCK + lane));
                    sum = g.mul_add(L::load(data.add(at(ox, i) * BLOCK + lane)), sum);
                }
                let to = to.add(i * BLOCK + lane);
                sum.add(L::load(to)).store(to);
            }
        }
    }
}
