//! Copies the left operand of a convolution that is computed as a matrix product (im2col): for each output pixel of a
//! group, the input pixels that its window covers.
//!
//! The copy has the layout `[block][pixel][16]`. A block is 16 channels under one tap of the window; blocks are in the
//! order of the weights. Pixels outside the image are 0. Each value is copied once per tap that reads it, and then
//! multiplied by every panel of weights: with two panels the copy takes a few percent of the time.

use crate::dispatch::for_each_set;
use crate::gemm::lanes::Lanes;
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use std::ops::Range;

/// A function that copies the windows of one group of output pixels.
pub type Pack = unsafe fn(&ConvProblem, *const f32, Range<usize>, Range<usize>, *mut f32);

for_each_set! {
    /// Returns the copying function for this instruction set.
    ///
    /// It takes the problem, the image, its output pixels, the blocks to copy (channel blocks times taps), and the
    /// destination. The image must be in blocks of channels. There must be at most [`MAX_ROWS`](crate::gemm::MAX_ROWS)
    /// pixels, and the destination must have room for pixels times blocks times 16 values.
    pub fn pack: unsafe fn(
        p: &ConvProblem, image: *const f32, rows: Range<usize>, blocks: Range<usize>, to: *mut f32
    ) = windows
}

/// A function that copies the pixels of one group for a 1x1 window, multiplied by one factor per channel.
pub type PackScaled = unsafe fn(&ConvProblem, *const f32, *const f32, Range<usize>, Range<usize>, *mut f32);

for_each_set! {
    /// Returns the function for this instruction set that copies pixels and multiplies them by factors.
    ///
    /// It takes the problem, the image, the factors of its channels, its output pixels, the blocks of channels to copy,
    /// and the destination. Image and factors must be in blocks of channels, and the destination must have room for
    /// pixels times blocks times 16 values.
    pub fn pack_scaled: unsafe fn(
        p: &ConvProblem, image: *const f32, factors: *const f32, rows: Range<usize>, blocks: Range<usize>, to: *mut f32
    ) = scaled
}

/// # Safety
/// The conditions of [`pack_scaled`] must hold, and the processor must have the instructions of `L`.
#[inline(always)]
unsafe fn scaled<L: Lanes>(
    p: &ConvProblem,
    image: *const f32,
    factors: *const f32,
    rows: Range<usize>,
    blocks: Range<usize>,
    to: *mut f32,
) {
    let (n, plane) = (rows.len(), p.h * p.w * BLOCK);
    for (i, block) in blocks.enumerate() {
        for lane in (0..BLOCK).step_by(L::N) {
            // SAFETY: the caller passes blocks and pixels of the image, and room for `n` pixels per block. `lane + L::N
            // <= BLOCK` bounds the factors of the block.
            unsafe {
                let factor = L::load(factors.add(block * BLOCK + lane));
                let from = image.add(block * plane + rows.start * BLOCK + lane);
                let to = to.add(i * n * BLOCK + lane);
                for pixel in 0..n {
                    L::load(from.add(pixel * BLOCK)).mul(factor).store(to.add(pixel * BLOCK));
                }
            }
        }
    }
}

/// A run of pixels in one output row.
#[derive(Clone, Copy)]
struct Run {
    oy: usize,
    ox: usize,
    len: usize,
}

/// # Safety
/// The conditions of [`pack`] must hold, and the processor must have the instructions of `L`.
#[inline(always)]
unsafe fn windows<L: Lanes>(
    p: &ConvProblem,
    image: *const f32,
    rows: Range<usize>,
    blocks: Range<usize>,
    to: *mut f32,
) {
    let mut runs = [Run { oy: 0, ox: 0, len: 0 }; crate::gemm::MAX_ROWS];
    let mut n_runs = 0;
    let mut pixel = rows.start;
    while pixel < rows.end {
        let (oy, ox) = (pixel / p.ow, pixel % p.ow);
        let len = (p.ow - ox).min(rows.end - pixel);
        runs[n_runs] = Run { oy, ox, len };
        n_runs += 1;
        pixel += len;
    }
    let cells = p.kh * p.kw;
    let mut to = to;
    for block in blocks {
        let (cb, cell) = (block / cells, block % cells);
        let (ky, kx) = (cell / p.kw * p.dilate.0, cell % p.kw * p.dilate.1);
        // SAFETY: the caller passes blocks below the number of channel blocks times taps, so `cb` is a channel block of
        // the image.
        let plane = unsafe { image.add(cb * p.h * p.w * BLOCK) };
        for run in &runs[..n_runs] {
            let y = (run.oy * p.stride.0 + ky).wrapping_sub(p.pad.0);
            if y >= p.h {
                // SAFETY: the runs have `rows.len()` pixels in all, and the caller provides room for `rows.len()`
                // pixels per block, so these `run.len` pixels are within the destination.
                to = unsafe { zeros::<L>(to, run.len) };
                continue;
            }
            // The pixels of the run whose tap `kx` lies in the image: those with `0 <= ox * stride + kx - pad < w`.
            let first = p.pad.1.saturating_sub(kx).div_ceil(p.stride.1);
            let behind = (p.w + p.pad.1).saturating_sub(kx).div_ceil(p.stride.1);
            let before = first.clamp(run.ox, run.ox + run.len) - run.ox;
            let inside = behind.clamp(run.ox + before, run.ox + run.len) - run.ox - before;
            // SAFETY: `before + inside <= run.len`, and the three parts have `run.len` pixels in all, for which the
            // destination has room. `y < p.h` by the check above, and the pixels `first..behind` read columns below
            // `p.w` of row `y`.
            unsafe {
                to = zeros::<L>(to, before);
                if inside > 0 {
                    let x = (run.ox + before) * p.stride.1 + kx - p.pad.1;
                    to = copies::<L>(plane.add((y * p.w + x) * BLOCK), p.stride.1 * BLOCK, to, inside);
                }
                to = zeros::<L>(to, run.len - before - inside);
            }
        }
    }
}

#[inline(always)]
/// Writes `n` pixels of zeros and returns the address after them.
///
/// # Safety
/// `to` must be writable for `n * BLOCK` values, and the processor must have the instructions of `L`.
unsafe fn zeros<L: Lanes>(to: *mut f32, n: usize) -> *mut f32 {
    for i in 0..n {
        for lane in (0..BLOCK).step_by(L::N) {
            // SAFETY: `i < n` and `lane + L::N <= BLOCK`, so the store ends at most at `n * BLOCK`, as the caller
            // allows.
            unsafe { L::splat(0.0).store(to.add(i * BLOCK + lane)) }
        }
    }
    to.wrapping_add(n * BLOCK)
}

#[inline(always)]
/// Copies `n` pixels that are `stride` values apart and returns the address after them.
///
/// # Safety
/// Each pixel must be readable, and `to` must be writable for `n * BLOCK` values. The processor must have the
/// instructions of `L`.
unsafe fn copies<L: Lanes>(from: *const f32, stride: usize, to: *mut f32, n: usize) -> *mut f32 {
    for i in 0..n {
        for lane in (0..BLOCK).step_by(L::N) {
            // SAFETY: `i < n` and `lane + L::N <= BLOCK`, so the load lies in pixel `i`, and the store ends at most at
            // `n * BLOCK`, as the caller allows.
            unsafe { L::load(from.add(i * stride + lane)).store(to.add(i * BLOCK + lane)) }
        }
    }
    to.wrapping_add(n * BLOCK)
}
