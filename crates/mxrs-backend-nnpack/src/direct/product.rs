//! Convolution as a product of matrices: rows are output pixels, columns output channels, steps the cells of the window.
//!
//! A 1x1 window with stride 1 reads its data where they lie. For any other window the rows of a few groups are [copied](super::pack)
//! to where they stay in the second-level cache while the panels of weights pass by. Long sums are made in parts, the
//! first of which write the output and the others add to it; the epilogue belongs to the last.

use super::grid::{Grid, Sizes};
use super::pack::{Pack, pack};
use crate::Isa;
use crate::barrier::Phases;
use crate::convolve::{Convolve, Operands, Panel, PanelBias, part};
use crate::gemm::{Finish, Gemm, Product, row_groups};
use crate::layouts::{BLOCK, PANEL};
use crate::options::Weights;
use crate::problem::ConvProblem;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Blocks of 16 cache lines of output that are brought into the cache with one product: those of two groups of rows.
const LINES_OF_OUTPUT: usize = 2;

/// The product prepared.
pub struct ProductConv {
    problem: ConvProblem,
    weights: Weights,
    gemm: Gemm,
    pack: Option<Pack>,
    threads: usize,
    /// First pixel and number of pixels of each group of one image.
    groups: Vec<(usize, usize)>,
    /// Where blocks begin, of an image or of a copied group of the longest length, by its length.
    offsets: Vec<Vec<usize>>,
    grid: Grid,
    place: Place,
}

/// Where output pixels lie in an image, the output itself or one in which they are some of the pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Height and width of the image.
    pub size: [usize; 2],
    /// Row and column of the first pixel.
    pub first: [usize; 2],
    /// Distance between them, down and across.
    pub step: [usize; 2],
}

/// What one thread does: pieces of the rows by a share of the panels.
struct Share<'a> {
    conv: &'a ProductConv,
    operands: &'a Operands,
    panels: Range<usize>,
    scratch: *mut f32,
}

impl ProductConv {
    /// Prepares a convolution for at most `threads` threads.
    pub fn new(problem: ConvProblem, isa: Isa, threads: usize) -> Self {
        let place = Place { size: [problem.oh, problem.ow], first: [0, 0], step: [1, 1] };
        Self::placed(problem, place, isa, threads)
    }

    /// The same with output pixels in these places, in blocks of as many channels.
    pub fn placed(problem: ConvProblem, place: Place, isa: Isa, threads: usize) -> Self {
        let gemm = Gemm::new(isa);
        let groups: Vec<_> = if place.size == [problem.oh, problem.ow] && place.step == [1, 1] {
            row_groups(problem.pixels(), gemm.most_rows()).collect()
        } else {
            // Neighbors in a group are equally far from one another.
            let rows = (0..problem.oh).map(|oy| oy * problem.ow);
            rows.flat_map(|at| row_groups(problem.ow, gemm.most_rows()).map(move |(first, len)| (at + first, len)))
                .collect()
        };
        let rows = groups.iter().map(|group| group.1).max().unwrap_or(0);
        let blocks = problem.c.div_ceil(BLOCK) * problem.kh * problem.kw;
        let sizes = Sizes { groups: problem.n * groups.len(), rows, panels: Panel::count(problem.k), blocks };
        let grid = Grid::new(sizes, threads);
        let is_same = (problem.oh, problem.ow) == (problem.h, problem.w);
        let is_copied = !(problem.is_pointwise() && problem.pad == (0, 0) && is_same);
        let distance = |len: usize| if is_copied { len } else { problem.h * problem.w };
        let offsets = (0..=rows).map(|len| (0..blocks).map(|b| b * distance(len) * BLOCK).collect()).collect();
        let weights = Weights::Float32;
        Self { problem, weights, gemm, pack: is_copied.then(|| pack(isa)), threads, groups, offsets, grid, place }
    }

    /// The same with weights of these numbers.
    pub fn with_weights(self, weights: Weights, isa: Isa) -> Self {
        let gemm = match weights {
            Weights::Float32 => Gemm::new(isa),
            Weights::Bfloat16 => Gemm::of_short(isa),
        };
        Self { weights, gemm, ..self }
    }

    /// So many numbers behind the beginning of the weights. Where they are short, two of them have the place of one.
    fn weights_at(&self, weights: *const f32, numbers: usize) -> *const f32 {
        // Panels and their parts are multiples of 16 numbers.
        weights.wrapping_add(numbers / if self.weights == Weights::Bfloat16 { 2 } else { 1 })
    }

    fn blocks(&self) -> usize {
        self.problem.c.div_ceil(BLOCK) * self.problem.kh * self.problem.kw
    }

    /// Numbers of scratch memory per thread.
    fn copied_len(&self) -> usize {
        let rows = self.groups.iter().map(|group| group.1).max().unwrap_or(0);
        let blocks = self.blocks().div_ceil(self.grid.depth_parts());
        if self.pack.is_some() { self.grid.groups_at_once() * rows * blocks * BLOCK } else { 0 }
    }

    /// Numbers of an image of the output.
    fn output_image(&self) -> usize {
        self.problem.k.div_ceil(BLOCK) * self.place.size[0] * self.place.size[1] * BLOCK
    }

    /// Where the outputs of a group for a panel begin, with so many numbers from one image to the next.
    fn output_at(&self, group: usize, panel: usize, image_len: usize) -> usize {
        let (image, first, _) = self.group(group);
        let Place { size, first: corner, step } = self.place;
        let plane = size[0] * size[1] * BLOCK;
        let (y, x) = (first / self.problem.ow * step[0] + corner[0], first % self.problem.ow * step[1] + corner[1]);
        image * image_len + panel * (PANEL / BLOCK) * plane + (y * size[1] + x) * BLOCK
    }

    /// Image and pixels of a group.
    fn group(&self, index: usize) -> (usize, usize, usize) {
        let (first, len) = self.groups[index % self.groups.len()];
        (index / self.groups.len(), first, len)
    }
}

impl Convolve for ProductConv {
    fn scratch_bytes(&self) -> usize {
        self.threads.max(1) * self.copied_len() * size_of::<f32>()
    }

    fn takes_images_apart(&self) -> bool {
        true
    }

    unsafe fn run(&self, operands: &Operands, team: &Team) -> Result<()> {
        let [by_rows, by_panels] = self.grid.sides();
        // A thread that is done helps with what others have left.
        let pieces = Phases::new(by_rows, vec![self.grid.pieces(); by_panels]);
        team.run(self.grid.threads(), &|i| {
            let scratch = operands.scratch.wrapping_add(i * self.copied_len());
            for next in 0..by_panels {
                let column = (i + next) % by_panels;
                let share = Share { conv: self, operands, panels: self.grid.panels(column), scratch };
                // SAFETY: the caller's promise; pieces of a share of the panels have different pixels or channels of the output,
                // each is taken once, and each thread has scratch of its own.
                pieces.work(column, i / by_panels, |piece| unsafe { share.run(self.grid.piece(piece)) });
            }
        });
        Ok(())
    }
}

impl Share<'_> {
    /// Makes the outputs of these groups, no more than are worked on at a time.
    ///
    /// # Safety
    /// As [`Convolve::run`]; and nobody else uses the scratch memory, or these pixels and channels of the output.
    unsafe fn run(&self, groups: Range<usize>) {
        let depth_parts = self.conv.grid.depth_parts();
        for depth in 0..depth_parts {
            let blocks = part(self.conv.blocks(), depth_parts, depth);
            // SAFETY: the caller's promise.
            unsafe {
                self.copy(groups.clone(), blocks.clone());
                for panel in self.panels.clone() {
                    self.multiply(groups.clone(), blocks.clone(), panel);
                }
            }
        }
    }

    /// Copies the windows of these groups.
    unsafe fn copy(&self, groups: Range<usize>, blocks: Range<usize>) {
        let Some(pack) = self.conv.pack else { return };
        let problem = &self.conv.problem;
        let image_len = problem.c.next_multiple_of(BLOCK) * problem.h * problem.w;
        let mut to = self.scratch;
        for group in groups {
            let (image, first, len) = self.conv.group(group);
            // SAFETY: an image of the data; scratch memory is large enough for the longest groups.
            unsafe {
                pack(problem, self.operands.src.add(image * image_len), first..first + len, blocks.clone(), to);
                to = to.add(len * blocks.len() * BLOCK);
            }
        }
    }

    /// Numbers from one image of the output to the next.
    fn output_image(&self) -> usize {
        self.operands.dst_image.unwrap_or_else(|| self.conv.output_image())
    }

    /// Where the part of a panel is that is needed after this one. Never read, so it may be beyond the weights.
    fn next_part(&self, panel: usize, blocks: &Range<usize>) -> *const f32 {
        let (conv, panels) = (self.conv, &self.panels);
        let (panel, block) =
            if panel + 1 < panels.end { (panel + 1, blocks.start) } else { (panels.start, blocks.end) };
        let width = Panel::of(conv.problem.k, panel).width;
        conv.weights_at(self.operands.weights, (panel * PANEL * conv.blocks() + block * width) * BLOCK)
    }

    /// Output that the panel after this one writes, a part of it for each product with this one: two groups' of one half of the panel,
    /// then of the other. Never read, so it may be beyond the output.
    fn next_output(&self, i: usize, group: usize, n_groups: usize, panel: usize) -> *const f32 {
        let (panel, group) =
            if panel + 1 < self.panels.end { (panel + 1, group) } else { (self.panels.start, group + n_groups) };
        let Place { size, .. } = self.conv.place;
        let half = i % 2 * size[0] * size[1] * BLOCK;
        self.operands.dst.cast_const().wrapping_add(self.conv.output_at(group, panel, self.output_image()) + half)
    }

    /// Multiplies these groups by a part of a panel.
    unsafe fn multiply(&self, groups: Range<usize>, blocks: Range<usize>, panel: usize) {
        let (conv, o) = (self.conv, self.operands);
        let p = &conv.problem;
        let n_blocks = conv.blocks();
        let panel = Panel::of(p.k, panel);
        let is_whole = panel.width == PANEL;
        // SAFETY: every address is that of a number of the tensors, whose sizes the caller guarantees; of the output, pixels
        // of these groups and channels of this panel.
        unsafe {
            let bias = PanelBias::of(o.bias, p.k, panel);
            let b = conv.weights_at(o.weights, (panel.index * PANEL * n_blocks + blocks.start * panel.width) * BLOCK);
            let is_first = blocks.start == 0;
            let is_last = blocks.end == n_blocks;
            let sum_is_here = std::ptr::eq(o.sum, o.dst);
            let Place { size, step, .. } = conv.place;
            let (image_len, plane) = (p.c.next_multiple_of(BLOCK) * p.h * p.w, size[0] * size[1] * BLOCK);
            let mut copied = self.scratch.cast_const();
            let next = self.next_part(panel.index, &blocks);
            let half = blocks.len() * BLOCK * PANEL / 2;
            let n_groups = groups.len();
            for (i, group) in groups.enumerate() {
                let (image, first, len) = conv.group(group);
                let at = conv.output_at(group, panel.index, self.output_image());
                let sum_at = conv.output_at(group, panel.index, conv.output_image());
                let (a, offsets) = match conv.pack {
                    Some(_) => (copied, &conv.offsets[len][..blocks.len()]),
                    None => (o.src.add(image * image_len + first * BLOCK), &conv.offsets[len][blocks.clone()]),
                };
                // A sum in the output's place is there before the first part writes; another is added there too, so that bits do
                // not depend on where it is.
                let is_read = is_first && !o.sum.is_null() && !sum_is_here;
                let sum = if is_read { o.sum.add(sum_at) } else { std::ptr::null() };
                let plain = Finish { bias: std::ptr::null(), sum, lo: f32::NEG_INFINITY, hi: f32::INFINITY };
                let finish = if is_last { bias.finish(sum, o.bounds) } else { plain };
                conv.gemm.run(
                    len,
                    is_whole,
                    &Product {
                        a,
                        a_offsets: offsets,
                        a_row_stride: BLOCK,
                        b,
                        c: o.dst.add(at),
                        c_row_stride: step[1] * BLOCK,
                        c_half_stride: plane,
                        add: !is_first || sum_is_here,
                        prefetch: if n_groups == 1 { next } else { std::ptr::null() },
                        // The first two of several groups bring half of it each, the first all of it where it is short.
                        prefetch_lines: match i {
                            1 if conv.weights == Weights::Bfloat16 => (next, 0),
                            0 | 1 if n_groups > 1 => (next.wrapping_add(i * half), blocks.len()),
                            _ if n_groups > 1 && is_first => {
                                (self.next_output(i, group, n_groups, panel.index), LINES_OF_OUTPUT.min(blocks.len()))
                            }
                            _ => (next, 0),
                        },
                        finish: (is_last || is_read).then_some(&finish),
                    },
                );
                copied = copied.wrapping_add(len * blocks.len() * BLOCK);
            }
        }
    }
}
