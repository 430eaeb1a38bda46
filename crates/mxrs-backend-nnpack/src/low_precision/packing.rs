//! The packed form of weights.
//!
//! Panel after panel, as [`super::block`] describes them. Behind the panels of bytes follow 128 times the sums of each
//! column, as 32-bit integers, for signed data on processors that multiply unsigned bytes.

use super::block::{PANEL, SQUARE, SQUARE_BYTES, STEP};
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
}

/// First id of the layouts of this module. The lowest bits of an id are the fields of [`Packing`].
const FIRST_ID: u64 = 1 << 40;

impl Packing {
    /// The layout of weights of these sizes.
    pub fn layout(self, sizes: [usize; 4]) -> Layout {
        let bits = u64::from(self.bytes) + 2 * u64::from(self.merged) + 4 * u64::from(self.depthwise);
        let id = FIRST_ID + bits;
        Layout::Opaque { backend: NAME, id, size_bytes: self.len_bytes(sizes) }
    }

    /// The packing that a layout of weights of these sizes denotes.
    pub fn of(layout: &Layout, sizes: [usize; 4]) -> Option<Self> {
        let Layout::Opaque { backend: NAME, id, .. } = layout else { return None };
        let bits = id.checked_sub(FIRST_ID).filter(|bits| *bits < 8)?;
        let packing = Self { bytes: bits & 1 == 1, merged: bits & 2 == 2, depthwise: bits & 4 == 4 };
        (packing.layout(sizes) == *layout).then_some(packing)
    }

    /// Bytes of a number.
    pub fn number_bytes(self) -> usize {
        if self.bytes { 1 } else { 2 }
    }

    fn steps(self, [_, c, kh, kw]: [usize; 4]) -> usize {
        Runs::new(c, [kh, kw], self.merged).all_steps(self.number_bytes())
    }

    /// Bytes of all panels.
    pub fn panels_bytes(self, sizes: [usize; 4]) -> usize {
        self.steps(sizes) * STEP * sizes[0].next_multiple_of(SQUARE)
    }

    fn len_bytes(self, sizes: [usize; 4]) -> usize {
        if self.depthwise {
            return sizes[0].next_multiple_of(PANEL) * sizes[2] * sizes[3] * size_of::<f32>();
        }
        let corrections = if self.bytes { sizes[0].next_multiple_of(SQUARE) * size_of::<i32>() } else { 0 };
        self.panels_bytes(sizes) + corrections
    }

    /// Packs panel `index` of row-major weights. Returns the corrections of its columns; they are zeros for bfloat16.
    pub fn pack(self, sizes: [usize; 4], from: &[u8], index: usize, to: &mut [u8]) -> [i32; PANEL] {
        let [k, c, kh, kw] = sizes;
        let runs = Runs::new(c, [kh, kw], self.merged);
        let (size, cells) = (self.number_bytes(), kh * kw);
        let run_bytes = runs.steps(size) * STEP;
        let squares = (k - index * PANEL).div_ceil(SQUARE).min(PANEL / SQUARE);
        let mut corrections = [0; PANEL];
        let mut column_bytes = vec![0u8; runs.n * run_bytes];
        to.fill(0);
        for (column, correction) in corrections.iter_mut().enumerate().take(k - index * PANEL) {
            let filter = &from[(index * PANEL + column) * c * cells * size..][..c * cells * size];
            for run in 0..runs.n {
                let to = &mut column_bytes[run * run_bytes..][..runs.len * size];
                for (i, to) in to.chunks_exact_mut(size).enumerate() {
                    let (cell, channel) = if self.merged { (run * kw + i / c, i % c) } else { (run, i) };
                    to.copy_from_slice(&filter[(channel * cells + cell) * size..][..size]);
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
