//! Pooling of images: the maximum, sum or mean of the pixels in a window, for 16 channels at a time.
//!
//! A piece is a row of output pixels of one block of channels. The part of each window that lies in the image is
//! computed at planning, per row and per column. If the output has one pixel, as with global pooling, it is written in
//! row-major order.

use super::Fit;
use super::pass::{Memory, Pass};
use crate::dispatch::for_each_set;
use crate::gemm::lanes::Lanes;
use crate::layouts::{BLOCK, blocked, image};
use mxrs_op::OpCall;
use mxrs_op::param::Choice;
use mxrs_ops::nn::pooling::{PoolType, PoolingParams};
use mxrs_ops::window::Window;
use mxrs_processor::Isa;
use mxrs_types::Layout;
use std::ops::Range;

/// One axis of a window: the pixels `begin..end` of the image that it covers, and the number that a mean divides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The first pixel.
    pub begin: usize,
    /// The pixel after the last one.
    pub end: usize,
    /// The number that a mean divides by.
    pub counted: usize,
}

/// The rows and columns that the windows of an image cover.
pub struct Lines {
    /// Height and width of the image.
    pub size: [usize; 2],
    /// The rows of the image that each row of windows covers.
    pub rows: Vec<Cut>,
    /// The columns of the image that each column of windows covers.
    pub columns: Vec<Cut>,
}

/// A prepared pooling layer.
struct Pooling {
    channels: usize,
    images: usize,
    lines: Lines,
    is_mean: bool,
    kernel: unsafe fn(&Row<'_>),
}

/// One row of output pixels of a block of channels.
struct Row<'a> {
    /// The input plane of the block.
    src: *const f32,
    /// Width of the input plane in pixels.
    width: usize,
    dst: *mut f32,
    rows: Cut,
    columns: &'a [Cut],
    is_mean: bool,
}

for_each_set! {
    /// Returns the function that computes a row of maxima.
    fn largest: unsafe fn(row: &Row<'_>) = largest_of
}
for_each_set! {
    /// Returns the function that computes a row of sums or means.
    fn summed: unsafe fn(row: &Row<'_>) = sum_of
}

/// Largest number of output rows or columns. Planning stores a [`Cut`] for each of them, and wide padding can make a
/// billion of them around an image of one pixel.
const MAX_LINE: usize = 1 << 20;

impl Lines {
    /// Returns the function that finds the `out` windows of an image of `size` pixels.
    ///
    /// # Errors
    /// Returns the reason as text if there are too many windows or they are invalid.
    pub fn of(p: &PoolingParams, size: [usize; 2], out: [usize; 2]) -> Result<impl FnOnce() -> Self + use<>, String> {
        if out.iter().any(|n| *n > MAX_LINE) {
            return Err(format!("more than {MAX_LINE} rows or columns of output"));
        }
        let window = p.window(&size).map_err(|error| error.to_string())?;
        let counts_padding = p.counts_padding();
        Ok(move || {
            let cuts =
                |axis: usize| (0..out[axis]).map(|o| cut(&window, axis, o, size[axis], counts_padding)).collect();
            Self { size, rows: cuts(0), columns: cuts(1) }
        })
    }

    /// Number of windows.
    pub fn n_windows(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// The layout of a pooled image of these sizes: row-major if it has one pixel, because then both layouts have the
    /// channels in the same order.
    pub fn layout(sizes: [usize; 4]) -> Layout {
        if sizes[2..] == [1, 1] { Layout::RowMajor } else { blocked(sizes) }
    }
}

/// Prepares the kernel of a call, or returns the reason why there is none.
pub fn fit(call: &OpCall<'_>, isa: Isa) -> Result<Fit, String> {
    let p = call.params.get::<PoolingParams>();
    let (Some(data), Some(out)) = (image(&call.inputs[0]), image(&call.outputs[0])) else {
        return Err("the window does not have two axes".into());
    };
    if p.is_channels_last() {
        return Err("channels last".into());
    }
    let kernel = match p.pool_type {
        PoolType::Max => largest(isa),
        PoolType::Avg | PoolType::Sum => summed(isa),
        PoolType::Lp => return Err(format!("{} pooling", p.pool_type.to_word())),
    };
    let [images, channels, h, w] = data;
    let lines = Lines::of(p, [h, w], [out[2], out[3]])?;
    let is_mean = p.pool_type == PoolType::Avg;
    let what = if p.pool_type == PoolType::Max { "max_pool" } else { "sum_pool" };
    let pass = move || Pooling { channels, images, lines: lines(), is_mean, kernel };
    Ok(Fit::new(what, [blocked(data), Lines::layout(out)], pass))
}

fn cut(window: &Window, axis: usize, o: usize, size: usize, counts_padding: bool) -> Cut {
    let (pad, first) = (window.pad[axis], o * window.stride[axis]);
    // Positions count from the start of the padding. A window may reach past the padding, because the number of windows
    // can be rounded up.
    let end = (first + window.kernel[axis]).min(size + 2 * pad);
    let inside = |i: usize| i.clamp(pad, size + pad) - pad;
    let (begin, inside_end) = (inside(first), inside(end).max(inside(first)));
    let counted = if counts_padding { end.saturating_sub(first) } else { inside_end - begin };
    Cut { begin, end: inside_end, counted }
}

impl Pass for Pooling {
    fn pieces(&self) -> usize {
        self.images * self.channels.div_ceil(BLOCK) * self.lines.rows.len()
    }

    fn numbers(&self) -> usize {
        let cells = |cuts: &[Cut]| cuts.iter().map(|cut| cut.end - cut.begin).max().unwrap_or(0);
        (1 + cells(&self.lines.rows) * cells(&self.lines.columns)) * self.lines.columns.len() * BLOCK
    }

    fn supports_strided_output(&self) -> bool {
        // An output of one pixel is in row-major order, not in blocks.
        self.lines.n_windows() > 1
    }

    unsafe fn run(&self, memory: &Memory, pieces: Range<usize>) {
        let (oh, ow) = (self.lines.rows.len(), self.lines.columns.len());
        let blocks = self.channels.div_ceil(BLOCK);
        let plane = self.lines.size[0] * self.lines.size[1] * BLOCK;
        for piece in pieces {
            let (block, y) = (piece / oh, piece % oh);
            let channels = (self.channels - block % blocks * BLOCK).min(BLOCK);
            let mut pixel = [0.0; BLOCK];
            let is_pixel = oh * ow == 1;
            // SAFETY: `piece < self.pieces() = images * blocks * oh`, so `block` is a plane of the data and `y < oh`.
            // The row of the output at `line` has `ow * BLOCK` values and is written by this piece alone. With one
            // output pixel the kernel writes to `pixel`, and the copy covers the `channels` values of this block in a
            // row of `self.channels`.
            unsafe {
                let line = match memory.dst_image_stride {
                    Some(image) => block / blocks * image + (block % blocks * oh + y) * ow * BLOCK,
                    None => piece * ow * BLOCK,
                };
                let dst = if is_pixel { pixel.as_mut_ptr() } else { memory.dst.add(line) };
                (self.kernel)(&Row {
                    src: memory.inputs[0].add(block * plane),
                    width: self.lines.size[1],
                    dst,
                    rows: self.lines.rows[y],
                    columns: &self.lines.columns,
                    is_mean: self.is_mean,
                });
                if is_pixel {
                    let first = block / blocks * self.channels + block % blocks * BLOCK;
                    memory.dst.add(first).copy_from_nonoverlapping(dst, channels);
                } else if channels < BLOCK {
                    // The maximum of a window that covers no pixels is the lowest number, but padding channels must be
                    // 0.
                    for x in 0..ow {
                        dst.add(x * BLOCK + channels).write_bytes(0, BLOCK - channels);
                    }
                }
            }
        }
    }
}

/// # Safety
/// `row.src` must point to a plane that contains `row.rows` and all `row.columns`, `row.dst` must be writable for
/// `row.columns.len() * BLOCK` values, and the processor must have the instructions of `L`.
#[inline(always)]
unsafe fn largest_of<L: Lanes>(row: &Row<'_>) {
    // SAFETY: the contract of this function is that of `pool`.
    unsafe { pool::<L, true>(row) }
}

/// # Safety
/// The conditions of [`largest_of`] must hold.
#[inline(always)]
unsafe fn sum_of<L: Lanes>(row: &Row<'_>) {
    // SAFETY: the contract of this function is that of `pool`.
    unsafe { pool::<L, false>(row) }
}

/// # Safety
/// The conditions of [`largest_of`] must hold.
#[inline(always)]
unsafe fn pool<L: Lanes, const MAX: bool>(row: &Row<'_>) {
    for (x, columns) in row.columns.iter().enumerate() {
        let count = if row.is_mean { (row.rows.counted * columns.counted).max(1) } else { 1 };
        let len = columns.end - columns.begin;
        for lane in (0..BLOCK).step_by(L::N) {
            // SAFETY: `cut` clamps `begin` and `end` to the size of the image on both axes, so every pixel `(y,
            // columns.begin + 0..len)` lies in the plane. `x < columns.len()` and `lane + L::N <= BLOCK`, so the store
            // lies in the row.
            unsafe {
                let mut acc = L::splat(if MAX { f32::MIN } else { 0.0 });
                if len > 0 {
                    for y in row.rows.begin..row.rows.end {
                        let line = row.src.add((y * row.width + columns.begin) * BLOCK + lane);
                        // Common widths of a window are compiled without a loop. Each row of the window is summed by
                        // itself, so that long sums round less.
                        let of_line = match len {
                            2 => cells::<L, MAX>(line, 2),
                            3 => cells::<L, MAX>(line, 3),
                            _ => cells::<L, MAX>(line, len),
                        };
                        acc = join::<L, MAX>(of_line, acc);
                    }
                }
                if !MAX {
                    acc = acc.div(L::splat(count as f32));
                }
                acc.store(row.dst.add(x * BLOCK + lane));
            }
        }
    }
}

/// The maximum or the sum of `len` neighboring pixels, where `len` is at least 1.
///
/// # Safety
/// `L::N` values must be readable at `line` and at the `len - 1` following pixels. The processor must have the
/// instructions of `L`.
#[inline(always)]
unsafe fn cells<L: Lanes, const MAX: bool>(line: *const f32, len: usize) -> L {
    // SAFETY: the caller promises `len` pixels, `BLOCK` values apart, each with `L::N` readable values from `line` on,
    // and `x < len`.
    unsafe {
        let mut acc = L::load(line);
        for x in 1..len {
            acc = join::<L, MAX>(L::load(line.add(x * BLOCK)), acc);
        }
        acc
    }
}

#[inline(always)]
unsafe fn join<L: Lanes, const MAX: bool>(x: L, acc: L) -> L {
    // SAFETY: no memory is accessed, and the caller is compiled for the instructions of `L`.
    unsafe { if MAX { x.max_or_nan(acc) } else { acc.add(x) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_of_a_window_that_leaves_the_padded_image() {
        // Windows of 3 pixels, 2 apart, on a row of 4 pixels with a padding of 1 on both sides: they begin at -1, 1 and
        // 3.
        let window = Window::new("Pooling", &[3], &[2], &[], &[1]).unwrap();
        let at = |o, counts| cut(&window, 0, o, 4, counts);
        assert_eq!(at(0, true), Cut { begin: 0, end: 2, counted: 3 });
        assert_eq!(at(0, false), Cut { begin: 0, end: 2, counted: 2 });
        assert_eq!(at(1, true), Cut { begin: 1, end: 4, counted: 3 });
        assert_eq!(at(2, true), Cut { begin: 3, end: 4, counted: 2 });
        assert_eq!(at(2, false), Cut { begin: 3, end: 4, counted: 1 });
    }
}
