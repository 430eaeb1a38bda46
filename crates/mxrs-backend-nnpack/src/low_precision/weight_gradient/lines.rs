//! The positions that the gradient of weights sums over.
//!
//! All pixels of the output's gradient, row by row and image by image, are one line of positions. There are positions behind
//! each row and each image, where the gradient counts as 0. So tap `t` of a window multiplies position `i` of the gradient
//! by position `i + offset(t)` of the data, and no window needs a copy of its own: zeros that pad the end of a row are also
//! those that pad the start of the next row. With a stride, the data have a line for each phase of the stride.

use crate::low_precision::geometry::Problem;
use std::ops::Range;

/// One axis of the positions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Axis {
    /// Size of the data and of the output.
    sizes: [usize; 2],
    stride: usize,
    pad: usize,
    /// Positions along the axis, at least those of the output.
    period: usize,
    /// Phase and distance in positions of each tap.
    taps: Vec<[usize; 2]>,
}

impl Axis {
    fn new(p: &Problem, axis: usize) -> Self {
        let [size, out, window] = [p.input[axis], p.output[axis], p.window[axis]];
        let [stride, pad, dilate] = [p.stride[axis], p.pad[axis], p.dilate[axis]];
        let taps: Vec<[usize; 2]> = (0..window).map(|t| [t * dilate % stride, t * dilate / stride]).collect();
        let needed = out + taps.iter().map(|tap| tap[1]).max().unwrap_or(0);
        // Positions before `first` are padding in every phase, and so are those from `end` on.
        let first = taps.iter().map(|tap| pad.saturating_sub(tap[0]).div_ceil(stride)).min().unwrap_or(0);
        let end = taps.iter().map(|tap| (size + pad).saturating_sub(tap[0]).div_ceil(stride)).max().unwrap_or(0);
        let period = out.max(end.min(needed)).max(needed.saturating_sub(first));
        Self { sizes: [size, out], stride, pad, period, taps }
    }

    /// The index in the data of a position of a phase; `None` if the position is padding.
    fn at(&self, position: usize, phase: usize) -> Option<usize> {
        (position * self.stride + phase).checked_sub(self.pad).filter(|at| *at < self.sizes[0])
    }
}

/// A tap of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tap {
    /// Index of the phase of the data.
    pub phase: usize,
    /// Distance in positions from a position of the output's gradient to the position of the data that the tap multiplies.
    pub offset: usize,
}

/// The line of positions of a problem.
#[derive(Clone, Debug)]
pub struct Lines {
    n: usize,
    axes: [Axis; 2],
    /// The taps of the window, row by row.
    pub taps: Vec<Tap>,
    /// The phases of the data, down and across.
    pub phases: Vec<[usize; 2]>,
    /// Largest offset of a tap.
    pub ahead: usize,
    /// Rows of positions that are summed at a time.
    strip_rows: usize,
    /// Whether each row is one pixel of both the data and the output.
    is_flat: bool,
}

/// Smallest and largest number of positions of a strip. A strip has at least one row, so longer rows make longer strips.
const STRIP: [usize; 2] = [320, 704];

impl Lines {
    /// The positions of a problem.
    pub fn new(p: &Problem) -> Self {
        let axes = [Axis::new(p, 0), Axis::new(p, 1)];
        let (mut taps, mut phases) = (Vec::new(), Vec::new());
        for [row_phase, down] in &axes[0].taps {
            for [column_phase, across] in &axes[1].taps {
                let wanted = [*row_phase, *column_phase];
                let known = phases.iter().position(|phase| *phase == wanted);
                let phase = known.unwrap_or_else(|| {
                    phases.push(wanted);
                    phases.len() - 1
                });
                taps.push(Tap { phase, offset: down * axes[1].period + across });
            }
        }
        let ahead = taps.iter().map(|tap| tap.offset).max().unwrap_or(0);
        let is_flat =
            [p.window, p.stride].concat() == [1; 4] && p.pad == [0, 0] && p.input[1] == 1 && p.input == p.output;
        let mut lines = Self { n: p.n, axes, taps, phases, ahead, strip_rows: 1, is_flat };
        let row = lines.axes[1].period;
        let most = (STRIP[1] / row).clamp(1, lines.rows());
        // The number of rows that leaves the smallest part of the last step unused.
        let waste = |rows: &usize| (rows * row).next_multiple_of(32) as f64 / (rows * row) as f64;
        let choices = ((STRIP[0] / row).clamp(1, most)..=most).rev();
        lines.strip_rows = choices.min_by(|a, b| waste(a).total_cmp(&waste(b))).unwrap_or(1);
        lines
    }

    /// Rows of positions of all images.
    fn rows(&self) -> usize {
        self.n * self.axes[0].period
    }

    /// Number of strips.
    pub fn strips(&self) -> usize {
        self.rows().div_ceil(self.strip_rows)
    }

    /// Positions of a strip, in whole steps.
    pub fn strip_len(&self) -> usize {
        (self.strip_rows * self.axes[1].period).next_multiple_of(32)
    }

    fn strip(&self, index: usize) -> Range<usize> {
        let first = index * self.strip_rows;
        first..(first + self.strip_rows).min(self.rows())
    }

    /// Fills `to` with one value per position of a strip: `of(index)` for the output pixel with this index, or `none` where
    /// there is no pixel.
    pub fn of_output<T: Copy>(&self, strip: usize, of: impl Fn(usize) -> T, none: T, to: &mut Vec<T>) {
        let [height, width] = [0, 1].map(|axis| self.axes[axis].sizes[1]);
        to.clear();
        if self.is_flat {
            to.extend(self.strip(strip).map(of));
            return to.resize(self.strip_len(), none);
        }
        for row in self.strip(strip) {
            let (image, y) = (row / self.axes[0].period, row % self.axes[0].period);
            let start = (image * height + y) * width;
            let n = if y < height { width } else { 0 };
            to.extend((start..start + n).map(&of));
            to.extend(std::iter::repeat_n(none, self.axes[1].period - n));
        }
        to.resize(self.strip_len(), none);
    }

    /// The output rows of a strip, each as image and row. Meant for problems whose positions are the pixels of the output.
    pub fn output_rows(&self, strip: usize) -> impl Iterator<Item = [usize; 2]> {
        let period = self.axes[0].period;
        self.strip(strip).map(move |row| [row / period, row % period])
    }

    /// Fills `to` with one value for each position of a strip and for `ahead + 2` more positions: `of(index)` for the pixel
    /// with this index of a phase of the data, or `none` where there is no pixel.
    pub fn of_data<T: Copy>(
        &self,
        strip: usize,
        [row_phase, column_phase]: [usize; 2],
        of: impl Fn(usize) -> T,
        none: T,
        to: &mut Vec<T>,
    ) {
        let [height, width] = [0, 1].map(|axis| self.axes[axis].sizes[0]);
        let [down, across] = &self.axes;
        let len = self.strip_len() + self.ahead + 2;
        to.clear();
        if self.is_flat {
            to.extend(self.strip(strip).map(of));
            return to.resize(len, none);
        }
        // Positions of a row that are pixels.
        let first = across.pad.saturating_sub(column_phase).div_ceil(across.stride).min(across.period);
        let end = (width + across.pad).saturating_sub(column_phase).div_ceil(across.stride).clamp(first, across.period);
        let mut row = self.strip(strip).start;
        while to.len() < len && row < self.rows() {
            let (image, y) = (row / down.period, row % down.period);
            row += 1;
            let Some(y) = down.at(y, row_phase) else {
                to.extend(std::iter::repeat_n(none, across.period));
                continue;
            };
            let start = ((image * height + y) * width + first * across.stride + column_phase).wrapping_sub(across.pad);
            to.extend(std::iter::repeat_n(none, first));
            to.extend((0..end - first).map(|i| of(start + i * across.stride)));
            to.extend(std::iter::repeat_n(none, across.period - end));
        }
        to.resize(len, none);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tap_of_each_window_is_at_its_offset() {
        for (size, window, stride, pad, dilate) in [
            ([5, 7], 3, 1, 1, 1),
            ([6, 5], 3, 2, 0, 1),
            ([9, 8], 7, 2, 3, 1),
            ([8, 8], 1, 2, 0, 1),
            ([9, 9], 3, 1, 2, 2),
        ] {
            let out = size.map(|size: usize| (size + 2 * pad - (window - 1) * dilate - 1) / stride + 1);
            let both = |x| [x, x];
            let p = Problem {
                n: 3,
                groups: 1,
                c: 1,
                k: 1,
                input: size,
                output: out,
                window: both(window),
                stride: both(stride),
                pad: both(pad),
                dilate: both(dilate),
            };
            let lines = Lines::new(&p);
            let (mut outputs, mut data, mut n) = (Vec::new(), Vec::new(), 0);
            for strip in 0..lines.strips() {
                lines.of_output(strip, Some, None, &mut outputs);
                for (i, tap) in lines.taps.iter().enumerate() {
                    lines.of_data(strip, lines.phases[tap.phase], Some, None, &mut data);
                    for (position, output) in outputs.iter().enumerate() {
                        let Some(output) = output else { continue };
                        let (image, y, x) = (output / (out[0] * out[1]), output / out[1] % out[0], output % out[1]);
                        let y = (y * stride + i / window * dilate).checked_sub(pad).filter(|y| *y < size[0]);
                        let x = (x * stride + i % window * dilate).checked_sub(pad).filter(|x| *x < size[1]);
                        let want = y.zip(x).map(|(y, x)| (image * size[0] + y) * size[1] + x);
                        assert_eq!(data[position + tap.offset], want, "{p:?} tap {i} output {output}");
                        n += 1;
                    }
                }
            }
            assert_eq!(n, 3 * out[0] * out[1] * window * window);
        }
    }
}
