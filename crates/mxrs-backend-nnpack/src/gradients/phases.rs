//! How a stride splits the gradient of the data. Along each axis, the pixels of the data fall into `stride` phases. The
//! pixels of one phase depend only on every `stride`-th tap of the window. Each phase is a convolution of the output's
//! gradient with stride 1.

use crate::layouts::PackedForm;
use crate::problem::ConvProblem;
use mxrs_types::Layout;

/// Stride and padding of a convolution, down and across.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Steps {
    /// Distance between windows.
    pub stride: [u8; 2],
    /// Rows of zeros above the data, and columns of zeros left of it.
    pub pad: [u8; 2],
}

/// The convolution of one phase along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The taps of the window that the phase uses, in the order of the pixels of the output's gradient that they
    /// multiply.
    pub taps: Vec<usize>,
    /// Number of zeros before the first pixel of the output's gradient.
    pub pad: usize,
}

/// One phase: along each axis, the pixels `first`, `first + stride` and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Row and column of the first pixel.
    pub first: [usize; 2],
    /// The convolutions of the phase along the two axes: down and across.
    pub lines: [Line; 2],
}

impl Line {
    /// The convolution of the pixels `phase`, `phase + stride` and so on. `None` if that would need negative padding,
    /// because the first of these pixels depends only on pixels of the output's gradient after its first pixel.
    fn new(window: usize, stride: usize, pad: usize, phase: usize) -> Option<Self> {
        let taps: Vec<usize> = ((phase + pad) % stride..window).step_by(stride).rev().collect();
        // Pixel `phase + stride * i` depends on pixel `i + (phase + pad) / stride - t` of the output's gradient through
        // the `t`-th of these taps, counted upward from 0.
        let pad = match taps.len() {
            0 => 0,
            n => (n - 1).checked_sub((phase + pad) / stride)?,
        };
        Some(Self { taps, pad })
    }
}

impl Steps {
    /// Stride and padding of a problem; `None` if one of them does not fit into a byte.
    pub fn of(p: &ConvProblem) -> Option<Self> {
        let pair = |(a, b): (usize, usize)| Some([u8::try_from(a).ok()?, u8::try_from(b).ok()?]);
        Some(Self { stride: pair(p.stride)?, pad: pair(p.pad)? })
    }

    /// The phases of a window, row by row; `None` if one of them is not a convolution, because it would need negative
    /// padding.
    pub fn phases(&self, window: [usize; 2]) -> Option<Vec<Phase>> {
        let [down, across] = self.stride.map(usize::from);
        let all = (0..down).flat_map(|y| (0..across).map(move |x| [y, x]));
        let line = |axis: usize, phase| {
            Line::new(window[axis], usize::from(self.stride[axis]), usize::from(self.pad[axis]), phase)
        };
        all.map(|first| Some(Phase { first, lines: [line(0, first[0])?, line(1, first[1])?] })).collect()
    }

    /// The layout of weights whose filters are packed phase by phase.
    pub fn layout(self, sizes: [usize; 4]) -> Layout {
        PackedForm::Phases(self).layout(sizes)
    }
}

impl Phase {
    /// Indices of the taps of the window that the phase uses, in the order of the phase's taps.
    pub fn cells(&self, across: usize) -> Vec<usize> {
        let [rows, columns] = &self.lines;
        rows.taps.iter().flat_map(|y| columns.taps.iter().map(move |x| y * across + x)).collect()
    }

    /// The convolution of the output's gradient of `p` that computes this phase; `None` if the phase has no taps or no
    /// pixels.
    pub fn problem(&self, p: &ConvProblem) -> Option<ConvProblem> {
        let [kh, kw] = [0, 1].map(|i| self.lines[i].taps.len());
        let oh = p.h.saturating_sub(self.first[0]).div_ceil(p.stride.0);
        let ow = p.w.saturating_sub(self.first[1]).div_ceil(p.stride.1);
        let pad = (self.lines[0].pad, self.lines[1].pad);
        let sees = kh * kw * oh * ow > 0;
        sees.then_some(ConvProblem { c: p.k, k: p.c, h: p.oh, w: p.ow, oh, ow, kh, kw, stride: (1, 1), pad, ..*p })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_product_of_a_pixel_and_a_tap_is_in_one_phase() {
        for (window, stride, pad) in [(3, 2, 1), (7, 2, 3), (1, 2, 0), (3, 3, 0), (5, 2, 2), (2, 3, 0), (3, 2, 0)] {
            let steps = Steps { stride: [stride as u8, 1], pad: [pad as u8, 0] };
            let phases = steps.phases([window, 1]).unwrap();
            assert_eq!(phases.len(), stride);
            let cells = 9;
            for pixel in 0..20 {
                // The pixels of the output's gradient that a pixel of the data depends on, each with its tap.
                let want: Vec<(usize, usize)> = (0..cells)
                    .flat_map(|cell| (0..window).map(move |tap| (cell, tap)))
                    .filter(|(cell, tap)| cell * stride + tap == pixel + pad)
                    .collect();
                let line = &phases[pixel % stride].lines[0];
                let seen = line.taps.iter().enumerate();
                let mut got: Vec<(usize, usize)> = seen
                    .filter_map(|(i, tap)| Some(((pixel / stride + i).checked_sub(line.pad)?, *tap)))
                    .filter(|(cell, _)| *cell < cells)
                    .collect();
                got.sort_unstable();
                assert_eq!(got, want, "window {window} stride {stride} pad {pad} pixel {pixel}");
            }
        }
    }
}
