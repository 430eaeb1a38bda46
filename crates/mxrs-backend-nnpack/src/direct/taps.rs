//! Convolution of few channels, as in the first layer of most networks: row-major data, and sums over single channels
//! and taps of the window.
//!
//! Blocks of 16 channels would be mostly padding. Instead, the rows of data that an output row needs are copied to
//! scratch memory with their padding, which takes a few percent of the time. The value under each tap of the window
//! then lies at a fixed offset from the value under the first tap, and neighboring output pixels are one stride apart.

use super::tap_rows::{TapKernel, TapRows, tap_kernel};
use crate::barrier::Phases;
use crate::convolve::{Convolve, Operands, Panel, PanelBias, part};
use crate::functions::Apply;
use crate::gemm::{MAX_ROWS, row_groups};
use crate::layouts::{BLOCK, PANEL};
use crate::problem::ConvProblem;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// The scratch memory of each thread is a multiple of this many values, a cache line.
const LINE: usize = 16;

/// A prepared convolution.
pub struct TapConv {
    problem: ConvProblem,
    kernel: TapKernel,
    function: Option<Apply>,
    threads: usize,
    /// Number of values of a copied row.
    row_len: usize,
    /// Offset in the copied rows of the value under each tap of the window, by channel, row and column.
    offsets: Vec<usize>,
    /// First pixel and number of pixels of each group of an output row.
    groups: Vec<(usize, usize)>,
}

impl TapConv {
    /// Prepares a convolution for at most `threads` threads. `function` is applied to its outputs.
    pub fn new(problem: ConvProblem, function: Option<Apply>, isa: Isa, threads: usize) -> Self {
        let row_len = (problem.ow - 1) * problem.stride.1 + problem.kw;
        let rows = problem.c * problem.kh;
        let offsets = (0..rows).flat_map(|row| (0..problem.kw).map(move |kx| row * row_len + kx)).collect();
        let groups = row_groups(problem.ow, MAX_ROWS).collect();
        let kernel = tap_kernel(isa, problem.stride.1);
        Self { problem, kernel, function, threads: threads.max(1), row_len, offsets, groups }
    }

    fn scratch_len(&self) -> usize {
        (self.problem.c * self.problem.kh * self.row_len).next_multiple_of(LINE)
    }

    /// Copies the input rows that output row `oy` of an image needs, with their padding.
    ///
    /// # Safety
    /// `image` must point to an image of the problem; `to` must have [`Self::scratch_len`] values that no other thread
    /// uses.
    unsafe fn copy_rows(&self, image: *const f32, oy: usize, to: *mut f32) {
        let p = &self.problem;
        let before = p.pad.1.min(self.row_len);
        let inside = p.w.min(self.row_len - before);
        for c in 0..p.c {
            for ky in 0..p.kh {
                let y = (oy * p.stride.0 + ky).wrapping_sub(p.pad.0);
                // SAFETY: `c * kh + ky` is a row of the scratch memory, whose `row_len` values are `before + inside` values
                // and the zeros after them. Row `y < p.h` of channel `c` has `p.w >= inside` values.
                unsafe {
                    let to = to.add((c * p.kh + ky) * self.row_len);
                    if y >= p.h {
                        to.write_bytes(0, self.row_len);
                        continue;
                    }
                    to.write_bytes(0, before);
                    to.add(before).copy_from_nonoverlapping(image.add((c * p.h + y) * p.w), inside);
                    to.add(before + inside).write_bytes(0, self.row_len - before - inside);
                }
            }
        }
    }

    /// Computes these output rows, counted over all images.
    ///
    /// # Safety
    /// The conditions of [`Convolve::run`] must hold; no other thread may use these rows of the output, or `scratch`,
    /// which must have [`Self::scratch_len`] values.
    unsafe fn rows(&self, o: &Operands, rows: Range<usize>, scratch: *mut f32) {
        let p = &self.problem;
        let taps = self.offsets.len();
        let plane = p.pixels() * BLOCK;
        for row in rows {
            let (image, oy) = (row / p.oh, row % p.oh);
            // SAFETY: `row < p.n * p.oh`, so `image` and `oy` exist. `copy_rows` fills scratch memory, in which the
            // value under the last tap of the last pixel is at `(c * kh - 1) * row_len + (ow - 1) * stride + kw - 1`,
            // its last value. `panel.index * PANEL * taps` is the start of a panel of the weights. `at` is the index of
            // the first of `len` pixels of this panel in output and sum.
            unsafe {
                self.copy_rows(o.src.add(image * p.c * p.h * p.w), oy, scratch);
                for panel in (0..Panel::count(p.k)).map(|index| Panel::of(p.k, index)) {
                    let bias = PanelBias::of(o.bias, p.k, panel);
                    let out = image * p.k.next_multiple_of(BLOCK) * p.pixels()
                        + panel.index * (PANEL / BLOCK) * plane
                        + oy * p.ow * BLOCK;
                    for &(first, len) in &self.groups {
                        let at = out + first * BLOCK;
                        let sum = if o.sum.is_null() { o.sum } else { o.sum.add(at) };
                        let rows = TapRows {
                            a: scratch.add(first * p.stride.1),
                            offsets: &self.offsets,
                            a_row_stride: p.stride.1,
                            b: o.weights.add(panel.index * PANEL * taps),
                            c: o.dst.add(at),
                            c_half_stride: plane,
                            epilogue: bias.epilogue(sum, o.bounds),
                        };
                        (self.kernel)(len, panel.width == PANEL, &rows);
                    }
                    for half in 0..if self.function.is_some() { panel.width / BLOCK } else { 0 } {
                        let channels = BLOCK.min(p.k - panel.index * PANEL - half * BLOCK);
                        let line = o.dst.add(out + half * plane);
                        self.function.iter().for_each(|apply| apply.apply_to(line, p.ow, channels));
                    }
                }
            }
        }
    }
}

/// Largest number of pieces that the output rows of each thread are cut into.
const PIECES: usize = 16;

impl Convolve for TapConv {
    fn scratch_bytes(&self) -> usize {
        self.threads * self.scratch_len() * size_of::<f32>()
    }

    unsafe fn run(&self, operands: &Operands, team: &Team) -> Result<()> {
        let n_rows = self.problem.n * self.problem.oh;
        let n = self.threads.min(n_rows);
        let n_pieces = n * PIECES.min(n_rows / n);
        // A thread that has finished its pieces takes pieces that other threads have not started.
        let pieces = Phases::new(n, [n_pieces]);
        team.run(n, &|i| {
            let scratch = operands.scratch.wrapping_add(i * self.scratch_len());
            // SAFETY: `part` cuts `0..n_rows` into disjoint pieces, `Phases` runs each once, and thread `i < n` uses
            // only its own `scratch_len` values of the scratch memory, which has `threads >= n` times that number.
            pieces.work(0, i, |piece| unsafe { self.rows(operands, part(n_rows, n_pieces, piece), scratch) });
        });
        Ok(())
    }
}
