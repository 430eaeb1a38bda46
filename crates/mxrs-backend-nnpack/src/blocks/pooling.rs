//! Pooling of images: the largest, sum or mean of the cells of a window, for 16 channels at a time.
//!
//! A piece is a row of output pixels of one block of channels. The part of a window that lies in the image is known per row
//! and per column before any data are. An output of one pixel, a global window's, is written in row-major order.

use super::Fit;
use super::pass::{Memory, Pass};
use crate::Isa;
use crate::gemm::lanes::Lanes;
use crate::isa::for_each_set;
use crate::layouts::{BLOCK, blocked, image};
use mxrs_op::OpCall;
use mxrs_op::param::Choice;
use mxrs_ops::nn::pooling::{PoolType, PoolingParams};
use mxrs_ops::window::Window;
use mxrs_types::Layout;
use std::ops::Range;

/// The part of a window on one axis that lies in the image, and the cells a mean counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    begin: usize,
    end: usize,
    counted: usize,
}

/// A pooling layer prepared.
struct Pooling {
    channels: usize,
    size: [usize; 2],
    images: usize,
    rows: Vec<Cut>,
    columns: Vec<Cut>,
    is_mean: bool,
    kernel: unsafe fn(&Row<'_>),
}

/// One row of outputs of a block of channels.
struct Row<'a> {
    /// The plane of the block.
    src: *const f32,
    /// Its width in pixels.
    width: usize,
    dst: *mut f32,
    rows: Cut,
    columns: &'a [Cut],
    is_mean: bool,
}

for_each_set! {
    /// Code for maxima.
    fn largest: unsafe fn(row: &Row<'_>) = largest_of
}
for_each_set! {
    /// Code for sums and means.
    fn summed: unsafe fn(row: &Row<'_>) = sum_of
}

/// The kernel of a call, or why there is none.
pub fn fit(call: &OpCall<'_>, isa: Isa) -> Result<Fit, String> {
    let p = call.params.get::<PoolingParams>();
    let (Some([images, channels, h, w]), Some([_, _, oh, ow])) = (image(&call.inputs[0]), image(&call.outputs[0]))
    else {
        return Err("not two spatial axes".into());
    };
    if p.is_channels_last() {
        return Err("channels last".into());
    }
    let kernel = match p.pool_type {
        PoolType::Max => largest(isa),
        PoolType::Avg | PoolType::Sum => summed(isa),
        PoolType::Lp => return Err(format!("{} pooling", p.pool_type.to_word())),
    };
    let window = p.window(&[h, w]).map_err(|error| error.to_string())?;
    let cuts = |axis: usize, size: usize, n: usize| -> Vec<Cut> {
        (0..n).map(|o| cut(&window, axis, o, size, p.counts_padding())).collect()
    };
    let is_mean = p.pool_type == PoolType::Avg;
    let (rows, columns) = (cuts(0, h, oh), cuts(1, w, ow));
    let out = if (oh, ow) == (1, 1) { Layout::RowMajor } else { blocked([images, channels, oh, ow]) };
    let what = if p.pool_type == PoolType::Max { "max_pool" } else { "sum_pool" };
    let pass = Pooling { channels, size: [h, w], images, rows, columns, is_mean, kernel };
    let data = blocked([images, channels, h, w]);
    Ok(Fit { pass: Box::new(pass), what, data, out, can_run_inplace: false })
}

fn cut(window: &Window, axis: usize, o: usize, size: usize, counts_padding: bool) -> Cut {
    let (pad, first) = (window.pad[axis], o * window.stride[axis]);
    // Positions from the start of the padding; a window may leave what is padded when their number is rounded up.
    let end = (first + window.kernel[axis]).min(size + 2 * pad);
    let inside = |i: usize| i.clamp(pad, size + pad) - pad;
    let (begin, inside_end) = (inside(first), inside(end).max(inside(first)));
    let counted = if counts_padding { end.saturating_sub(first) } else { inside_end - begin };
    Cut { begin, end: inside_end, counted }
}

impl Pass for Pooling {
    fn pieces(&self) -> usize {
        self.images * self.channels.div_ceil(BLOCK) * self.rows.len()
    }

    fn numbers(&self) -> usize {
        let cells = |cuts: &[Cut]| cuts.iter().map(|cut| cut.end - cut.begin).max().unwrap_or(0);
        (1 + cells(&self.rows) * cells(&self.columns)) * self.columns.len() * BLOCK
    }

    fn takes_images_apart(&self) -> bool {
        // A global window leaves rows, not blocks.
        self.rows.len() * self.columns.len() > 1
    }

    unsafe fn run(&self, memory: &Memory, pieces: Range<usize>) {
        let (oh, ow) = (self.rows.len(), self.columns.len());
        let blocks = self.channels.div_ceil(BLOCK);
        let plane = self.size[0] * self.size[1] * BLOCK;
        for piece in pieces {
            let (block, y) = (piece / oh, piece % oh);
            let channels = (self.channels - block % blocks * BLOCK).min(BLOCK);
            let mut pixel = [0.0; BLOCK];
            let is_pixel = oh * ow == 1;
            // SAFETY: planes of the data; of the output a row of this piece, or the channels of this block.
            unsafe {
                let line = match memory.dst_image {
                    Some(image) => block / blocks * image + (block % blocks * oh + y) * ow * BLOCK,
                    None => piece * ow * BLOCK,
                };
                let dst = if is_pixel { pixel.as_mut_ptr() } else { memory.dst.add(line) };
                (self.kernel)(&Row {
                    src: memory.inputs[0].add(block * plane),
                    width: self.size[1],
                    dst,
                    rows: self.rows[y],
                    columns: &self.columns,
                    is_mean: self.is_mean,
                });
                if is_pixel {
                    let first = block / blocks * self.channels + block % blocks * BLOCK;
                    memory.dst.add(first).copy_from_nonoverlapping(dst, channels);
                } else if channels < BLOCK {
                    // A window without a cell leaves the lowest number, which is not for padding.
                    for x in 0..ow {
                        dst.add(x * BLOCK + channels).write_bytes(0, BLOCK - channels);
                    }
                }
            }
        }
    }
}

/// # Safety
/// The pointers lead to the plane and the row, and the instructions of `L` are there.
#[inline(always)]
unsafe fn largest_of<L: Lanes>(row: &Row<'_>) {
    // SAFETY: the caller's promise.
    unsafe { pool::<L, true>(row) }
}

/// # Safety
/// As [`largest_of`].
#[inline(always)]
unsafe fn sum_of<L: Lanes>(row: &Row<'_>) {
    // SAFETY: the caller's promise.
    unsafe { pool::<L, false>(row) }
}

/// # Safety
/// As [`largest_of`].
#[inline(always)]
unsafe fn pool<L: Lanes, const MAX: bool>(row: &Row<'_>) {
    for (x, columns) in row.columns.iter().enumerate() {
        let count = if row.is_mean { (row.rows.counted * columns.counted).max(1) } else { 1 };
        let len = columns.end - columns.begin;
        for lane in (0..BLOCK).step_by(L::N) {
            // SAFETY: cells of the window that lie in the image, and a pixel of the row.
            unsafe {
                let mut acc = L::splat(if MAX { f32::MIN } else { 0.0 });
                if len > 0 {
                    for y in row.rows.begin..row.rows.end {
                        let line = row.src.add((y * row.width + columns.begin) * BLOCK + lane);
                        // Usual widths have no loop; a line is summed by itself, so that long sums round less.
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

/// The largest or the sum of `len` cells, at least one.
#[inline(always)]
unsafe fn cells<L: Lanes, const MAX: bool>(line: *const f32, len: usize) -> L {
    // SAFETY: the caller's promise.
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
    // SAFETY: the instructions are there.
    unsafe { if MAX { x.max_or_nan(acc) } else { acc.add(x) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_of_a_window_that_leaves_the_padded_image() {
        // Windows of 3 cells, 2 apart, on 4 cells between paddings of 1: they begin at -1, 1 and 3.
        let window = Window::new("Pooling", &[3], &[2], &[], &[1]).unwrap();
        let at = |o, counts| cut(&window, 0, o, 4, counts);
        assert_eq!(at(0, true), Cut { begin: 0, end: 2, counted: 3 });
        assert_eq!(at(0, false), Cut { begin: 0, end: 2, counted: 2 });
        assert_eq!(at(1, true), Cut { begin: 1, end: 4, counted: 3 });
        assert_eq!(at(2, true), Cut { begin: 3, end: 4, counted: 2 });
        assert_eq!(at(2, false), Cut { begin: 3, end: 4, counted: 1 });
    }
}
