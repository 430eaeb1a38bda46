//! Depthwise convolutions: each channel has a window of its own. The kernel computes 16 channels at a time.
//!
//! Threads share the rows of outputs. Where the windows of neighboring pixels lie between the left and the right
//! border, up to eight pixels are computed together, so that a register of weights is used eight times. Pixels at a
//! border are computed one by one. Windows of 3, 5 and 7 columns with stride 1 or 2 have code of their own, in which a
//! row of the window has no loop.

use crate::convolve::{Convolve, Operands, part};
use crate::dispatch::for_each_set;
use crate::epilogue::Bounds;
use crate::functions::Apply;
use crate::gemm::lanes::Lanes;
use crate::gemm::row_groups;
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Largest number of pixels that share weights in registers.
const PIXELS: usize = 8;
/// Multiply-adds per thread below which another thread costs more than it saves.
const SMALL: usize = 1 << 15;

/// A prepared depthwise convolution.
pub struct Depthwise {
    problem: ConvProblem,
    kernel: unsafe fn(&Row<'_>),
    function: Option<Apply>,
    threads: usize,
    /// Output columns whose windows lie between the left and the right border.
    inner: Range<usize>,
}

/// A row of outputs of one block of channels.
pub struct Row<'a> {
    /// The convolution.
    pub layer: &'a Depthwise,
    /// Index of the row.
    pub y: usize,
    /// The input plane of the block, from row `first_row` on.
    pub src: *const f32,
    /// The row of the image at `src`; the window does not reach above it.
    pub first_row: usize,
    /// The windows of the block's channels, `[tap][16]`.
    pub weights: *const f32,
    /// The bias of the block's channels.
    pub bias: [f32; BLOCK],
    /// The row of the tensor to add, or null.
    pub sum: *const f32,
    /// The row of the output.
    pub dst: *mut f32,
    /// Bounds of the results.
    pub bounds: Bounds,
}

for_each_set! {
    /// Returns the function that computes a row of outputs. `WIDTH` and `STRIDE` are those of the problem across the
    /// image, without dilation, or both are 0.
    fn convolve_row[const WIDTH: usize, const STRIDE: usize] [WIDTH, STRIDE]: unsafe fn(row: &Row<'_>) = row_of
}

/// Returns the function that computes rows of this problem.
fn kernel_of(p: &ConvProblem, isa: Isa) -> unsafe fn(&Row<'_>) {
    match (p.kw, p.stride.1, p.dilate.1) {
        (3, 1, 1) => convolve_row::<3, 1>(isa),
        (3, 2, 1) => convolve_row::<3, 2>(isa),
        (5, 1, 1) => convolve_row::<5, 1>(isa),
        (5, 2, 1) => convolve_row::<5, 2>(isa),
        (7, 1, 1) => convolve_row::<7, 1>(isa),
        (7, 2, 1) => convolve_row::<7, 2>(isa),
        _ => convolve_row::<0, 0>(isa),
    }
}

impl Depthwise {
    /// Prepares a convolution with as many groups as channels, for at most `threads` threads. `function` is applied to
    /// its outputs.
    pub fn new(problem: ConvProblem, function: Option<Apply>, isa: Isa, threads: usize) -> Self {
        let p = &problem;
        let reach = (p.kw - 1) * p.dilate.1;
        let end = (p.w + p.pad.1).checked_sub(reach + 1).map_or(0, |last| last / p.stride.1 + 1).min(p.ow);
        let inner = p.pad.1.div_ceil(p.stride.1).min(end)..end;
        Self { problem, kernel: kernel_of(p, isa), function, threads: threads.max(1), inner }
    }

    /// Computes a row of outputs.
    ///
    /// # Safety
    /// `row.src` must point to row `row.first_row` of a plane of the data. All rows of the image that the window covers
    /// must be readable there. `row.weights` must point to the windows of a block. `row.dst` and, if it is not null,
    /// `row.sum` must point to a row of the output. No other thread may use this row of the output. `channels` is the
    /// number of channels in the block that are not padding.
    pub unsafe fn run_row(&self, row: &Row<'_>, channels: usize) {
        // SAFETY: `new` chose the kernel for this problem and for an `Isa`, which exists only if the processor has the
        // instructions. The kernel has written the row of `ow` pixels before the function reads it.
        unsafe {
            (self.kernel)(row);
            if let Some(apply) = self.function {
                apply.apply_to(row.dst, self.problem.ow, channels);
            }
        }
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
                let channels = BLOCK.min(p.k - block * BLOCK);
                let mut bias = [0.0; BLOCK];
                // SAFETY: `row < rows`, so `plane < p.n * blocks` is a plane of the data and `block < blocks` has its
                // own windows in the weights. Row `row` of the output, and of the sum if there is one, has `p.ow *
                // BLOCK` values; `part` gives each row to one thread. The bias has `p.k` values, of which `channels`
                // are left from `block * BLOCK` on.
                unsafe {
                    if !o.bias.is_null() {
                        bias.as_mut_ptr().copy_from_nonoverlapping(o.bias.add(block * BLOCK), channels);
                    }
                    let at = row * p.ow * BLOCK;
                    let row = Row {
                        layer: self,
                        y,
                        src: o.src.add(plane * p.h * p.w * BLOCK),
                        first_row: 0,
                        weights: o.weights.add(block * cells * BLOCK),
                        bias,
                        sum: if o.sum.is_null() { o.sum } else { o.sum.add(at) },
                        dst: o.dst.add(at),
                        bounds: o.bounds,
                    };
                    self.run_row(&row, channels);
                }
            }
        });
        Ok(())
    }
}

/// # Safety
/// The conditions of [`Depthwise::run_row`] must hold. `WIDTH` and `STRIDE` must be those of the problem, without
/// dilation across the image, or both 0. The processor must have the instructions of `L`.
#[inline(always)]
unsafe fn row_of<L: Lanes, const WIDTH: usize, const STRIDE: usize>(row: &Row<'_>) {
    let (p, inner) = (&row.layer.problem, &row.layer.inner);
    // The rows of the window that lie in the image.
    let top = row.y * p.stride.0;
    let first = p.pad.0.saturating_sub(top).div_ceil(p.dilate.0).min(p.kh);
    let end = (p.h + p.pad.0).saturating_sub(top).div_ceil(p.dilate.0).clamp(first, p.kh);
    // AVX2 has only 16 registers, too few for eight sums together with the weights and inputs of the unrolled loop.
    let most = if L::N == BLOCK { PIXELS } else { PIXELS / 2 };
    for lane in (0..BLOCK).step_by(L::N) {
        // SAFETY: `x` runs over the columns of the output, and over those of `inner` in groups of up to `PIXELS`.
        // `first..end` are the rows `ky` of the window with `0 <= top + ky * dilate - pad < p.h`, and `lane + L::N <=
        // BLOCK`. The other conditions of `border` and `pixels` are those of this function.
        unsafe {
            for x in (0..inner.start).chain(inner.end..p.ow) {
                border::<L, WIDTH>(row, first..end, x, lane);
            }
            for (x, len) in row_groups(inner.len(), most) {
                let x = inner.start + x;
                match len {
                    1 => pixels::<L, WIDTH, STRIDE, 1>(row, first..end, x, lane),
                    2 => pixels::<L, WIDTH, STRIDE, 2>(row, first..end, x, lane),
                    3 => pixels::<L, WIDTH, STRIDE, 3>(row, first..end, x, lane),
                    4 => pixels::<L, WIDTH, STRIDE, 4>(row, first..end, x, lane),
                    5 => pixels::<L, WIDTH, STRIDE, 5>(row, first..end, x, lane),
                    6 => pixels::<L, WIDTH, STRIDE, 6>(row, first..end, x, lane),
                    7 => pixels::<L, WIDTH, STRIDE, 7>(row, first..end, x, lane),
                    _ => pixels::<L, WIDTH, STRIDE, 8>(row, first..end, x, lane),
                }
            }
        }
    }
}

/// Computes one pixel, whose window may reach over the left or the right border.
///
/// # Safety
/// The conditions of [`row_of`] must hold, and those of its rows, `x` and `lane`.
#[inline(always)]
unsafe fn border<L: Lanes, const WIDTH: usize>(row: &Row<'_>, rows: Range<usize>, x: usize, lane: usize) {
    let p = &row.layer.problem;
    let (kw, dilate) = if WIDTH == 0 { (p.kw, p.dilate.1) } else { (WIDTH, 1) };
    // The columns of the window that lie in the image.
    let left = x * p.stride.1;
    let first = p.pad.1.saturating_sub(left).div_ceil(dilate).min(kw);
    let end = (p.w + p.pad.1).saturating_sub(left).div_ceil(dilate).clamp(first, kw);
    // SAFETY: `ky` is a row and `kx` a column of the window that lie in the image, so the load lies in the plane. The
    // weights have `kh * kw` taps.
    unsafe {
        let mut acc = [L::splat(0.0)];
        for ky in rows {
            let y = row.y * p.stride.0 + ky * p.dilate.0 - p.pad.0 - row.first_row;
            let line = row.src.add(y * p.w * BLOCK + lane);
            for kx in first..end {
                let weights = L::load(row.weights.add((ky * kw + kx) * BLOCK + lane));
                acc[0] = L::load(line.add((left + kx * dilate - p.pad.1) * BLOCK)).mul_add(weights, acc[0]);
            }
        }
        store::<L, 1>(row, acc, x, lane);
    }
}

/// Computes `N` neighboring pixels, whose windows lie between the left and the right border.
///
/// # Safety
/// The conditions of [`row_of`] must hold, and those of its rows, `x` and `lane`, for the pixels `x..x + N`.
#[inline(always)]
unsafe fn pixels<L: Lanes, const WIDTH: usize, const STRIDE: usize, const N: usize>(
    row: &Row<'_>,
    rows: Range<usize>,
    x: usize,
    lane: usize,
) {
    let p = &row.layer.problem;
    let (kw, stride, dilate) = if WIDTH == 0 { (p.kw, p.stride.1, p.dilate.1) } else { (WIDTH, STRIDE, 1) };
    let left = x * stride - p.pad.1;
    // SAFETY: `ky` is a row of the window that lies in the image, and the windows of these pixels lie between the
    // borders, so every load lies in the plane. The weights have `kh * kw` taps.
    unsafe {
        let mut acc = [L::splat(0.0); N];
        for ky in rows {
            let y = row.y * p.stride.0 + ky * p.dilate.0 - p.pad.0 - row.first_row;
            let line = row.src.add((y * p.w + left) * BLOCK + lane);
            let weights = row.weights.add(ky * kw * BLOCK + lane);
            for kx in 0..kw {
                let weight = L::load(weights.add(kx * BLOCK));
                for (i, acc) in acc.iter_mut().enumerate() {
                    *acc = L::load(line.add((i * stride + kx * dilate) * BLOCK)).mul_add(weight, *acc);
                }
            }
        }
        store(row, acc, x, lane);
    }
}

/// Adds bias and sum, clamps, and writes `N` pixels from `x` on.
///
/// # Safety
/// The conditions of [`row_of`] must hold, for the pixels `x..x + N` and the channels `lane..lane + L::N`.
#[inline(always)]
unsafe fn store<L: Lanes, const N: usize>(row: &Row<'_>, acc: [L; N], x: usize, lane: usize) {
    // SAFETY: the caller promises these pixels and channels in output and sum; the bias has `BLOCK` values.
    unsafe {
        let (low, high) = (L::splat(row.bounds.low), L::splat(row.bounds.high));
        let bias = L::load(row.bias.as_ptr().add(lane));
        for (i, acc) in acc.into_iter().enumerate() {
            let at = (x + i) * BLOCK + lane;
            let mut acc = acc.add(bias);
            if !row.sum.is_null() {
                acc = acc.add(L::load(row.sum.add(at)));
            }
            acc.clamp(low, high).store(row.dst.add(at));
        }
    }
}
