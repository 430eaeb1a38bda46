//! Convolution as a product of matrices: rows are output pixels, columns are output channels, and sums run over the
//! input channels and the taps of the window.
//!
//! A 1x1 window with stride 1 reads its data in place. For any other window, the rows of a few groups are first
//! [copied](super::pack) to scratch memory, which stays in the second-level cache while the panels of weights are read.
//! Long sums are made in parts: the first part writes the output, the others add to it, and the last one applies the
//! epilogue.

use super::grid::{Grid, Sizes};
use super::pack::{Pack, PackScaled, pack, pack_scaled};
use crate::barrier::Phases;
use crate::convolve::{Convolve, Operands, Panel, PanelBias, part};
use crate::functions::Apply;
use crate::gemm::{Gemm, Product, ProductEpilogue, row_groups};
use crate::layouts::{BLOCK, PANEL};
use crate::options::Weights;
use crate::problem::ConvProblem;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// A product prefetches output while it adds up its first blocks of channels, 16 cache lines per block. This is the number
/// of such blocks: two blocks prefetch about the lines of two groups of pixels.
const LINES_OF_OUTPUT: usize = 2;

/// A convolution prepared as a product.
pub struct ProductConv {
    problem: ConvProblem,
    weights: Weights,
    gemm: Gemm,
    pack: Option<Pack>,
    /// Copies the rows of a 1x1 window, multiplied by a factor per channel.
    pack_scaled: Option<PackScaled>,
    /// The function that is applied to the outputs. Only a convolution whose outputs fill the image may have one.
    function: Option<Apply>,
    threads: usize,
    /// First pixel and number of pixels of each group of one image.
    groups: Vec<(usize, usize)>,
    /// For each number of pixels that a group may have, the offsets at which the blocks of 16 channels begin: in the
    /// image, or in the copy of a group with this number of pixels.
    offsets: Vec<Vec<usize>>,
    grid: Grid,
    place: Place,
}

/// Where the output pixels lie in an image: in the output itself, or spread over a larger image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Height and width of the image.
    pub size: [usize; 2],
    /// Row and column of the first pixel.
    pub first: [usize; 2],
    /// Distance between neighboring pixels, down and across.
    pub step: [usize; 2],
}

impl Place {
    /// The place of the output pixels in the output itself.
    pub fn all(p: &ConvProblem) -> Self {
        Self { size: [p.oh, p.ow], first: [0, 0], step: [1, 1] }
    }
}

/// What a thread needs to compute pieces of the rows (output pixels) for its share of the panels (output channels).
struct Share<'a> {
    conv: &'a ProductConv,
    operands: &'a Operands,
    factors: Factors,
    panels: Range<usize>,
    scratch: *mut f32,
}

/// One factor per image and channel, in blocks of channels; null if a convolution is not scaled.
#[derive(Clone, Copy)]
pub struct Factors(pub *const f32);

// SAFETY: sharing only copies the address. The memory behind it is read in `ProductConv::run_scaled`, whose contract
// excludes writers.
unsafe impl Sync for Factors {}

impl ProductConv {
    /// Prepares a convolution for at most `threads` threads.
    pub fn new(problem: ConvProblem, isa: Isa, threads: usize) -> Self {
        Self::placed(problem, Place::all(&problem), isa, threads)
    }

    /// Prepares a 1x1 convolution with stride 1 of data that are multiplied by one factor per image and channel.
    pub fn scaled(problem: ConvProblem, isa: Isa, threads: usize) -> Self {
        debug_assert!(problem.is_pointwise() && problem.pad == (0, 0));
        let conv = Self::new(problem, isa, threads);
        let blocks = conv.blocks();
        let offsets = (0..conv.offsets.len()).map(|len| (0..blocks).map(|b| b * len * BLOCK).collect()).collect();
        Self { pack_scaled: Some(pack_scaled(isa)), offsets, ..conv }
    }

    /// Prepares a convolution whose output pixels lie at `place` in an image with the same channels.
    pub fn placed(problem: ConvProblem, place: Place, isa: Isa, threads: usize) -> Self {
        let gemm = Gemm::new(isa);
        let groups: Vec<_> = if place.size == [problem.oh, problem.ow] && place.step == [1, 1] {
            row_groups(problem.pixels(), gemm.most_rows()).collect()
        } else {
            // The pixels of a group lie in one row, so that their distance is constant.
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
        let pack = is_copied.then(|| pack(isa));
        let (pack_scaled, function) = (None, None);
        Self { problem, weights, gemm, pack, pack_scaled, function, threads, groups, offsets, grid, place }
    }

    /// Returns this convolution for weights of this type.
    pub fn with_weights(self, weights: Weights, isa: Isa) -> Self {
        let gemm = match weights {
            Weights::Float32 => Gemm::new(isa),
            Weights::Bfloat16 => Gemm::of_bf16(isa),
        };
        Self { weights, gemm, ..self }
    }

    /// Returns this convolution with a function that is applied to its outputs.
    pub fn with_function(self, function: Option<Apply>) -> Self {
        debug_assert!(function.is_none() || self.place.step == [1, 1]);
        Self { function, ..self }
    }

    /// Returns the address of the weight with index `numbers`. Two bfloat16 values are as large as one float32 value.
    fn weights_at(&self, weights: *const f32, numbers: usize) -> *const f32 {
        // Panels and their parts are multiples of 16 values, so the division is exact.
        weights.wrapping_add(numbers / if self.weights == Weights::Bfloat16 { 2 } else { 1 })
    }

    fn blocks(&self) -> usize {
        self.problem.c.div_ceil(BLOCK) * self.problem.kh * self.problem.kw
    }

    /// Whether the rows are copied before they are multiplied.
    fn is_copied(&self) -> bool {
        self.pack.is_some() || self.pack_scaled.is_some()
    }

    /// Number of values of scratch memory per thread.
    fn copied_len(&self) -> usize {
        let rows = self.groups.iter().map(|group| group.1).max().unwrap_or(0);
        let blocks = self.blocks().div_ceil(self.grid.depth_parts());
        if self.is_copied() { self.grid.groups_at_once() * rows * blocks * BLOCK } else { 0 }
    }

    /// Number of values of one image of the output.
    fn output_image(&self) -> usize {
        self.problem.k.div_ceil(BLOCK) * self.place.size[0] * self.place.size[1] * BLOCK
    }

    /// Index of the first output of a group in a panel, if images are `image_len` values apart.
    fn output_at(&self, group: usize, panel: usize, image_len: usize) -> usize {
        let (image, first, _) = self.group(group);
        let Place { size, first: corner, step } = self.place;
        let plane = size[0] * size[1] * BLOCK;
        let (y, x) = (first / self.problem.ow * step[0] + corner[0], first % self.problem.ow * step[1] + corner[1]);
        image * image_len + panel * (PANEL / BLOCK) * plane + (y * size[1] + x) * BLOCK
    }

    /// Returns the image, the first pixel and the number of pixels of a group.
    fn group(&self, index: usize) -> (usize, usize, usize) {
        let (first, len) = self.groups[index % self.groups.len()];
        (index / self.groups.len(), first, len)
    }
}

impl Convolve for ProductConv {
    fn scratch_bytes(&self) -> usize {
        self.threads.max(1) * self.copied_len() * size_of::<f32>()
    }

    fn supports_strided_output(&self) -> bool {
        true
    }

    unsafe fn run(&self, operands: &Operands, team: &Team) -> Result<()> {
        // SAFETY: the contract of this function is that of `run_scaled` without factors.
        unsafe { self.run_scaled(operands, Factors(std::ptr::null()), team) };
        Ok(())
    }
}

impl ProductConv {
    /// Computes the output of a [scaled](Self::scaled) convolution.
    ///
    /// # Safety
    /// The conditions of [`Convolve::run`] must hold. The factors must be valid if the convolution is scaled, and nothing
    /// may write them during the call.
    pub unsafe fn run_scaled(&self, operands: &Operands, factors: Factors, team: &Team) {
        let [by_rows, by_panels] = self.grid.sides();
        // A thread that has finished its pieces takes pieces that other threads have not started.
        let pieces = Phases::new(by_rows, vec![self.grid.pieces(); by_panels]);
        team.run(self.grid.threads(), &|i| {
            let scratch = operands.scratch.wrapping_add(i * self.copied_len());
            for next in 0..by_panels {
                let column = (i + next) % by_panels;
                let share = Share { conv: self, operands, factors, panels: self.grid.panels(column), scratch };
                // SAFETY: `column < by_panels` and `piece < self.grid.pieces()`. Different pieces are different pixels
                // and different columns are different channels of the output; `Phases` runs each item once.
                // `i < grid.threads() <= threads`, and thread `i` uses only its own `copied_len` values of the scratch
                // memory, which has `threads` times that number.
                pieces.work(column, i / by_panels, |piece| unsafe { share.run(self.grid.piece(piece)) });
            }
        });
    }
}

impl Share<'_> {
    /// Computes the outputs of these groups for the panels of this share. There must be at most `groups_at_once`
    /// groups.
    ///
    /// # Safety
    /// The conditions of [`Convolve::run`] must hold; no other thread may use `self.scratch`, or these pixels and
    /// channels of the output.
    unsafe fn run(&self, groups: Range<usize>) {
        let depth_parts = self.conv.grid.depth_parts();
        for depth in 0..depth_parts {
            let blocks = part(self.conv.blocks(), depth_parts, depth);
            // SAFETY: the contract of this function is that of `copy` and `multiply`. `part` keeps `blocks` within the
            // blocks of the sum, and `copy` fills the scratch memory with these blocks before `multiply` reads them.
            unsafe {
                self.copy(groups.clone(), blocks.clone());
                for panel in self.panels.clone() {
                    self.multiply(groups.clone(), blocks.clone(), panel);
                }
            }
        }
    }

    /// Copies the windows of these groups.
    ///
    /// # Safety
    /// The conditions of [`Self::run`] must hold.
    unsafe fn copy(&self, groups: Range<usize>, blocks: Range<usize>) {
        if !self.conv.is_copied() {
            return;
        }
        let problem = &self.conv.problem;
        let image_len = problem.c.next_multiple_of(BLOCK) * problem.h * problem.w;
        let mut to = self.scratch;
        for group in groups {
            let (image, first, len) = self.conv.group(group);
            // SAFETY: the groups are groups of the problem, so `image < n`, and `first + len` is at most the number of
            // pixels of an image, and each image has a factor per channel of every block. A group has at most the rows
            // of the longest group, and there are at most `groups_at_once` groups, so `copied_len` values suffice.
            unsafe {
                let (src, rows) = (self.operands.src.add(image * image_len), first..first + len);
                if let Some(pack) = self.conv.pack_scaled {
                    let factors = self.factors.0.add(image * problem.c.next_multiple_of(BLOCK));
                    pack(problem, src, factors, rows, blocks.clone(), to);
                } else if let Some(pack) = self.conv.pack {
                    pack(problem, src, rows, blocks.clone(), to);
                }
                to = to.add(len * blocks.len() * BLOCK);
            }
        }
    }

    /// Distance in values from one image of the output to the next.
    fn output_image(&self) -> usize {
        self.operands.dst_image_stride.unwrap_or_else(|| self.conv.output_image())
    }

    /// Returns the address at which the next part of a panel begins. The address is only prefetched, so it may lie
    /// beyond the weights.
    fn next_part(&self, panel: usize, blocks: &Range<usize>) -> *const f32 {
        let (conv, panels) = (self.conv, &self.panels);
        let (panel, block) =
            if panel + 1 < panels.end { (panel + 1, blocks.start) } else { (panels.start, blocks.end) };
        let width = Panel::of(conv.problem.k, panel).width;
        conv.weights_at(self.operands.weights, (panel * PANEL * conv.blocks() + block * width) * BLOCK)
    }

    /// Returns an address in the output of the next panel, which product `i` prefetches: in the first half of the panel
    /// if `i` is even, in the second half if `i` is odd. The address is only prefetched, so it may lie beyond the
    /// output.
    fn next_output(&self, i: usize, group: usize, n_groups: usize, panel: usize) -> *const f32 {
        let (panel, group) =
            if panel + 1 < self.panels.end { (panel + 1, group) } else { (self.panels.start, group + n_groups) };
        let Place { size, .. } = self.conv.place;
        let half = i % 2 * size[0] * size[1] * BLOCK;
        self.operands.dst.cast_const().wrapping_add(self.conv.output_at(group, panel, self.output_image()) + half)
    }

    /// Multiplies these groups by a part of a panel.
    ///
    /// # Safety
    /// The conditions of [`Self::run`] must hold; the scratch memory must hold the copies of these groups and blocks.
    unsafe fn multiply(&self, groups: Range<usize>, blocks: Range<usize>, panel: usize) {
        let (conv, o) = (self.conv, self.operands);
        let p = &conv.problem;
        let n_blocks = conv.blocks();
        let panel = Panel::of(p.k, panel);
        let is_whole = panel.width == PANEL;
        // SAFETY: `group` is one of the groups of the problem and `blocks` lie within `n_blocks`. So the left operand
        // lies in image `image`, or in the copies, which advance by `len * blocks.len() * BLOCK` values per group. The
        // weights have `n_blocks` blocks for each panel. `output_at` is the index of these pixels and this panel in the
        // output, which only this thread writes, and in the sum.
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
                let (a, offsets) = match conv.is_copied() {
                    true => (copied, &conv.offsets[len][..blocks.len()]),
                    false => (o.src.add(image * image_len + first * BLOCK), &conv.offsets[len][blocks.clone()]),
                };
                // If the sum is the output itself, the first part adds to the old values. Any other sum is also added
                // in the first part, so that the bits of the result do not depend on the memory of the sum.
                let is_read = is_first && !o.sum.is_null() && !sum_is_here;
                let sum = if is_read { o.sum.add(sum_at) } else { std::ptr::null() };
                let plain = ProductEpilogue { bias: std::ptr::null(), sum, lo: f32::NEG_INFINITY, hi: f32::INFINITY };
                let epilogue = if is_last { bias.epilogue(sum, o.bounds) } else { plain };
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
                        // With several groups, each of the first two products prefetches half of the weights that come
                        // next. Bfloat16 weights take half the memory, so the first product prefetches all of them.
                        prefetch_lines: match i {
                            1 if conv.weights == Weights::Bfloat16 => (next, 0),
                            0 | 1 if n_groups > 1 => (next.wrapping_add(i * half), blocks.len()),
                            _ if n_groups > 1 && is_first => {
                                (self.next_output(i, group, n_groups, panel.index), LINES_OF_OUTPUT.min(blocks.len()))
                            }
                            _ => (next, 0),
                        },
                        epilogue: (is_last || is_read).then_some(&epilogue),
                    },
                );
                if let (Some(apply), true) = (conv.function, is_last) {
                    for half in 0..panel.width / BLOCK {
                        let channels = BLOCK.min(p.k - panel.index * PANEL - half * BLOCK);
                        apply.apply_to(o.dst.add(at + half * plane), len, channels);
                    }
                }
                copied = copied.wrapping_add(len * blocks.len() * BLOCK);
            }
        }
    }
}
