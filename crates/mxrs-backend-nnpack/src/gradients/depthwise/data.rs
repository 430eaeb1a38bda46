//! The gradient of the data. Each of its pixels is a sum over the windows that cover the pixel. Pixels of a row that are
//! one stride apart form a phase: they are covered by the same taps, and their sums read neighboring pixels of the output's
//! gradient.

use crate::convolve::{Convolve, Operands, part};
use crate::dispatch::for_each_set;
use crate::gemm::lanes::Lanes;
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;

/// Pixels that share weights in registers.
const PIXELS: usize = 4;
/// Multiply-adds per thread below which another thread costs more than it saves.
const SMALL: usize = 1 << 15;

/// A prepared gradient of the data. Its operand `src` is the gradient of the output, `weights` are the windows,
/// `[block][tap][16]`, and `dst` is the gradient of the data.
pub struct DepthwiseData {
    p: ConvProblem,
    /// For each phase, the columns of the window that cover its pixels. Each has a shift: pixel `i` of the phase reads
    /// pixel `i + shift` of the row of the output's gradient.
    phases: Vec<Vec<(usize, isize)>>,
    kernel: unsafe fn(&Row<'_>),
    threads: usize,
}

/// A row of one block of channels of the data.
struct Row<'a> {
    layer: &'a DepthwiseData,
    y: usize,
    /// The plane of the output's gradient.
    ograd: *const f32,
    /// The windows of the block's channels, `[tap][16]`.
    weights: *const f32,
    dst: *mut f32,
}

for_each_set! {
    /// Returns the function that computes a row of the gradient.
    fn gradient_row: unsafe fn(row: &Row<'_>) = row_of
}

impl DepthwiseData {
    /// Prepares the gradient for at most `threads` threads.
    pub fn new(p: ConvProblem, isa: Isa, threads: usize) -> Self {
        let taps = |first: usize| {
            let at = move |kx: usize| (first + p.pad.1) as isize - (kx * p.dilate.1) as isize;
            let stride = p.stride.1 as isize;
            (0..p.kw).filter(move |kx| at(*kx) % stride == 0).map(move |kx| (kx, at(kx) / stride)).collect()
        };
        let phases = (0..p.stride.1).map(taps).collect();
        Self { p, phases, kernel: gradient_row(isa), threads: threads.max(1) }
    }
}

impl Convolve for DepthwiseData {
    fn scratch_bytes(&self) -> usize {
        0
    }

    fn supports_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let p = &self.p;
        let (blocks, cells) = (p.c.div_ceil(BLOCK), p.kh * p.kw);
        let rows = p.n * blocks * p.h;
        let threads = (rows * p.w * cells * BLOCK / SMALL).clamp(1, self.threads).min(rows);
        team.run(threads, &|i| {
            for row in part(rows, threads, i) {
                let (plane, y) = (row / p.h, row % p.h);
                // SAFETY: `row < rows`, so `plane < p.n * blocks` is a plane of the output's gradient, and its block has
                // windows in the weights. Row `row` of the result has `p.w * BLOCK` values; `part` gives each row to one
                // thread.
                unsafe {
                    (self.kernel)(&Row {
                        layer: self,
                        y,
                        ograd: o.src.add(plane * p.pixels() * BLOCK),
                        weights: o.weights.add(plane % blocks * cells * BLOCK),
                        dst: o.dst.add(row * p.w * BLOCK),
                    });
                }
            }
        });
        Ok(())
    }
}

/// # Safety
/// `row.ograd` must point to a plane of the output's gradient, `row.weights` to the windows of a block, and `row.dst` to
/// `p.w * BLOCK` values. The processor must have the instructions of `L`.
#[inline(always)]
unsafe fn row_of<L: Lanes>(row: &Row<'_>) {
    let p = &row.layer.p;
    for (first, taps) in row.layer.phases.iter().enumerate() {
        let n = p.w.saturating_sub(first).div_ceil(p.stride.1);
        // Pixels of the phase whose taps all lie in the row of the output.
        let lowest = taps.iter().map(|(_, shift)| *shift).min().unwrap_or(0);
        let highest = taps.iter().map(|(_, shift)| *shift).max().unwrap_or(0);
        let start = usize::try_from(-lowest).unwrap_or(0);
        let end = usize::try_from(p.ow as isize - highest).unwrap_or(0).min(n);
        let mut i = 0;
        while i < n {
            let is_inner = start <= i && i + PIXELS <= end;
            for lane in (0..BLOCK).step_by(L::N) {
                // SAFETY: `i < n`, so the pixel lies in the row; `is_inner` says that the next ones do, and that all
                // their taps lie in the row of the output. `lane + L::N <= BLOCK`.
                unsafe {
                    if is_inner {
                        pixels::<L, PIXELS>(row, taps, (first, i), lane);
                    } else {
                        pixels::<L, 1>(row, taps, (first, i), lane);
                    }
                }
            }
            i += if is_inner { PIXELS } else { 1 };
        }
    }
}

/// Computes `N` pixels of a phase from pixel `i` on.
///
/// # Safety
/// The conditions of [`row_of`] must hold, the pixels must lie in the row, and if `N > 1`, all their taps must lie in the
/// row of the output.
#[inline(always)]
unsafe fn pixels<L: Lanes, const N: usize>(
    row: &Row<'_>,
    taps: &[(usize, isize)],
    (first, i): (usize, usize),
    lane: usize,
) {
    let p = &row.layer.p;
    // SAFETY: a tap is used only if `oy < p.oh` and `ox < p.ow`, which the caller promises for the pixels after the
    // first. `ky * kw + kx < kh * kw` bounds the weights; `first + i * stride < p.w` bounds the result.
    unsafe {
        let mut acc = [L::splat(0.0); N];
        for ky in 0..p.kh {
            let y = (row.y + p.pad.0).wrapping_sub(ky * p.dilate.0);
            if y > row.y + p.pad.0 || !y.is_multiple_of(p.stride.0) || y / p.stride.0 >= p.oh {
                continue;
            }
            let line = row.ograd.add(y / p.stride.0 * p.ow * BLOCK + lane);
            for (kx, shift) in taps {
                let ox = i.wrapping_add_signed(*shift);
                if ox >= p.ow {
                    continue;
                }
                let weights = L::load(row.weights.add((ky * p.kw + kx) * BLOCK + lane));
                for (at, acc) in acc.iter_mut().enumerate() {
                    *acc = L::load(line.add((ox + at) * BLOCK)).mul_add(weights, *acc);
                }
            }
        }
        for (at, acc) in acc.into_iter().enumerate() {
            acc.store(row.dst.add((first + (i + at) * p.stride.1) * BLOCK + lane));
        }
    }
}
