//! Computes the sums: packs a strip, multiplies all blocks of an item, and writes the weights at the end.

use super::lines::Lines;
use super::multiply::{self, Operands, PAIR_BYTES, POSITIONS};
use super::packing::{pair, transpose};
use super::planes::copy_rows;
use super::sizes::Sizes;
use super::store::{Place, write};
use crate::barrier::Phases;
use crate::low_precision::block::{PANEL, STEP};
use crate::low_precision::geometry::Problem;
use crate::low_precision::level::Level;
use crate::low_precision::loops::Shared;
use crate::low_precision::matrix::Tiles;
use half::bf16;
use mxrs_processor::{Isa, MatrixUnits};
use mxrs_sync::Team;
use mxrs_types::DType;
use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
use std::ops::Range;

/// The memory of one run.
pub struct Memory {
    /// The output's gradient, with channels last.
    pub ograd: *const u16,
    /// The data, with channels last, or row-major for planes.
    pub data: *const u16,
    /// The row-major gradient of the weights.
    pub weights: *mut u8,
    /// Scratch memory of [`WeightSums::scratch_bytes`].
    pub scratch: *mut u8,
}

// SAFETY: sharing copies addresses only. The memory behind them is accessed in `WeightSums::run`, whose contract excludes
// conflicting accesses.
unsafe impl Sync for Memory {}

/// Which tensor the left operand is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Gradient,
    Data,
    Planes,
}

/// A prepared gradient of weights.
pub struct WeightSums {
    p: Problem,
    lines: Lines,
    left: Left,
    place: Place,
    sizes: Sizes,
    /// Copies of the right operand: the phase of the data, and whether its pairs begin at odd positions.
    copies: Vec<(usize, bool)>,
    /// For each tap, the index in `copies` of the copy that it reads, and the first pair of positions in this copy.
    taps: Vec<(usize, usize)>,
    is_f32: bool,
    threads: usize,
}

impl WeightSums {
    /// Prepares the gradient for a problem, whose data are row-major planes if `is_planes`. The result has type `dtype`.
    pub fn new(p: Problem, is_planes: bool, dtype: DType, threads: usize) -> Self {
        let is_pointwise = p.window == [1, 1];
        let left = match (is_planes, is_pointwise && p.c < p.k) {
            (true, _) => Left::Planes,
            (false, true) => Left::Data,
            (false, false) => Left::Gradient,
        };
        let is_flat = is_pointwise && p.stride == [1, 1] && p.pad == [0, 0] && p.input == p.output;
        let of_output = Problem { input: p.output, window: [1, 1], stride: [1, 1], pad: [0, 0], ..p };
        let positions = match (left, is_flat) {
            (Left::Planes, _) => of_output,
            (_, true) => Problem { n: 1, input: [p.pixels(), 1], output: [p.pixels(), 1], ..of_output },
            (_, false) => p,
        };
        let lines = Lines::new(&positions);
        let (mut copies, mut taps) = (Vec::new(), Vec::new());
        for tap in &lines.taps {
            let copy = (tap.phase, tap.offset % 2 == 1);
            let index = copies.iter().position(|known| *known == copy).unwrap_or_else(|| {
                copies.push(copy);
                copies.len() - 1
            });
            taps.push((index, tap.offset / 2));
        }
        let of_filter = if is_planes { p.c * p.window[0] * p.window[1] } else { p.c };
        let place = Place { sizes: [p.k, of_filter], taps: taps.len(), swapped: left != Left::Gradient };
        let panels = if place.swapped { [of_filter, p.k] } else { [p.k, of_filter] }.map(|n| n.div_ceil(PANEL));
        let panel_bytes = lines.strip_len() * 2 * PANEL;
        let sizes = Sizes::new(panels, taps.len(), copies.len(), [lines.strips(), panel_bytes]);
        Self { p, lines, left, place, sizes, copies, taps, is_f32: dtype == DType::F32, threads: threads.max(1) }
    }

    /// Distance between the rows of the packed left operand. Neighboring rows are in different sets of the first cache.
    fn row_bytes(&self) -> usize {
        self.lines.strip_len() * 2 + STEP
    }

    /// Bytes of a packed panel of a copy of the right operand.
    fn panel_bytes(&self) -> usize {
        (self.lines.strip_len() + self.lines.ahead + 2).div_ceil(2) * PAIR_BYTES
    }

    fn left_bytes(&self) -> usize {
        self.sizes.most()[0] * PANEL * self.row_bytes()
    }

    fn strip_bytes(&self) -> usize {
        self.left_bytes() + self.copies.len() * self.sizes.most()[1] * self.panel_bytes()
    }

    fn sums_bytes(&self) -> usize {
        self.sizes.group_len() * size_of::<f32>()
    }

    /// Number of groups whose sums are kept in scratch memory: all groups of each part, or one per thread if there is only
    /// one part.
    fn n_kept(&self) -> usize {
        if self.sizes.parts == 1 { self.threads } else { self.sizes.parts * self.sizes.n_groups() }
    }

    /// Scratch memory of a run in bytes.
    pub fn scratch_bytes(&self) -> usize {
        self.threads * self.strip_bytes() + self.n_kept() * self.sums_bytes()
    }

    /// Computes the gradient.
    ///
    /// # Safety
    /// The memory must have the sizes and layouts of the problem. Nothing else may use weights and scratch memory, and nothing
    /// may write the other tensors. Scratch memory is aligned to 64 bytes.
    pub unsafe fn run(&self, memory: &Memory, team: &Team) {
        // The calls of this module are planned only if the process may use the matrix units, so this does not fail.
        let Some(units) = MatrixUnits::request() else { return };
        let Sizes { parts, .. } = self.sizes;
        let (groups, rows) = (self.sizes.n_groups(), self.sizes.most()[0]);
        let phases = Phases::new(self.threads, [parts * groups, if parts == 1 { 0 } else { groups * rows }]);
        let kept = Shared(memory.scratch.wrapping_add(self.threads * self.strip_bytes()));
        team.run(self.threads, &|thread| {
            // SAFETY: scratch memory has a strip for each thread, and sums for each thread or for each part of each group.
            let strip = unsafe { Shared(memory.scratch).at(thread * self.strip_bytes()) };
            // SAFETY: behind the strips, scratch memory has `n_kept` groups of `sums_bytes` bytes.
            let sums_of = |i: usize| unsafe { kept.at(i * self.sums_bytes()) }.cast::<f32>();
            let tiles = Tiles::new(units);
            let mut worker = Worker { of: self, memory, tiles, strip, pixels: Vec::new(), ahead: Ahead::default() };
            phases.work(0, thread, |item| {
                let (part, group) = (item / groups, item % groups);
                let sums = sums_of(if parts == 1 { thread } else { item });
                // SAFETY: only this thread uses its strip and these sums. With one part, items are different weights.
                unsafe {
                    worker.add_up(group, self.sizes.strips(part), sums);
                    if parts == 1 {
                        let [rows, _] = self.sizes.group(group);
                        (0..rows.len()).for_each(|row| self.write(group, row, sums, memory.weights));
                    }
                }
            });
            phases.wait(0);
            phases.work(1, thread, |item| {
                let (group, row) = (item / rows, item % rows);
                if row >= self.sizes.group(group)[0].len() {
                    return;
                }
                let len = self.row_len(group);
                // SAFETY: phase 0 is finished, so all sums are complete. Items are different rows of panels of the sums, and
                // different weights.
                unsafe {
                    let all = std::slice::from_raw_parts_mut(sums_of(group).add(row * len), len);
                    for part in 1..parts {
                        let more = std::slice::from_raw_parts(sums_of(part * groups + group).add(row * len), len);
                        all.iter_mut().zip(more).for_each(|(sum, x)| *sum += x);
                    }
                    self.write(group, row, sums_of(group), memory.weights);
                }
            });
        });
    }

    /// Values of the sums of one panel of rows of a group.
    fn row_len(&self, group: usize) -> usize {
        self.sizes.group(group)[1].len() * self.taps.len() * multiply::BLOCK
    }

    /// Writes the weights of one panel of rows of a group.
    ///
    /// # Safety
    /// `sums` must be those of the group; no other thread may use these weights.
    unsafe fn write(&self, group: usize, row: usize, sums: *const f32, weights: *mut u8) {
        let [rows, columns] = self.sizes.group(group);
        // SAFETY: the caller promises sums and weights.
        unsafe {
            let sums = sums.add(row * self.row_len(group));
            match self.is_f32 {
                true => write::<f32>(&self.place, sums, rows.start + row, columns, weights),
                false => write::<bf16>(&self.place, sums, rows.start + row, columns, weights),
            }
        }
    }
}

/// One thread of a run.
struct Worker<'a> {
    of: &'a WeightSums,
    memory: &'a Memory,
    tiles: Tiles,
    strip: *mut u8,
    /// The pixels at the positions of the strip that is packed.
    pixels: Vec<*const u16>,
    ahead: Ahead,
}

/// Memory that the next strip will read. It is fetched into the second-level cache while the current strip is multiplied.
#[derive(Default)]
struct Ahead {
    /// Addresses that are left, for each operand.
    ranges: [Range<usize>; 2],
    /// Cache lines to fetch for each block of sums.
    per_block: usize,
}

impl Ahead {
    /// Guesses what the next strip will read from what this one has read: the memory behind it.
    fn after(&mut self, operand: usize, pixels: &[*const u16], channels: usize) {
        let first = pixels.iter().find(|pixel| !pixel.is_null());
        let last = pixels.iter().rfind(|pixel| !pixel.is_null());
        self.ranges[operand] = first.zip(last).map_or(0..0, |(first, last)| {
            let end = last.addr() + 2 * channels;
            end..end + (end - first.addr())
        });
    }

    /// Fetches the next `per_block` cache lines of each operand. Called once per block of sums.
    #[inline(always)]
    fn fetch(&mut self) {
        for range in &mut self.ranges {
            for _ in 0..self.per_block {
                if range.start >= range.end {
                    break;
                }
                // SAFETY: fetching into a cache reads nothing.
                unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::without_provenance(range.start)) }
                range.start += STEP;
            }
        }
    }
}

impl Worker<'_> {
    /// Computes the sums of a group over some strips.
    ///
    /// # Safety
    /// The conditions of [`WeightSums::run`] must hold, and only this thread may use the strip and these sums.
    unsafe fn add_up(&mut self, group: usize, strips: Range<usize>, sums: *mut f32) {
        let WeightSums { taps, sizes, lines, .. } = self.of;
        let [rows, columns] = sizes.group(group);
        let (row_bytes, panel_bytes) = (self.of.row_bytes(), self.of.panel_bytes());
        let right = self.strip.wrapping_add(self.of.left_bytes());
        // SAFETY: the sums have the values of the group. Strips have room for the panels of a group.
        unsafe {
            sums.write_bytes(0, rows.len() * self.of.row_len(group));
            for strip in strips {
                self.pack_left(strip, rows.clone());
                for (i, (phase, is_odd)) in self.of.copies.iter().enumerate() {
                    let to = right.add(i * sizes.most()[1] * panel_bytes);
                    self.pack_right(strip, *phase, *is_odd, columns.clone(), to);
                }
                let blocks = rows.len() * columns.len() * taps.len();
                let n_lines = self.ahead.ranges.iter().map(|range| range.len() / STEP).max().unwrap_or(0);
                // With several groups, nothing is fetched ahead: each group reads only some of the channels, and the groups
                // find in the caches what another one has read.
                self.ahead.per_block = if sizes.n_groups() == 1 { n_lines.div_ceil(blocks) } else { 0 };
                let mut sums = sums;
                for row in 0..rows.len() {
                    for column in 0..columns.len() {
                        for (copy, pair) in taps {
                            let panel = copy * sizes.most()[1] + column;
                            let operands = Operands {
                                left: self.strip.add(row * PANEL * row_bytes),
                                row_bytes,
                                right: right.add(panel * panel_bytes + pair * PAIR_BYTES),
                                steps: lines.strip_len() / POSITIONS,
                            };
                            self.ahead.fetch();
                            multiply::add(&mut self.tiles, &operands, sums);
                            sums = sums.add(multiply::BLOCK);
                        }
                    }
                }
            }
        }
    }

    /// The channels of these panels.
    fn channels(panels: Range<usize>, n: usize) -> Range<usize> {
        panels.start * PANEL..(panels.end * PANEL).min(n)
    }

    /// Packs the left operand of a strip.
    ///
    /// # Safety
    /// As for [`Self::add_up`].
    unsafe fn pack_left(&mut self, strip: usize, panels: Range<usize>) {
        let WeightSums { p, lines, left, .. } = self.of;
        let (to, row_bytes) = (self.strip, self.of.row_bytes());
        // SAFETY: the pixels are those of the tensors, whose channels exist. Matrix units imply AVX-512.
        unsafe {
            match left {
                Left::Planes => {
                    let rows = panels.start * PANEL..panels.end * PANEL;
                    copy_rows(p, (lines, strip), self.memory.data, rows, (to, row_bytes), Level::of(Isa::best()));
                }
                Left::Gradient => {
                    let of = |i: usize| self.memory.ograd.wrapping_add(i * p.k);
                    lines.of_output(strip, of, std::ptr::null(), &mut self.pixels);
                    transpose(&self.pixels, Self::channels(panels, p.k), to, row_bytes);
                    self.ahead.after(0, &self.pixels, p.k);
                }
                Left::Data => {
                    let of = |i: usize| self.memory.data.wrapping_add(i * p.c);
                    lines.of_data(strip, lines.phases[0], of, std::ptr::null(), &mut self.pixels);
                    let pixels = &self.pixels[..lines.strip_len()];
                    transpose(pixels, Self::channels(panels, p.c), to, row_bytes);
                    self.ahead.after(0, pixels, p.c);
                }
            }
        }
    }

    /// Packs a copy of the right operand of a strip.
    ///
    /// # Safety
    /// As for [`Self::add_up`]; `to` must have room for the panels.
    unsafe fn pack_right(&mut self, strip: usize, phase: usize, is_odd: bool, panels: Range<usize>, to: *mut u8) {
        let WeightSums { p, lines, left, .. } = self.of;
        let n = match left {
            Left::Gradient => {
                let of = |i: usize| self.memory.data.wrapping_add(i * p.c);
                lines.of_data(strip, lines.phases[phase], of, std::ptr::null(), &mut self.pixels);
                p.c
            }
            Left::Data | Left::Planes => {
                let of = |i: usize| self.memory.ograd.wrapping_add(i * p.k);
                lines.of_output(strip, of, std::ptr::null(), &mut self.pixels);
                p.k
            }
        };
        self.ahead.after(1, &self.pixels, n);
        // SAFETY: the pixels are those of a tensor, whose channels exist. Matrix units imply AVX-512.
        unsafe { pair(&self.pixels, usize::from(is_odd), Self::channels(panels, n), to, self.of.panel_bytes()) }
    }
}
