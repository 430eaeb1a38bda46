//! The gradients of pooling. In max pooling, the gradient of a window goes to its first pixel that equals the maximum; in
//! other pooling it is divided among all pixels of the window.
//!
//! A piece is a plane: a block of 16 channels of one image. The windows of a plane are visited in row-major order. They
//! add to the few rows of pixels that they cover, which stay in a buffer in the caches. A row that no further window
//! covers is written to the output, so that each value of the output is written once.

use super::Fit;
use super::pass::{Memory, Pass};
use super::pooling::{Cut, Lines};
use crate::dispatch::for_each_set;
use crate::gemm::compare::Compare;
use crate::layouts::{BLOCK, LARGE_BYTES, blocked, image};
use mxrs_op::OpCall;
use mxrs_op::param::Choice;
use mxrs_ops::nn::pooling::{PoolType, PoolingParams};
use mxrs_processor::Isa;
use mxrs_types::Layout;
use std::ops::Range;

/// A prepared gradient.
struct PoolingGradient {
    images: usize,
    channels: usize,
    lines: Lines,
    /// Number of rows of the buffer: as many as a window covers.
    buffer_rows: usize,
    is_max: bool,
    is_mean: bool,
    /// Whether the result is written directly to memory, bypassing the caches.
    past_caches: bool,
    kernel: unsafe fn(&Plane<'_>),
}

/// A plane whose gradient is computed.
struct Plane<'a> {
    layer: &'a PoolingGradient,
    /// The gradient of each window. `output` has the result of each window and `data` has the pixels; only max pooling uses
    /// these two.
    ograd: *const f32,
    output: *const f32,
    data: *const f32,
    dst: *mut f32,
    /// Rows of zeros, as many as a window may cover. They are zeros again afterward.
    buffer: *mut f32,
}

for_each_set! {
    /// Returns the function that computes the gradient of max pooling in a plane.
    fn to_largest: unsafe fn(plane: &Plane<'_>) = to_largest_of
}
for_each_set! {
    /// Returns the function that computes the gradient of average and sum pooling in a plane.
    fn to_all: unsafe fn(plane: &Plane<'_>) = to_all_of
}

/// Prepares the kernel of a call, or returns the reason why there is none.
pub fn fit(call: &OpCall<'_>, isa: Isa) -> Result<Fit, String> {
    let p = call.params.get::<PoolingParams>();
    let (Some(data), Some(ograd)) = (image(&call.outputs[0]), image(&call.inputs[0])) else {
        return Err("the window does not have two axes".into());
    };
    if p.is_channels_last() {
        return Err("channels last".into());
    }
    if p.pool_type == PoolType::Lp {
        return Err(format!("{} pooling", p.pool_type.to_word()));
    }
    let [images, channels, h, w] = data;
    let lines = Lines::of(p, [h, w], [ograd[2], ograd[3]])?;
    let (is_max, is_mean) = (p.pool_type == PoolType::Max, p.pool_type == PoolType::Avg);
    let past_caches = images * channels.next_multiple_of(BLOCK) * h * w * size_of::<f32>() > LARGE_BYTES;
    let (layout, pooled) = (blocked(data), Lines::layout(ograd));
    // Average pooling reads only the shape of the data, so they keep their layout.
    let inputs = match is_max {
        true => vec![pooled.clone(), layout.clone(), pooled],
        false => vec![pooled, call.inputs[1].layout.clone()],
    };
    let (what, kernel) =
        if is_max { ("max_pool_gradient", to_largest(isa)) } else { ("sum_pool_gradient", to_all(isa)) };
    let pass = move || {
        let lines = lines();
        let buffer_rows = lines.rows.iter().map(|cut| cut.end - cut.begin).max().unwrap_or(0).max(1);
        PoolingGradient { images, channels, lines, buffer_rows, is_max, is_mean, past_caches, kernel }
    };
    Ok(Fit { inputs: Some(inputs), ..Fit::new(what, [Layout::RowMajor, layout], pass) })
}

impl PoolingGradient {
    fn blocks(&self) -> usize {
        self.channels.div_ceil(BLOCK)
    }

    /// Number of values of a row of pixels.
    fn row_len(&self) -> usize {
        self.lines.size[1] * BLOCK
    }

    /// Copies the value of a plane's only window from a row-major tensor, as in global pooling. Padding channels become 0.
    ///
    /// # Safety
    /// `from` must have a value for each image and channel, and `piece` must be a piece of the output.
    unsafe fn pixel(&self, from: *const f32, piece: usize) -> [f32; BLOCK] {
        let (image, first) = (piece / self.blocks(), piece % self.blocks() * BLOCK);
        let n = (self.channels - first).min(BLOCK);
        let mut pixel = [0.0; BLOCK];
        // SAFETY: `first + n <= channels`, and `n <= BLOCK`.
        unsafe { pixel.as_mut_ptr().copy_from_nonoverlapping(from.add(image * self.channels + first), n) }
        pixel
    }
}

impl Pass for PoolingGradient {
    fn pieces(&self) -> usize {
        self.images * self.blocks()
    }

    fn numbers(&self) -> usize {
        (2 * self.lines.size[0] + 2 * self.lines.rows.len()) * self.row_len()
    }

    unsafe fn run(&self, memory: &Memory, pieces: Range<usize>) {
        let mut buffer = vec![0.0f32; self.buffer_rows * self.row_len()];
        let (plane, windows) = (self.lines.size[0] * self.row_len(), self.lines.n_windows() * BLOCK);
        for piece in pieces {
            // SAFETY: `piece < self.pieces()`, so the plane lies in the data and in the output. Only this thread writes the
            // plane of the output. The gradients and results of the windows are in blocks too, or there is one window per
            // channel. The buffer has the rows of a window. Only max pooling reads inputs 1 and 2, and then the call has
            // them.
            unsafe {
                let of_windows = |input: usize| memory.inputs[input].add(piece * windows);
                let pixels = |input: usize| self.pixel(memory.inputs[input], piece);
                let is_one = windows == BLOCK;
                let (one_ograd, one_output) = match (is_one, self.is_max) {
                    (true, true) => (pixels(0), pixels(2)),
                    (true, false) => (pixels(0), [0.0; BLOCK]),
                    (false, _) => ([0.0; BLOCK], [0.0; BLOCK]),
                };
                (self.kernel)(&Plane {
                    layer: self,
                    ograd: if is_one { one_ograd.as_ptr() } else { of_windows(0) },
                    output: match (is_one, self.is_max) {
                        (true, _) => one_output.as_ptr(),
                        (false, true) => of_windows(2),
                        (false, false) => std::ptr::null(),
                    },
                    data: if self.is_max { memory.inputs[1].add(piece * plane) } else { std::ptr::null() },
                    dst: memory.dst.add(piece * plane),
                    buffer: buffer.as_mut_ptr(),
                });
            }
        }
    }
}

/// # Safety
/// The addresses of the plane must be valid for its sizes, `plane.buffer` must have the rows of the layer's buffer and
/// contain zeros, and the processor must have the instructions of `L`.
#[inline(always)]
unsafe fn to_largest_of<L: Compare>(plane: &Plane<'_>) {
    // SAFETY: the contract of this function is that of `over_windows`.
    unsafe { over_windows::<L, true>(plane) }
}

/// # Safety
/// The conditions of [`to_largest_of`] must hold.
#[inline(always)]
unsafe fn to_all_of<L: Compare>(plane: &Plane<'_>) {
    // SAFETY: the contract of this function is that of `over_windows`.
    unsafe { over_windows::<L, false>(plane) }
}

/// # Safety
/// The conditions of [`to_largest_of`] must hold.
#[inline(always)]
unsafe fn over_windows<L: Compare, const MAX: bool>(plane: &Plane<'_>) {
    let layer = plane.layer;
    let columns = &layer.lines.columns;
    let mut written = 0;
    for (y, rows) in layer.lines.rows.iter().enumerate() {
        // SAFETY: a window's cut lies in the image, and the begins of windows do not decrease. So the rows
        // `written..rows.begin` belong to the plane, and no later window covers them. The window with index `x` has a
        // gradient and, for max pooling, a result.
        unsafe {
            write_rows::<L>(plane, written..rows.begin);
            written = rows.begin;
            for (x, columns) in columns.iter().enumerate() {
                let at = (y * layer.lines.columns.len() + x) * BLOCK;
                for lane in (0..BLOCK).step_by(L::N) {
                    if MAX {
                        add_to_largest::<L>(plane, [rows, columns], at, lane);
                    } else {
                        add_to_all::<L>(plane, [rows, columns], at, lane);
                    }
                }
            }
        }
    }
    // SAFETY: no window is left, so the remaining rows are complete.
    unsafe { write_rows::<L>(plane, written..layer.lines.size[0]) }
    if layer.past_caches {
        L::drain();
    }
}

/// Adds the gradient of a window to the first of its pixels that equals the result.
///
/// # Safety
/// The conditions of [`to_largest_of`] must hold, `at` must be the first value of a window, and `[rows, columns]` its cuts.
#[inline(always)]
unsafe fn add_to_largest<L: Compare>(plane: &Plane<'_>, [rows, columns]: [&Cut; 2], at: usize, lane: usize) {
    let (row_len, n_rows) = (plane.layer.row_len(), plane.layer.buffer_rows);
    // SAFETY: the cuts lie in the image, so the pixels lie in the data, and in the row `y % n_rows` of the buffer.
    unsafe {
        let largest = L::load(plane.output.add(at + lane));
        let mut left = L::load(plane.ograd.add(at + lane));
        for y in rows.begin..rows.end {
            let data = plane.data.add(y * row_len + lane);
            let to = plane.buffer.add(y % n_rows * row_len + lane);
            for x in columns.begin..columns.end {
                let to = to.add(x * BLOCK);
                let [here, others] = left.split_by_equal(L::load(data.add(x * BLOCK)), largest);
                L::load(to).add(here).store(to);
                left = others;
            }
        }
    }
}

/// Adds the share of each pixel of a window.
///
/// # Safety
/// The conditions of [`add_to_largest`] must hold.
#[inline(always)]
unsafe fn add_to_all<L: Compare>(plane: &Plane<'_>, [rows, columns]: [&Cut; 2], at: usize, lane: usize) {
    let (row_len, n_rows) = (plane.layer.row_len(), plane.layer.buffer_rows);
    // SAFETY: as in `add_to_largest`.
    unsafe {
        let mut share = L::load(plane.ograd.add(at + lane));
        if plane.layer.is_mean {
            share = share.div(L::splat((rows.counted * columns.counted).max(1) as f32));
        }
        for y in rows.begin..rows.end {
            let to = plane.buffer.add(y % n_rows * row_len + lane);
            for x in columns.begin..columns.end {
                let to = to.add(x * BLOCK);
                L::load(to).add(share).store(to);
            }
        }
    }
}

/// Moves complete rows from the buffer to the output.
///
/// # Safety
/// The conditions of [`to_largest_of`] must hold, and `rows` must be rows of the plane.
#[inline(always)]
unsafe fn write_rows<L: Compare>(plane: &Plane<'_>, rows: Range<usize>) {
    let (row_len, n_rows) = (plane.layer.row_len(), plane.layer.buffer_rows);
    for y in rows {
        // SAFETY: the row lies in the plane of the output, whose rows begin at cache lines, and `y % n_rows` in the buffer.
        unsafe {
            let (from, to) = (plane.buffer.add(y % n_rows * row_len), plane.dst.add(y * row_len));
            for at in (0..row_len).step_by(L::N) {
                let value = L::load(from.add(at));
                if plane.layer.past_caches {
                    value.store_past(to.add(at))
                } else {
                    value.store(to.add(at))
                }
                L::splat(0.0).store(from.add(at));
            }
        }
    }
}
