//! Depthwise convolutions: each channel has a window of its own. The kernel computes 16 channels at a time.
//!
//! Threads share the rows of outputs. Where the windows of four neighboring pixels lie between the left and the right
//! border, the four are computed together, so that a register of weights is used four times. Pixels at a border are
//! computed one by one.

use crate::convolve::{Convolve, Operands, part};
use crate::dispatch::for_each_set;
use crate::epilogue::Bounds;
use crate::gemm::lanes::Lanes;
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Pixels that share weights in registers.
const PIXELS: usize = 4;
/// Multiply-adds per thread below which another thread costs more than it saves.
const SMALL: usize = 1 << 15;

/// A prepared depthwise convolution.
pub struct Depthwise {
    problem: ConvProblem,
    kernel: unsafe fn(&Row<'_>),
    threads: usize,
    /// Output columns whose windows lie between the left and the right border.
    inner: Range<usize>,
}

/// A row of outputs of one block of channels.
struct Row<'a> {
    layer: &'a Depthwise,
    y: usize,
    /// The input plane of the block.
    src: *const f32,
    /// The windows of the block's channels, `[tap][16]`.
    weights: *const f32,
    bias: [f32; BLOCK],
    /// The row of the tensor to add, or null.
    sum: *const f32,
    dst: *mut f32,
    bounds: Bounds,
}

for_each_set! {
    /// Returns the function that computes a row of outputs.
    fn convolve_row: unsafe fn(row: &Row<'_>) = row_of
}

impl Depthwise {
    /// Prepares a convolution with as many groups as channels, for at most `threads` threads.
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
                // SAFETY: `row < rows`, so `plane < p.n * blocks` is a plane of the data and `block < blocks` has its
                // own windows in the weights. Row `row` of the output, and of the sum if there is one, has `p.ow *
                // BLOCK` values; `part` gives each row to one thread. The bias has `p.k` values, of which `n` are left
                // from `block * BLOCK` on.
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
/// `row.src` must point to a plane of the data, `row.weights` to the windows of a block, `row.dst` and, if it is not
/// null, `row.sum` to `p.ow * BLOCK` values. The processor must have the instructions of `L`.
#[inline(always)]
unsafe fn row_of<L: Lanes>(row: &Row<'_>) {
    let (p, inner) = (&row.layer.problem, &row.layer.inner);
    let mut x = 0;
    while x < p.ow {
        let is_inner = inner.start <= x && x + PIXELS <= inner.end;
        for lane in (0..BLOCK).step_by(L::N) {
            // SAFETY: `x < p.ow` by the loop, `is_inner` says that `inner` contains `x..x + PIXELS`, and
            // `lane + L::N <= BLOCK`. The caller promises the rest of the contract.
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
/// The conditions of [`row_of`] must hold; `x + N` must be at most `p.ow`, and if `N > 1`, `inner` must contain
/// `x..x + N`.
#[inline(always)]
unsafe fn pixels<L: Lanes, const N: usize>(row: &Row<'_>, x: usize, lane: usize) {
    let p = &row.layer.problem;
    // SAFETY: a tap is skipped unless `y < p.h` and `first < p.w`; for the pixels after the first, `inner` guarantees
    // that `first + i * stride` is below `p.w` too. `(ky * kw + kx) < kh * kw` bounds the weights, `x + i < p.ow` the
    // output and the sum, `lane + L::N <= BLOCK` all of them.
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
