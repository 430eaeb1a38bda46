//! The gradient of the weights as sums over pixels, one tap of the window at a time, for any window, stride, dilation
//! and number of groups.
//!
//! Groups are [merged](Groups) until their channels fill whole blocks. The sums between channels of different groups are
//! computed with the others, and not written.
//!
//! With a stride across, the pixels of the data that a tap needs are copied, so that they are neighbors. Otherwise rows of
//! few pixels would be summed one by one, and half of the sets of the first-level cache would stay unused.
//!
//! Pixels are processed in pieces of a few hundred, which stay in the caches while all channels are computed. The sums are
//! kept in scratch memory, in the order output channel, tap, input channel, or in the output if it has that order. Each sum
//! is computed by one thread, over all pixels in a fixed order. So the bits of the result do not depend on the number of
//! threads.

use super::gather::{Gather, gather};
use super::outer::{COLUMNS, FETCHED, Outer, Run, Sums};
use super::shares::Shares;
use crate::convolve::{Convolve, Operands, part};
use crate::direct::grouped::Groups;
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Largest number of pixels of a piece. Two blocks of data with this many pixels approximately fill a first-level cache.
const PIXELS: usize = 256;

/// A prepared gradient of the weights.
///
/// Its operand `src` is the gradient of the output, `weights` is the data, both in blocks of channels; `dst` is the
/// gradient of the weights, in row-major order.
pub struct PixelSums {
    problem: ConvProblem,
    groups: Groups,
    outer: Outer,
    shares: Shares,
    gather: unsafe fn(&Gather),
}

/// Where sums are stored.
#[derive(Clone, Copy)]
struct Place {
    at: *mut f32,
    /// Distance from one output channel to the next, and from one tap of the window to the next.
    steps: [usize; 2],
}

impl PixelSums {
    /// Prepares the gradient of the weights of `problem` for at most `threads` threads.
    pub fn new(problem: ConvProblem, isa: Isa, threads: usize) -> Self {
        Self::grouped(problem, Groups::new(1, problem.c, problem.k), isa, threads)
    }

    /// Prepares the gradient of the weights of a convolution in groups for at most `threads` threads. `problem` has the
    /// channels of all groups.
    pub fn grouped(problem: ConvProblem, groups: Groups, isa: Isa, threads: usize) -> Self {
        let sizes = [problem.k.div_ceil(BLOCK), groups.c.div_ceil(COLUMNS)];
        Self { problem, groups, outer: Outer::new(isa), shares: Shares::new(sizes, threads), gather: gather(isa) }
    }

    fn cells(&self) -> usize {
        self.problem.kh * self.problem.kw
    }

    /// Whether the sums have the order of the output, so that they are computed in the output's memory.
    fn is_in_place(&self) -> bool {
        let Groups { merged, c, k, .. } = self.groups;
        self.cells() == 1 && merged == 1 && k.is_multiple_of(BLOCK) && c.is_multiple_of(BLOCK)
    }

    /// Whether the pixels of the data are copied. In several groups, too few output channels would share a copy.
    fn copies(&self) -> bool {
        self.problem.stride.1 > 1 && self.groups.n == 1
    }

    /// Number of values of a thread's copy: a piece of pixels of two blocks.
    fn copy_len(&self) -> usize {
        if self.copies() { PIXELS.max(self.problem.ow) * COLUMNS } else { 0 }
    }

    /// Number of values of the sums in scratch memory.
    fn sums_len(&self) -> usize {
        let [k, c] = [self.problem.k, self.groups.c].map(|n| n.next_multiple_of(BLOCK));
        if self.is_in_place() { 0 } else { k * self.cells() * c }
    }

    /// The blocks of output channels of each convolution of merged groups that lie in `blocks`.
    fn by_group(&self, blocks: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let each = self.groups.k.div_ceil(BLOCK);
        let of = move |group: usize| (group * each).max(blocks.start)..((group + 1) * each).min(blocks.end);
        (0..self.groups.n).map(move |group| (group, of(group))).filter(|(_, blocks)| !blocks.is_empty())
    }

    /// The images and the rows of output pixels of each piece.
    fn pieces(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let p = self.problem;
        let parts = p.oh.div_ceil((PIXELS / p.ow).max(1));
        let at_once = if parts == 1 { (PIXELS / p.pixels()).max(1) } else { 1 };
        (0..p.n).step_by(at_once).flat_map(move |image| {
            let images = image..(image + at_once).min(p.n);
            (0..parts).map(move |i| (images.clone(), part(p.oh, parts, i)))
        })
    }

    /// Collects the output pixels of a piece for which the tap `cell` of the window lies in the image.
    fn runs(&self, images: Range<usize>, rows: Range<usize>, cell: usize, runs: &mut Vec<Run>) {
        let p = &self.problem;
        let (ky, kx) = (cell / p.kw * p.dilate.0, cell % p.kw * p.dilate.1);
        // The range of `ox` with `0 <= ox * stride + kx - pad < w`.
        let first = p.pad.1.saturating_sub(kx).div_ceil(p.stride.1).min(p.ow);
        let end = (p.w + p.pad.1).saturating_sub(kx).div_ceil(p.stride.1).clamp(first, p.ow);
        let [g_image, x_image] = [p.k.div_ceil(BLOCK) * p.pixels(), p.c.div_ceil(BLOCK) * p.h * p.w];
        runs.clear();
        for (image, oy) in images.flat_map(|image| rows.clone().map(move |oy| (image, oy))) {
            let y = (oy * p.stride.0 + ky).wrapping_sub(p.pad.0);
            if y >= p.h || first == end {
                continue;
            }
            let x = y * p.w + first * p.stride.1 + kx - p.pad.1;
            let (g, x) = ((image * g_image + oy * p.ow + first) * BLOCK, (image * x_image + x) * BLOCK);
            match runs.last_mut() {
                Some(last) if last.g + last.len * BLOCK == g && last.x + last.len * self.x_step() == x => {
                    last.len += end - first;
                }
                _ => runs.push(Run { g, x, len: end - first }),
            }
        }
    }

    /// The runs of a piece whose data are copied: all its pixels, image by image.
    fn copied_runs(&self, images: Range<usize>, rows: Range<usize>, runs: &mut Vec<Run>) {
        let p = &self.problem;
        let (g_image, len) = (p.k.div_ceil(BLOCK) * p.pixels(), rows.len() * p.ow);
        runs.clear();
        runs.extend(images.enumerate().map(|(i, image)| {
            let g = (image * g_image + rows.start * p.ow) * BLOCK;
            Run { g, x: i * len * BLOCK, len }
        }));
    }

    /// Copies the pixels that the tap `cell` reads for the output pixels of a piece, in one or two blocks of the data from
    /// `x` on. Pixels outside the image become 0.
    ///
    /// # Safety
    /// `x` must point to a block of the first image of the data, after which `blocks - 1` more blocks follow. `to` must have
    /// room for the pixels of the piece in `blocks` blocks, and no other thread may use it.
    unsafe fn copy(
        &self,
        x: *const f32,
        blocks: usize,
        (images, rows): (Range<usize>, Range<usize>),
        cell: usize,
        to: *mut f32,
    ) {
        let p = &self.problem;
        let (ky, kx) = (cell / p.kw * p.dilate.0, cell % p.kw * p.dilate.1);
        let first = p.pad.1.saturating_sub(kx).div_ceil(p.stride.1).min(p.ow);
        let end = (p.w + p.pad.1).saturating_sub(kx).div_ceil(p.stride.1).clamp(first, p.ow);
        let x_image = p.c.div_ceil(BLOCK) * p.h * p.w;
        let mut to = to;
        for block in 0..blocks {
            for (image, oy) in images.clone().flat_map(|image| rows.clone().map(move |oy| (image, oy))) {
                let y = (oy * p.stride.0 + ky).wrapping_sub(p.pad.0);
                let len = if y < p.h { end - first } else { 0 };
                let pixel = image * x_image
                    + (block * p.h + y.min(p.h)) * p.w
                    + (first * p.stride.1 + kx).saturating_sub(p.pad.1);
                // SAFETY: if `len > 0`, the row `y` lies in the image, and so do the columns of the pixels `first..end`.
                // `to` has room for a row of output pixels for each row of the piece.
                unsafe {
                    (self.gather)(&Gather {
                        from: x.wrapping_add(pixel * BLOCK),
                        step: p.stride.1 * BLOCK,
                        before: first,
                        len,
                        after: p.ow - first - len,
                        to,
                    });
                    to = to.add(p.ow * BLOCK);
                }
            }
        }
    }

    fn x_step(&self) -> usize {
        self.problem.stride.1 * BLOCK
    }

    /// Returns the addresses to prefetch while a tile of sums is computed. They lie in the next piece, which begins at
    /// `next`: in the data if the tile has the first block of output channels, in the gradient if the tile has the first
    /// pair of blocks of input channels.
    fn to_fetch(
        &self,
        next: Option<Run>,
        g: *const f32,
        x: *const f32,
        [is_first_g, is_first_x]: [bool; 2],
    ) -> [*const f32; FETCHED] {
        let mut fetch = [std::ptr::null(); FETCHED];
        let Some(next) = next else { return fetch };
        if is_first_g && self.problem.stride == (1, 1) {
            fetch[0] = x.wrapping_add(next.x);
            fetch[1] = x.wrapping_add(next.x + self.problem.h * self.problem.w * BLOCK);
        }
        if is_first_x {
            fetch[2] = g.wrapping_add(next.g);
        }
        fetch
    }

    /// Computes the sums of these blocks of output channels by these pairs of blocks of the input channels of their groups.
    ///
    /// # Safety
    /// The conditions of [`Convolve::run`] must hold; `blocks` and `pairs` must exist, and no other thread may use
    /// their sums in `to`, or the `copy_len` values at `copy`.
    unsafe fn sum(&self, o: &Operands, to: Place, copy: *mut f32, [blocks, pairs]: [Range<usize>; 2]) {
        let p = &self.problem;
        let (c_blocks, pixels) = (self.groups.c.div_ceil(BLOCK), p.h * p.w);
        let (mut runs, mut next_runs) = (Vec::new(), Vec::new());
        let mut pieces = self.pieces().enumerate().peekable();
        while let Some((piece, (images, rows))) = pieces.next() {
            // Where the next piece begins, to prefetch it.
            match pieces.peek() {
                Some((_, (images, rows))) => self.runs(images.clone(), rows.clone(), 0, &mut next_runs),
                None => next_runs.clear(),
            }
            let next = next_runs.first().copied();
            let cells = 0..self.cells();
            for ((group, blocks), cell) in
                self.by_group(blocks.clone()).flat_map(|group| cells.clone().map(move |cell| (group.clone(), cell)))
            {
                if self.copies() {
                    self.copied_runs(images.clone(), rows.clone(), &mut runs);
                } else {
                    self.runs(images.clone(), rows.clone(), cell, &mut runs);
                }
                for (pair, block) in pairs.clone().flat_map(|pair| blocks.clone().map(move |block| (pair, block))) {
                    let is_whole = 2 * pair + 1 < c_blocks;
                    let n_rows = BLOCK.min(p.k - block * BLOCK);
                    // SAFETY: `block` is a block of the gradient, `pair` of the data of its group, and the runs contain
                    // only pixels inside their images, or those of the copy, which is complete before the first block reads
                    // it. A tile that is not whole reads one block of data. `to` has room for whole blocks of rows: it is
                    // scratch memory with padded channels, or an output whose channels are multiples of 16.
                    unsafe {
                        let to_at = block * BLOCK * to.steps[0] + cell * to.steps[1] + pair * COLUMNS;
                        let g = o.src.add(block * p.pixels() * BLOCK);
                        let x = o.weights.add((group * self.groups.c + pair * COLUMNS) * pixels);
                        let (at, x_half, x_step) = match self.copies() {
                            true => (copy.cast_const(), images.len() * rows.len() * p.ow * BLOCK, BLOCK),
                            false => (x, pixels * BLOCK, self.x_step()),
                        };
                        if self.copies() && block == blocks.start {
                            let n_blocks = if is_whole { 2 } else { 1 };
                            self.copy(x, n_blocks, (images.clone(), rows.clone()), cell, copy);
                        }
                        let sums = Sums {
                            g,
                            x: at,
                            x_half,
                            x_step,
                            runs: &runs,
                            rows: n_rows,
                            to: to.at.add(to_at),
                            to_row: to.steps[0],
                            add: piece > 0,
                            fetch: if cell == 0 {
                                self.to_fetch(next, g, x, [block == blocks.start, pair == pairs.start])
                            } else {
                                [std::ptr::null(); FETCHED]
                            },
                        };
                        self.outer.run(is_whole, &sums);
                    }
                }
            }
        }
    }

    /// Copies sums to the output, in the order of the output.
    ///
    /// # Safety
    /// The conditions of [`Self::sum`] must hold. The sums in `from` must be computed, and no other thread may use these
    /// values of `dst`.
    unsafe fn write(&self, dst: *mut f32, from: Place, [blocks, pairs]: [Range<usize>; 2]) {
        let (p, cells) = (&self.problem, self.cells());
        let [c_each, k_each] = [self.groups.c, self.groups.k].map(|n| n / self.groups.merged);
        for k in blocks.start * BLOCK..(blocks.end * BLOCK).min(p.k) {
            // The first of the merged input channels that belongs to the group of this output channel.
            let first = k % self.groups.k / k_each * c_each;
            for c in (pairs.start * COLUMNS).max(first)..(pairs.end * COLUMNS).min(first + c_each) {
                for cell in 0..cells {
                    // SAFETY: `k < p.k`, `c - first < c_each` and `cell < cells`, so the indices lie in the output. The
                    // sums have a row of the merged input channels for each output channel and tap.
                    unsafe {
                        *dst.add((k * c_each + c - first) * cells + cell) =
                            *from.at.add(k * from.steps[0] + cell * from.steps[1] + c);
                    }
                }
            }
        }
    }
}

impl Convolve for PixelSums {
    fn scratch_bytes(&self) -> usize {
        (self.sums_len() + self.shares.threads() * self.copy_len()) * size_of::<f32>()
    }

    fn supports_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let c = self.groups.c.next_multiple_of(BLOCK);
        team.run(self.shares.threads(), &|i| {
            let steps = [self.cells() * c, c];
            let share = self.shares.share(i);
            // SAFETY: `Shares` gives each thread different channels. By the contract the scratch memory has
            // `scratch_bytes`: the sums, then the copy of each thread. The output has the size of the weights.
            unsafe {
                let copy = o.scratch.add(self.sums_len() + i * self.copy_len());
                if self.is_in_place() {
                    self.sum(o, Place { at: o.dst, steps }, copy, share);
                } else {
                    let place = Place { at: o.scratch, steps };
                    self.sum(o, place, copy, share.clone());
                    self.write(o.dst, place, share);
                }
            }
        });
        Ok(())
    }
}
