//! The packed form of weights for the gradient of the data.
//!
//! The gradient of the data is a convolution of the output's gradient for each [phase](Phase): its output channels are the
//! input channels of the weights, and its window has some of the original taps, in reverse order. The panels of all phases
//! follow each other.

use super::block::{PANEL, SQUARE, STEP};
use super::columns::{STEP_NUMBERS, ZERO, fill_panel};
use super::geometry::{Geometry, Problem, Runs, Spread};
use crate::gradients::phases::{Phase, Steps};
use crate::layouts::NAME;
use mxrs_types::Layout;

/// The form for a stride, a padding and a dilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flipped(pub Steps);

/// First id of the layouts of this module. The id minus this value is the code of the [`Steps`].
const FIRST_ID: u64 = 1 << 62;

/// One phase with at least one tap.
pub struct PhaseForm {
    phase: Phase,
    window: [usize; 2],
    merged: bool,
    /// Offset in bytes of the phase's panels in the packed weights.
    pub start: usize,
    /// Number of bytes of the phase's panels.
    pub n_bytes: usize,
}

impl PhaseForm {
    fn runs(&self, channels: usize) -> Runs {
        Runs::new(channels, self.window, self.merged)
    }

    /// The convolution that computes this phase of the gradient of `p`, all of whose channels are in one group. `None` if the
    /// phase has no pixels.
    pub fn geometry(&self, p: &Problem, threads: usize) -> Option<Geometry> {
        let lines = &self.phase.lines;
        let count = |axis: usize| p.input[axis].saturating_sub(self.phase.first[axis]).div_ceil(p.stride[axis]);
        let output = [count(0), count(1)];
        let problem = Problem {
            c: p.k,
            k: p.c,
            input: p.output,
            output,
            window: self.window,
            stride: [1, 1],
            pad: [lines[0].pad, lines[1].pad],
            dilate: [lines[0].dilate, lines[1].dilate],
            ..*p
        };
        if output.contains(&0) {
            return None;
        }
        if p.stride == [1, 1] {
            return Some(Geometry::new(problem, 2, self.merged, false, threads));
        }
        let spread = Spread { size: p.input, first: self.phase.first, step: p.stride };
        Some(Geometry::spread(problem, self.merged, spread, threads))
    }
}

impl Flipped {
    /// The form for a problem; `None` if one of its sizes does not fit into a byte.
    pub fn of_problem(p: &Problem) -> Option<Self> {
        let pair = |x: [usize; 2]| Some([u8::try_from(x[0]).ok()?, u8::try_from(x[1]).ok()?]);
        Some(Self(Steps { stride: pair(p.stride)?, pad: pair(p.pad)?, dilate: pair(p.dilate)? }))
    }

    /// The phases that have taps, for weights `[k, c, kh, kw]`; `None` if a phase would need too many taps of zeros.
    pub fn phases(self, [k, c, kh, kw]: [usize; 4]) -> Option<Vec<PhaseForm>> {
        let mut start = 0;
        let phases = self.0.phases([kh, kw])?.into_iter().filter(|phase| phase.n_cells() > 0);
        let forms = phases.map(|phase| {
            let window = [phase.lines[0].taps.len(), phase.lines[1].taps.len()];
            let merged = phase.lines[1].dilate == 1 || window[1] == 1;
            let n_bytes = Runs::new(k, window, merged).all_steps(2) * STEP * c.next_multiple_of(SQUARE);
            start += n_bytes;
            PhaseForm { phase, window, merged, start: start - n_bytes, n_bytes }
        });
        Some(forms.collect())
    }

    /// The layout of weights of these sizes.
    pub fn layout(self, sizes: [usize; 4]) -> Layout {
        let size_bytes = self.phases(sizes).iter().flatten().map(|phase| phase.n_bytes).sum();
        Layout::Opaque { backend: NAME, id: FIRST_ID + self.0.code(), size_bytes }
    }

    /// The form that a layout of weights of these sizes denotes.
    pub fn of(layout: &Layout, sizes: [usize; 4]) -> Option<Self> {
        let Layout::Opaque { backend: NAME, id, .. } = layout else { return None };
        let form = Self(Steps::from_code(id.checked_sub(FIRST_ID)?));
        let has_strides = !form.0.stride.contains(&0) && !form.0.dilate.contains(&0);
        (has_strides && form.layout(sizes) == *layout).then_some(form)
    }

    /// Packs panel `index` of a phase from row-major weights.
    pub fn pack([k, c, kh, kw]: [usize; 4], phase: &PhaseForm, from: &[u16], index: usize, to: &mut [u16]) {
        let (runs, cells) = (phase.runs(k), kh * kw);
        let taps = phase.phase.cells(kw);
        let mut offsets = Vec::with_capacity(runs.all_steps(2) * STEP_NUMBERS);
        for run in 0..runs.n {
            let taps = if phase.merged { &taps[run * phase.window[1]..][..phase.window[1]] } else { &taps[run..=run] };
            for tap in taps {
                offsets.extend((0..k).map(|k| tap.map_or(ZERO, |cell| k * c * cells + cell)));
            }
            offsets.resize((run + 1) * runs.steps(2) * STEP_NUMBERS, ZERO);
        }
        let first = index * PANEL;
        fill_panel(&from[first * cells..], &offsets, cells, c - first, to);
    }
}
