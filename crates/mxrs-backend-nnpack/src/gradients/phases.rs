//! How a stride splits the gradient of the data. Along each axis, the pixels of the data fall into `stride` phases. The
//! pixels of one phase depend only on every `stride`-th tap of the window. Each phase is a convolution of the output's
//! gradient with stride 1.
//!
//! With dilation `d`, tap `t` is `d * t` pixels from the first one. Then a phase depends on every `stride / g`-th tap, and
//! these taps are `d / g` pixels of the output's gradient apart, where `g` is the greatest common divisor of stride and
//! dilation.

use crate::problem::ConvProblem;

/// Stride, padding and dilation of a convolution, down and across.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Steps {
    /// Distance between windows.
    pub stride: [u8; 2],
    /// Rows of zeros above the data, and columns of zeros left of it.
    pub pad: [u8; 2],
    /// Distance between neighboring taps of a window.
    pub dilate: [u8; 2],
}

/// The convolution of one phase along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The taps of the window that the phase uses, in the order of the pixels of the output's gradient that they
    /// multiply. `None` is a tap of zeros.
    pub taps: Vec<Option<usize>>,
    /// Number of zeros before the first pixel of the output's gradient.
    pub pad: usize,
    /// Distance between the pixels of the output's gradient that neighboring taps multiply.
    pub dilate: usize,
}

/// One phase: along each axis, the pixels `first`, `first + stride` and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Row and column of the first pixel.
    pub first: [usize; 2],
    /// The convolutions of the phase along the two axes: down and across.
    pub lines: [Line; 2],
}

/// Largest number of taps of zeros of a line.
const MOST_ZEROS: usize = 8;

impl Line {
    /// The convolution of the pixels `phase`, `phase + stride` and so on. If the first of these pixels does not depend on
    /// the first pixel of the output's gradient, but only on later ones, the convolution would need negative padding.
    /// Instead, taps of zeros are put before the others. Returns `None` if more than [`MOST_ZEROS`] of them are needed.
    fn new(window: usize, [stride, pad, dilate]: [usize; 3], phase: usize) -> Option<Self> {
        // Pixel `phase + stride * i` depends on pixel `i + (phase + pad - dilate * t) / stride` of the output's gradient
        // through tap `t`, if the division is exact.
        let first = phase + pad;
        let apart = dilate / greatest_common_divisor(stride, dilate);
        let used: Vec<usize> = (0..window).rev().filter(|t| t * dilate % stride == first % stride).collect();
        let last = used.first().map_or(first, |last| last * dilate);
        let n_zeros = first.saturating_sub(last).div_ceil(stride * apart);
        let pad = (last + n_zeros * apart * stride - first) / stride;
        let taps = std::iter::repeat_n(None, n_zeros).chain(used.into_iter().map(Some)).collect();
        (n_zeros <= MOST_ZEROS).then_some(Self { taps, pad, dilate: apart })
    }
}

impl Steps {
    /// Stride, padding and dilation of a problem; `None` if one of them does not fit into a byte.
    pub fn of(p: &ConvProblem) -> Option<Self> {
        let pair = |(a, b): (usize, usize)| Some([u8::try_from(a).ok()?, u8::try_from(b).ok()?]);
        Some(Self { stride: pair(p.stride)?, pad: pair(p.pad)?, dilate: pair(p.dilate)? })
    }

    /// The steps as a number of 48 bits, which [`Self::from_code`] reads.
    pub fn code(self) -> u64 {
        let Self { stride: [a, b], pad: [c, d], dilate: [e, f] } = self;
        u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
    }

    /// The steps that a number stands for. Bits above the 48th are ignored.
    pub fn from_code(code: u64) -> Self {
        let [a, b, c, d, e, f, ..] = code.to_le_bytes();
        Self { stride: [a, b], pad: [c, d], dilate: [e, f] }
    }

    /// The phases of a window, row by row; `None` if one of them would have too many taps of zeros.
    pub fn phases(&self, window: [usize; 2]) -> Option<Vec<Phase>> {
        let [down, across] = self.stride.map(usize::from);
        let all = (0..down).flat_map(|y| (0..across).map(move |x| [y, x]));
        let line = |axis: usize, phase| {
            let steps = [self.stride[axis], self.pad[axis], self.dilate[axis]].map(usize::from);
            Line::new(window[axis], steps, phase)
        };
        all.map(|first| Some(Phase { first, lines: [line(0, first[0])?, line(1, first[1])?] })).collect()
    }

    /// Number of taps of all phases of a window; 0 if [`Self::phases`] is `None`.
    pub fn n_cells(&self, window: [usize; 2]) -> usize {
        self.phases(window).iter().flatten().map(Phase::n_cells).sum()
    }
}

impl Phase {
    /// Indices of the taps of the window that the phase uses, in the order of the phase's taps. `None` is a tap of zeros.
    pub fn cells(&self, across: usize) -> Vec<Option<usize>> {
        let [rows, columns] = &self.lines;
        let cell = |y: Option<usize>, x: Option<usize>| Some(y? * across + x?);
        rows.taps.iter().flat_map(|y| columns.taps.iter().map(move |x| cell(*y, *x))).collect()
    }

    /// Number of taps of the phase.
    pub fn n_cells(&self) -> usize {
        self.lines[0].taps.len() * self.lines[1].taps.len()
    }

    /// The convolution of the output's gradient of `p` that computes this phase; `None` if the phase has no taps or no
    /// pixels.
    pub fn problem(&self, p: &ConvProblem) -> Option<ConvProblem> {
        let [kh, kw] = [0, 1].map(|i| self.lines[i].taps.len());
        let oh = p.h.saturating_sub(self.first[0]).div_ceil(p.stride.0);
        let ow = p.w.saturating_sub(self.first[1]).div_ceil(p.stride.1);
        let pad = (self.lines[0].pad, self.lines[1].pad);
        let dilate = (self.lines[0].dilate, self.lines[1].dilate);
        let (h, w, stride) = (p.oh, p.ow, (1, 1));
        let sees = self.n_cells() * oh * ow > 0;
        sees.then_some(ConvProblem { c: p.k, k: p.c, h, w, oh, ow, kh, kw, stride, pad, dilate, ..*p })
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_product_of_a_pixel_and_a_tap_is_in_one_phase() {
        let undilated = [(3, 2, 1), (7, 2, 3), (1, 2, 0), (3, 3, 0), (5, 2, 2), (2, 3, 0), (3, 3, 1), (1, 2, 3)];
        let dilated =
            [(3, 1, 2, 2), (3, 2, 2, 2), (3, 2, 3, 3), (5, 6, 4, 4), (3, 4, 2, 6), (2, 3, 2, 2), (1, 1, 0, 3)];
        let all = undilated.map(|(window, stride, pad)| (window, stride, pad, 1)).into_iter().chain(dilated);
        for (window, stride, pad, dilate) in all {
            let steps = Steps { stride: [stride as u8, 1], pad: [pad as u8, 0], dilate: [dilate as u8, 1] };
            assert_eq!(Steps::from_code(steps.code()), steps);
            let phases = steps.phases([window, 1]).unwrap();
            assert_eq!(phases.len(), stride);
            let cells = 9;
            for pixel in 0..20 {
                // The pixels of the output's gradient that a pixel of the data depends on, each with its tap.
                let want: Vec<(usize, usize)> = (0..cells)
                    .flat_map(|cell| (0..window).map(move |tap| (cell, tap)))
                    .filter(|(cell, tap)| cell * stride + dilate * tap == pixel + pad)
                    .collect();
                let line = &phases[pixel % stride].lines[0];
                let seen = line.taps.iter().enumerate();
                let mut got: Vec<(usize, usize)> = seen
                    .filter_map(|(i, tap)| Some(((pixel / stride + i * line.dilate).checked_sub(line.pad)?, (*tap)?)))
                    .filter(|(cell, _)| *cell < cells)
                    .collect();
                got.sort_unstable();
                assert_eq!(got, want, "window {window} stride {stride} pad {pad} dilate {dilate} pixel {pixel}");
            }
        }
    }
}
