//! Depthwise convolutions: each channel has a window of its own, 16 channels at a time.
//!
//! Threads share rows of outputs. Four pixels whose windows lie in the image between left and right are summed up at a time,
//! so that a register of weights is used four times; those at the border one by one.

use crate::Isa;
use crate::convolve::{Convolve, Operands, part};
use crate::epilogue::Bounds;
use crate::gemm::lanes::Lanes;
use crate::isa::for_each_set;
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Pixels that share weights in registers.
const PIXELS: usize = 4;
/// Multiply-adds below which one thread is faster than two.
const SMALL: usize = 1 << 15;

/// The convolution prepared.
pub struct Depthwise {
    problem: ConvProblem,
    kernel: unsafe fn(&Row<'_>),
    threads: usize,
    /// Output columns whose windows lie between left and right border.
    inner: Range<usize>,
}

/// A row of outputs of one block of channels.
struct Row<'a> {
    layer: &'a Depthwise,
    y: usize,
    /// The plane of the block.
    src: *const f32,
    /// The windows of its channels, `[cell][16]`.
    weights: *const f32,
    bias: [f32; BLOCK],
    /// Added, or null.
    sum: *const f32,
    dst: *mut f32,
    bounds: Bounds,
}

for_each_set! {
    /// Code for a row.
    fn convolve_row: unsafe fn(row: &Row<'_>) = row_of
}

impl Depthwise {
    /// Prepares a convolution of as many groups as channels for at most `threads` threads.
    pub fn new(problem: ConvProblem, isa: Isa, threads: usize) -> Self {
        let p = &problem;
        let reach = (p.kw - 1) * p.dilate.1;
        let end = (p.w + p.pad.1).checked_sub(reach + 1).map_or(0, |last| last / p.stride.1 + 1).min(p.ow);
        let inner = p.pad.1.div_ceil(p.stride.1).min(end)..end;
        Self { problem, kernel: convolve_row(isa), threads: threads.max(1), inner }
    }
}

impl Convolve for Depthwise {
    fn scratch_bytes(&self) -> usize {
        0
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let p = &self.problem;
        let (blocks, cells) = (p.k.div_ceil(BLOCK), p.kh * p.kw);
        let rows = p.n * blocks * p.oh;
        let work = rows * p.ow * cells * BLOCK;
        let threads = (work / SMALL).clamp(1, self.threads).min(rows);
        team.run(threads, &|i| {
            for row in part(rows, threads, i) {
                let (plane, y) = (row / p.oh, row % p.oh);
                let block = plane % blocks;
                let mut bias = [0.0; BLOCK];
                // SAFETY: the caller's promise; planes of the data, windows of this block, and a row of outputs and of the
                // sum which is nobody else's.
                unsafe {
                    if !o.bias.is_null() {
                        let n = BLOCK.min(p.k - block * BLOCK);
                        bias.as_mut_ptr().copy_from_nonoverlapping(o.bias.add(block * BLOCK), n);
                    }
                    let at = row * p.ow * BLOCK;
                    (self.kernel)(&Row {
                        layer: self,
                        y,
                        src: o.src.add(plane * p.h * p.w * BLOCK),
                        weights: o.weights.add(block * cells * BLOCK),
                        bias,
                        sum: if o.sum.is_null() { o.sum } else { o.sum.add(at) },
                        dst: o.dst.add(at),
                        bounds: o.bounds,
                    });
                }
            }
        });
        Ok(())
    }
}

/// # Safety
/// The pointers lead to what the row says, and the instructions of `L` are there.
#[inline(always)]
unsafe fn row_of<L: Lanes>(row: &Row<'_>) {
    let (p, inner) = (&row.layer.problem, &row.layer.inner);
    let mut x = 0;
    while x < p.ow {
        let is_inner = inner.start <= x && x + PIXELS <= inner.end;
        for lane in (0..BLOCK).step_by(L::N) {
            // SAFETY: the caller's promise; `PIXELS` windows from `x` on lie between left and right border.
            unsafe {
                if is_inner {
                    pixels::<L, PIXELS>(row, x, lane);
                } else {
                    pixels::<L, 1>(row, x, lane);
                }
            }
        }
        x += if is_inner { PIXELS } else { 1 };
    }
}

/// # Safety
/// As [`row_of`]; more than one window must lie between left and right border.
#[inline(always)]
unsafe fn pixels<L: Lanes, const N: usize>(row: &Row<'_>, x: usize, lane: usize) {
    let p = &row.layer.problem;
    // SAFETY: cells in the image, the row's weights and outputs.
    unsafe {
        let mut acc = [L::splat(0.0); N];
        for ky in 0..p.kh {
            let y = (row.y * p.stride.0 + ky * p.dilate.0).wrapping_sub(p.pad.0);
            if y >= p.h {
                continue;
            }
            let line = row.src.add(y * p.w * BLOCK + lane);
            for kx in 0..p.kw {
                let first = (x * p.stride.1 + kx * p.dilate.1).wrapping_sub(p.pad.1);
                if first >= p.w {
                    continue;
                }
                let weights = L::load(row.weights.add((ky * p.kw + kx) * BLOCK + lane));
                for (i, acc) in acc.iter_mut().enumerate() {
                    *acc = L::load(line.add((first + i * p.stride.1) * BLOCK)).mul_add(weights, *acc);
                }
            }
        }
        let (low, high) = (L::splat(row.bounds.low), L::splat(row.bounds.high));
        let bias = L::load(row.bias.as_ptr().add(lane));
        for (i, acc) in acc.into_iter().enumerate() {
            let at = (x + i) * BLOCK + lane;
            let sum = if row.sum.is_null() { L::splat(0.0) } else { L::load(row.sum.add(at)) };
            acc.add(bias).add(sum).clamp(low, high).store(row.dst.add(at));
        }
    }
}
