//! The gradient of the weights for few input channels, such as those of a network's first layer. The values that one
//! output pixel is computed from, a patch of `channels * window` values, are copied to one row of a matrix. The
//! gradient is the product of that matrix and the gradient of the output.
//!
//! Blocks of 16 channels would be mostly padding here: with 3 channels, five times as many multiplications as needed.
//!
//! ```text
//! dst[k][j] = sum over pixels of ograd[pixel][k] * patches[pixel][j],    j = (channel * kh + ky) * kw + kx
//! ```
//!
//! The pixels are cut into a fixed number of parts, whose sums are added in their order at the end. So the bits of the
//! result do not depend on the number of threads.

use super::outer::{COLUMNS, FETCHED, Outer, Run, Sums};
use crate::convolve::{Convolve, Operands, part};
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Largest number of pixels whose patches are copied at a time. Patches of a 7x7 window over 3 channels, 160 values
/// with their padding, then take 82 kB, which a second-level cache holds.
const PIXELS: usize = 128;
/// Largest number of parts that are summed separately, and so of threads.
const PARTS: usize = 32;
/// Largest number of values of all sums together. If each part has many sums, fewer parts are made.
const SUMS: usize = 2 << 20;
/// Largest number of values that are copied at a time.
const WIDEST: usize = 16;

/// A prepared gradient of the weights.
///
/// Its operand `src` is the gradient of the output in blocks of channels, `weights` is the data in row-major order, and
/// `dst` is the gradient of the weights in row-major order.
pub struct PatchSums {
    p: ConvProblem,
    outer: Outer,
    threads: usize,
    /// Number of values of a patch with its padding.
    row: usize,
    /// Number of rows and of columns of output pixels whose patches are copied at a time.
    piece: [usize; 2],
}

/// Some output pixels of one image.
struct Piece {
    image: usize,
    rows: Range<usize>,
    columns: Range<usize>,
}

/// The memory of one thread.
#[derive(Clone, Copy)]
struct Workspace {
    /// The rows of the data that a piece needs, with padding.
    data: *mut f32,
    /// The patches of a piece.
    patches: *mut f32,
}

impl PatchSums {
    /// Prepares the gradient of the weights of `p` for at most `threads` threads.
    pub fn new(p: ConvProblem, isa: Isa, threads: usize) -> Self {
        let columns = p.ow.min(PIXELS);
        let piece = [(PIXELS / columns).clamp(1, p.oh), columns];
        Self { p, outer: Outer::new(isa), threads, row: row_len(&p), piece }
    }

    /// Number of values of a patch.
    fn patch(&self) -> usize {
        self.p.c * self.p.kh * self.p.kw
    }

    /// Number of sums of one part.
    fn n_sums(&self) -> usize {
        self.p.k.next_multiple_of(BLOCK) * self.row
    }

    fn n_pieces(&self) -> usize {
        self.p.n * self.p.oh.div_ceil(self.piece[0]) * self.p.ow.div_ceil(self.piece[1])
    }

    fn n_parts(&self) -> usize {
        (SUMS / self.n_sums()).clamp(1, PARTS).min(self.n_pieces())
    }

    fn piece(&self, i: usize) -> Piece {
        let [rows, columns] = [self.p.oh.div_ceil(self.piece[0]), self.p.ow.div_ceil(self.piece[1])];
        let range = |at: usize, len: usize, end: usize| at * len..((at + 1) * len).min(end);
        Piece {
            image: i / (rows * columns),
            rows: range(i / columns % rows, self.piece[0], self.p.oh),
            columns: range(i % columns, self.piece[1], self.p.ow),
        }
    }

    /// Rows and columns of the data under the windows of this many rows and columns of output pixels.
    fn under(&self, [rows, columns]: [usize; 2]) -> [usize; 2] {
        let p = &self.p;
        [
            (rows - 1) * p.stride.0 + (p.kh - 1) * p.dilate.0 + 1,
            (columns - 1) * p.stride.1 + (p.kw - 1) * p.dilate.1 + 1,
        ]
    }

    /// Distance between rows of the data in the memory of a thread. Copies may read up to `WIDEST` values too many.
    fn data_row(&self) -> usize {
        self.under(self.piece)[1] + WIDEST
    }

    fn data_len(&self) -> usize {
        self.p.c * self.under(self.piece)[0] * self.data_row()
    }

    fn patches_len(&self) -> usize {
        self.piece[0] * self.piece[1] * self.row + WIDEST
    }

    /// Number of values of one thread's memory, a multiple of a cache line.
    fn workspace_len(&self) -> usize {
        (self.data_len().next_multiple_of(BLOCK) + self.patches_len()).next_multiple_of(BLOCK)
    }

    /// Copies the data under the windows of a piece. Places outside the image become 0.
    ///
    /// # Safety
    /// `data` must be the data of the problem, and `to` must have `data_len` values that no other code uses.
    unsafe fn fetch(&self, data: *const f32, piece: &Piece, to: *mut f32) {
        let p = &self.p;
        let [rows, columns] = self.under([piece.rows.len(), piece.columns.len()]);
        let (most, row_len) = (self.under(self.piece)[0], self.data_row());
        // The first column of the row in memory is this column of the padded image.
        let left = piece.columns.start * p.stride.1;
        let (first, end) =
            (p.pad.1.saturating_sub(left).min(columns), (p.w + p.pad.1).saturating_sub(left).min(columns));
        for (channel, row) in (0..p.c).flat_map(|channel| (0..rows).map(move |row| (channel, row))) {
            let y = (piece.rows.start * p.stride.0 + row).wrapping_sub(p.pad.0);
            // SAFETY: `channel < c` and `row < most`, so the row lies in `to`. Columns `first..end` of it are those whose
            // place in the image, `left + column - pad`, lies in `0..w`; `y < h` is checked.
            unsafe {
                let to = to.add((channel * most + row) * row_len);
                if y >= p.h || first >= end {
                    to.write_bytes(0, columns);
                    continue;
                }
                let from = data.add(((piece.image * p.c + channel) * p.h + y) * p.w + left + first - p.pad.1);
                to.write_bytes(0, first);
                to.add(first).copy_from_nonoverlapping(from, end - first);
                to.add(end).write_bytes(0, columns - end);
            }
        }
    }

    /// Copies the patches of a piece from the fetched data, one row of the matrix per pixel.
    ///
    /// # Safety
    /// `work` must be the memory of one thread, whose data [`Self::fetch`] copied.
    unsafe fn copy(&self, piece: &Piece, work: Workspace, lines: &[usize]) {
        // SAFETY: the caller's conditions are those of the function.
        unsafe {
            match self.p.kw {
                _ if self.p.dilate.1 != 1 => self.copy_values(piece, work, lines),
                0..=4 => self.copy_lines::<4>(piece, work, lines),
                5..=8 => self.copy_lines::<8>(piece, work, lines),
                9..=WIDEST => self.copy_lines::<WIDEST>(piece, work, lines),
                _ => self.copy_values(piece, work, lines),
            }
        }
    }

    /// Copies patches line by line, always `N` values. The values after a line are overwritten by the next line, the
    /// next pixel, or are padding.
    ///
    /// # Safety
    /// The conditions of [`Self::copy`] must hold, and lines must have at most `N` values, which are neighbors.
    #[inline]
    unsafe fn copy_lines<const N: usize>(&self, piece: &Piece, work: Workspace, lines: &[usize]) {
        const { assert!(N <= WIDEST) }
        let (p, columns) = (&self.p, piece.columns.len());
        for (row, column) in (0..piece.rows.len()).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            // SAFETY: the pixel is one of the piece, and a line begins `kw` values before the end of its row at most.
            // Both the data and the patches have room for `WIDEST` more values.
            unsafe {
                let from = work.data.add(row * p.stride.0 * self.data_row() + column * p.stride.1);
                let mut to = work.patches.add((row * columns + column) * self.row);
                for line in lines {
                    to.cast::<[f32; N]>().write_unaligned(from.add(*line).cast::<[f32; N]>().read_unaligned());
                    to = to.add(p.kw);
                }
            }
        }
    }

    /// Copies patches value by value, for dilated and for very wide windows.
    ///
    /// # Safety
    /// The conditions of [`Self::copy`] must hold.
    unsafe fn copy_values(&self, piece: &Piece, work: Workspace, lines: &[usize]) {
        let (p, columns) = (&self.p, piece.columns.len());
        for (row, column) in (0..piece.rows.len()).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            for (at, line) in lines.iter().enumerate() {
                for kx in 0..p.kw {
                    // SAFETY: the pixel is one of the piece, and the tap one of its window.
                    unsafe {
                        let from = row * p.stride.0 * self.data_row() + column * p.stride.1 + line + kx * p.dilate.1;
                        *work.patches.add((row * columns + column) * self.row + at * p.kw + kx) = *work.data.add(from);
                    }
                }
            }
        }
    }

    /// Adds the products of a piece to the sums at `to`, or writes them there.
    ///
    /// # Safety
    /// `ograd` must be the gradient of the output, `patches` the patches of the piece, and `to` must have `n_sums` values
    /// that no other code uses.
    unsafe fn multiply(&self, ograd: *const f32, piece: &Piece, patches: *const f32, to: *mut f32, add: bool) {
        let (p, blocks) = (&self.p, self.p.k.div_ceil(BLOCK));
        let at = |row: usize| (row * p.ow + piece.columns.start) * BLOCK;
        let columns = piece.columns.len();
        let run = |(i, row): (usize, usize)| Run { g: at(row), x: i * columns * self.row, len: columns };
        let runs: Vec<Run> = piece.rows.clone().enumerate().map(run).collect();
        // The columns of a tile stay in the first-level cache while they are multiplied with all output channels.
        for column in (0..self.row).step_by(COLUMNS) {
            for block in 0..blocks {
                // SAFETY: `block` is one of the gradient, and the runs are pixels of the piece. Tiles end at `row`, which
                // is a multiple of a block; the last one is not whole if it is not a multiple of two.
                unsafe {
                    let sums = Sums {
                        g: ograd.add((piece.image * blocks + block) * p.pixels() * BLOCK),
                        x: patches.add(column),
                        x_half: BLOCK,
                        x_step: self.row,
                        runs: &runs,
                        rows: BLOCK.min(p.k - block * BLOCK),
                        to: to.add(block * BLOCK * self.row + column),
                        to_row: self.row,
                        add,
                        fetch: [std::ptr::null(); FETCHED],
                    };
                    self.outer.run(column + COLUMNS <= self.row, &sums);
                }
            }
        }
    }
}

/// Number of values of a patch of `p`, padded to whole blocks.
pub fn row_len(p: &ConvProblem) -> usize {
    (p.c * p.kh * p.kw).next_multiple_of(BLOCK)
}

impl Convolve for PatchSums {
    fn scratch_bytes(&self) -> usize {
        let threads = self.threads.min(self.n_parts());
        (self.n_parts() * self.n_sums() + threads * self.workspace_len()) * size_of::<f32>()
    }

    fn supports_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let (p, n_parts, n_sums) = (&self.p, self.n_parts(), self.n_sums());
        let threads = self.threads.min(n_parts);
        let most = self.under(self.piece)[0];
        let line = |channel: usize, ky: usize| (channel * most + ky * p.dilate.0) * self.data_row();
        let lines: Vec<usize> = (0..p.c).flat_map(|channel| (0..p.kh).map(move |ky| line(channel, ky))).collect();
        team.run(threads, &|thread| {
            // SAFETY: the scratch memory has the sums of all parts, then the memory of each thread (`scratch_bytes`).
            // `part` gives each part to one thread. The memory is set to 0 once, so that copies of whole lines never
            // read what was not written.
            unsafe {
                let memory = o.scratch.add(n_parts * n_sums + thread * self.workspace_len());
                memory.write_bytes(0, self.workspace_len());
                let patches = memory.add(self.data_len().next_multiple_of(BLOCK));
                let work = Workspace { data: memory, patches };
                for i in part(n_parts, threads, thread) {
                    let to = o.scratch.add(i * n_sums);
                    for (at, piece) in part(self.n_pieces(), n_parts, i).map(|i| self.piece(i)).enumerate() {
                        self.fetch(o.weights, &piece, work.data);
                        self.copy(&piece, work, &lines);
                        self.multiply(o.src, &piece, work.patches, to, at > 0);
                    }
                }
            }
        });
        team.run(threads, &|thread| {
            for k in part(p.k, threads, thread) {
                // SAFETY: all parts are summed. `k < p.k`, so the row lies in the output and in the sums of each part;
                // `part` gives each row to one thread.
                unsafe {
                    let to = std::slice::from_raw_parts_mut(o.dst.add(k * self.patch()), self.patch());
                    to.fill(0.0);
                    for i in 0..n_parts {
                        let sums = std::slice::from_raw_parts(o.scratch.add(i * n_sums + k * self.row), to.len());
                        to.iter_mut().zip(sums).for_each(|(to, sum)| *to += sum);
                    }
                }
            }
        });
        Ok(())
    }
}
