//! Convolution of few channels, the first layer of most networks: data in row-major order, one step per cell and channel.
//!
//! Blocks of 16 channels would be mostly padding. Here the rows of data that an output row sees are copied, with their padding,
//! to scratch memory (a few percent of the work), and an output pixel's cell is found at an offset from its first one; pixels
//! follow each other at the distance of the stride.

use super::tap_rows::{TapKernel, TapRows, tap_kernel};
use crate::Isa;
use crate::barrier::Phases;
use crate::convolve::{Convolve, Operands, Panel, PanelBias, part};
use crate::gemm::{MAX_ROWS, row_groups};
use crate::layouts::{BLOCK, PANEL};
use crate::problem::ConvProblem;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Distance between the threads' scratch memory, in numbers: a multiple of a cache line.
const LINE: usize = 16;

/// The convolution prepared.
pub struct TapConv {
    problem: ConvProblem,
    kernel: TapKernel,
    threads: usize,
    /// Numbers of a copied row.
    row_len: usize,
    /// Where each cell of the window begins, by channel, row and column.
    offsets: Vec<usize>,
    /// First pixel and number of pixels of each group of an output row.
    groups: Vec<(usize, usize)>,
}

impl TapConv {
    /// Prepares a convolution for at most `threads` threads.
    pub fn new(problem: ConvProblem, isa: Isa, threads: usize) -> Self {
        let row_len = (problem.ow - 1) * problem.stride.1 + problem.kw;
        let rows = problem.c * problem.kh;
        let offsets = (0..rows).flat_map(|row| (0..problem.kw).map(move |kx| row * row_len + kx)).collect();
        let groups = row_groups(problem.ow, MAX_ROWS).collect();
        Self { problem, kernel: tap_kernel(isa, problem.stride.1), threads: threads.max(1), row_len, offsets, groups }
    }

    fn scratch_len(&self) -> usize {
        (self.problem.c * self.problem.kh * self.row_len).next_multiple_of(LINE)
    }

    /// Copies what output row `oy` of an image sees.
    ///
    /// # Safety
    /// The image is one of the problem's, `to` has [`Self::scratch_len`] numbers that nobody else uses.
    unsafe fn copy_rows(&self, image: *const f32, oy: usize, to: *mut f32) {
        let p = &self.problem;
        let before = p.pad.1.min(self.row_len);
        let inside = p.w.min(self.row_len - before);
        for c in 0..p.c {
            for ky in 0..p.kh {
                let y = (oy * p.stride.0 + ky).wrapping_sub(p.pad.0);
                // SAFETY: row `c * kh + ky` of the scratch memory, row `y` of channel `c`.
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
    /// As [`Convolve::run`]; nobody else uses these rows of the output, or the scratch memory.
    unsafe fn rows(&self, o: &Operands, rows: Range<usize>, scratch: *mut f32) {
        let p = &self.problem;
        let taps = self.offsets.len();
        let plane = p.pixels() * BLOCK;
        for row in rows {
            let (image, oy) = (row / p.oh, row % p.oh);
            // SAFETY: an image of the data, an output row, panels of the weights; see the caller's promise.
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
                            finish: bias.finish(sum, o.bounds),
                        };
                        (self.kernel)(len, panel.width == PANEL, &rows);
                    }
                }
            }
        }
    }
}

/// Pieces of the rows for each thread.
const PIECES: usize = 16;

impl Convolve for TapConv {
    fn scratch_bytes(&self) -> usize {
        self.threads * self.scratch_len() * size_of::<f32>()
    }

    unsafe fn run(&self, operands: &Operands, team: &Team) -> Result<()> {
        let n_rows = self.problem.n * self.problem.oh;
        let n = self.threads.min(n_rows);
        let n_pieces = n * PIECES.min(n_rows / n);
        // A thread that is done helps with what others have left.
        let pieces = Phases::new(n, [n_pieces]);
        team.run(n, &|i| {
            let scratch = operands.scratch.wrapping_add(i * self.scratch_len());
            // SAFETY: the caller's promise; pieces have different rows and are taken once, and each thread has scratch memory of its
            // own.
            pieces.work(0, i, |piece| unsafe { self.rows(operands, part(n_rows, n_pieces, piece), scratch) });
        });
        Ok(())
    }
}
