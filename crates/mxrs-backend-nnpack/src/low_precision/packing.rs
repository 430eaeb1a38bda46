//! The packed form of weights.
//!
//! The panels follow each other, as [`super::block`] describes them. For weights of bytes, corrections follow the panels:
//! for each column, 128 times the sum of its weights, as a 32-bit integer. Signed data need them on processors that
//! multiply unsigned bytes.

use super::block::{PANEL, SQUARE, SQUARE_BYTES, STEP};
use super::columns::{STEP_NUMBERS, ZERO, fill_panel};
use super::geometry::Runs;
use crate::layouts::NAME;
use mxrs_types::Layout;

/// How weights `[k, c, kh, kw]` are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Whether the weights are bytes, not bfloat16.
    pub bytes: bool,
    /// Whether a row of the window is one run.
    pub merged: bool,
    /// Whether the weights are those of a depthwise convolution, `[k, 1, kh, kw]`: `[kh][kw][k]` in float32 or int32, with `k`
    /// padded to whole panels.
    pub depthwise: bool,
    /// Number of groups of channels; `c` is the number of input channels of one group. It is 1 for depthwise convolutions.
    pub groups: u32,
}

/// Groups that are computed together: `m` groups are a convolution of `c` by `k` channels, whose weights between different
/// groups are zeros. There are `n` such convolutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merging {
    /// Number of convolutions.
    pub n: usize,
    /// Groups in a convolution.
    pub m: usize,
    /// Input channels of a convolution.
    pub c: usize,
    /// Output channels of a convolution.
    pub k: usize,
}

impl Merging {
    /// Merges as many of `groups` groups of `c` by `k` channels as fit into a panel.
    pub fn new(groups: usize, c: usize, k: usize) -> Self {
        let fits = |m: &usize| groups.is_multiple_of(*m) && m * c.max(k) <= PANEL;
        let m = (1..=groups.min(PANEL)).rev().find(fits).unwrap_or(1);
        Self { n: groups / m, m, c: m * c, k: m * k }
    }
}

/// First id of the layouts of this module. The lowest bits of an id are the fields of [`Packing`].
const FIRST_ID: u64 = 1 << 40;

impl Packing {
    /// The layout of weights of these sizes.
    pub fn layout(self, sizes: [usize; 4]) -> Layout {
        let bits = u64::from(self.bytes) + 2 * u64::from(self.merged) + 4 * u64::from(self.depthwise);
        let id = FIRST_ID + bits + 8 * u64::from(self.groups);
        Layout::Opaque { backend: NAME, id, size_bytes: self.len_bytes(sizes) }
    }

    /// The packing that a layout of weights of these sizes denotes.
    pub fn of(layout: &Layout, sizes: [usize; 4]) -> Option<Self> {
        let Layout::Opaque { backend: NAME, id, .. } = layout else { return None };
        let bits = id.checked_sub(FIRST_ID)?;
        let groups = u32::try_from(bits / 8).ok()?;
        let packing = Self { bytes: bits & 1 == 1, merged: bits & 2 == 2, depthwise: bits & 4 == 4, groups };
        let is_divided = groups > 0 && sizes[0].is_multiple_of(groups as usize);
        (is_divided && packing.layout(sizes) == *layout).then_some(packing)
    }

    /// Bytes of a number.
    pub fn number_bytes(self) -> usize {
        if self.bytes { 1 } else { 2 }
    }

    /// How the groups are merged into convolutions of more channels.
    pub fn merging(self, [k, c, ..]: [usize; 4]) -> Merging {
        Merging::new(self.groups as usize, c, k / self.groups as usize)
    }

    fn steps(self, [_, c, kh, kw]: [usize; 4]) -> usize {
        Runs::new(c, [kh, kw], self.merged).all_steps(self.number_bytes())
    }

    /// Bytes of all panels of one convolution.
    pub fn panels_bytes(self, sizes: [usize; 4]) -> usize {
        let Merging { c, k, .. } = self.merging(sizes);
        self.steps([k, c, sizes[2], sizes[3]]) * STEP * k.next_multiple_of(SQUARE)
    }

    fn len_bytes(self, sizes: [usize; 4]) -> usize {
        if self.depthwise {
            return sizes[0].next_multiple_of(PANEL) * sizes[2] * sizes[3] * size_of::<f32>();
        }
        let Merging { n, k, .. } = self.merging(sizes);
        let corrections = if self.bytes { k.next_multiple_of(SQUARE) * size_of::<i32>() } else { 0 };
        n * (self.panels_bytes(sizes) + corrections)
    }

    /// Packs panel `index` of convolution `group` from row-major weights. Returns the corrections of its columns; they are
    /// zeros for bfloat16.
    pub fn pack(self, sizes: [usize; 4], from: &[u8], [group, index]: [usize; 2], to: &mut [u8]) -> [i32; PANEL] {
        let [_, c, kh, kw] = sizes;
        let Merging { m, c: merged_c, k, .. } = self.merging(sizes);
        let runs = Runs::new(merged_c, [kh, kw], self.merged);
        let (size, cells) = (self.number_bytes(), kh * kw);
        if !self.bytes && m == 1 {
            let mut offsets = Vec::with_capacity(runs.all_steps(size) * STEP_NUMBERS);
            for run in 0..runs.n {
                let taps = if self.merged { run * kw..(run + 1) * kw } else { run..run + 1 };
                offsets.extend(taps.flat_map(|tap| (0..c).map(move |channel| channel * cells + tap)));
                offsets.resize((run + 1) * runs.steps(size) * STEP_NUMBERS, ZERO);
            }
            let (filter, first) = (c * cells, index * PANEL);
            let from = &bytemuck::cast_slice::<u8, u16>(from)[(group * k + first) * filter..];
            fill_panel(from, &offsets, filter, k - first, bytemuck::cast_slice_mut(to));
            return [0; PANEL];
        }
        let run_bytes = runs.steps(size) * STEP;
        let squares = (k - index * PANEL).div_ceil(SQUARE).min(PANEL / SQUARE);
        let mut corrections = [0; PANEL];
        let mut column_bytes = vec![0u8; runs.n * run_bytes];
        to.fill(0);
        for (column, correction) in corrections.iter_mut().enumerate().take(k - index * PANEL) {
            let column_of_group = index * PANEL + column;
            let filter = &from[(group * k + column_of_group) * c * cells * size..][..c * cells * size];
            // The channels that the filter reads, among those of all merged groups.
            let first = column_of_group / (k / m) * c;
            for run in 0..runs.n {
                let to = &mut column_bytes[run * run_bytes..][..runs.len * size];
                for (i, to) in to.chunks_exact_mut(size).enumerate() {
                    let (cell, channel) = if self.merged { (run * kw + i / merged_c, i % merged_c) } else { (run, i) };
                    match channel.checked_sub(first).filter(|channel| *channel < c) {
                        Some(channel) => to.copy_from_slice(&filter[(channel * cells + cell) * size..][..size]),
                        None => to.fill(0),
                    }
                }
            }
            if self.bytes {
                *correction = 128 * filter.iter().map(|byte| i32::from(*byte as i8)).sum::<i32>();
            }
            let (square, column) = (column / SQUARE, column % SQUARE);
            for (step, from) in column_bytes.chunks_exact(STEP).enumerate() {
                let to = &mut to[(step * squares + square) * SQUARE_BYTES..][..SQUARE_BYTES];
                for (from, to) in from.chunks_exact(4).zip(to.chunks_exact_mut(STEP)) {
                    to[column * 4..][..4].copy_from_slice(from);
                }
            }
        }
        corrections
    }

    /// Packs all weights of a depthwise convolution.
    pub fn pack_depthwise(self, [k, _, kh, kw]: [usize; 4], from: &[u8], to: &mut [u8]) {
        let (size, cells, padded) = (self.number_bytes(), kh * kw, k.next_multiple_of(PANEL));
        to.fill(0);
        for (i, value) in from.chunks_exact(size).enumerate() {
            let value = match *value {
                [byte] => i32::from(byte as i8).to_le_bytes(),
                // Bfloat16 is the upper half of a float32.
                _ => [0, 0, value[0], value[1]],
            };
            to[(i % cells * padded + i / cells) * 4..][..4].copy_from_slice(&value);
        }
    }
}
