//! The gradients of pooling with channels last in bfloat16. In max pooling, the gradient of a window goes to its first pixel
//! that equals the maximum; in average and sum pooling all pixels of the window get a part.
//!
//! A piece is a chunk of channels of one image. Its windows are visited in row-major order. They add to the few rows of pixels
//! that they cover, in float32. A row that no further window covers is rounded and written once.

use super::level::{Level, for_each_level};
use super::loops::{Shared, in_parts, planned};
use super::number::Number;
use super::{Build, Context};
use crate::layouts::channels_last;
use half::bf16;
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::nn::pooling::{Cut, PoolType, PoolingParams, cut};
use mxrs_types::{DType, Layout, Result};

/// Channels that are computed at a time.
const CHUNK: usize = 64;
/// Largest number of output rows or columns. Planning stores a [`Cut`] for each of them.
const MAX_LINE: usize = 1 << 20;

/// One piece.
struct Piece<'a> {
    /// The gradients of the windows, from the first channel of the chunk on. `output` has the results of the windows, and
    /// `data` the pixels; only max pooling reads these two.
    ograd: *const bf16,
    output: *const bf16,
    data: *const bf16,
    dst: *mut bf16,
    /// Height and width of the data.
    size: [usize; 2],
    /// Number of channels of a pixel; `n` is the number of channels of the chunk.
    channels: usize,
    n: usize,
    rows: &'a [Cut],
    columns: &'a [Cut],
    /// Whether the gradient is divided by the number of pixels of the window. `counts_padding` says whether padding counts
    /// as pixels.
    divides: bool,
    counts_padding: bool,
    /// Rows of [`CHUNK`] sums for each pixel, as many as a window covers. They are zeros before and after.
    buffer: &'a mut [f32],
}

for_each_level! {
    fn to_largest: unsafe fn(piece: &mut Piece<'_>) = spread_to_largest
}
for_each_level! {
    fn to_all: unsafe fn(piece: &mut Piece<'_>) = spread_to_all
}

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if another
/// module handles the call.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    let is_gradient = ["_backward_Pooling", "_backward_Pooling_average"].contains(&call.op.name);
    (is_gradient && call.inputs[0].dtype == DType::BF16).then(|| fit(call, context))
}

fn fit<'a>(call: &'a OpCall<'a>, context: &Context) -> Result<Build<'a>, String> {
    let p = call.params.get::<PoolingParams>();
    let (data, ograd) = (&call.outputs[0], &call.inputs[0]);
    let sizes = |shape: &[usize]| <[usize; 4]>::try_from(shape).map_err(|_| "the window does not have two axes");
    let ([n, c, h, w], [_, _, oh, ow]) = (sizes(&data.shape)?, sizes(&ograd.shape)?);
    if p.is_channels_last() {
        return Err("no kernel for shapes with channels last".into());
    }
    if p.pool_type == PoolType::Lp {
        return Err("no kernel for p-norms in bfloat16".into());
    }
    if data.shape.n_elements() == 0 || ograd.shape.n_elements() == 0 {
        return Err("no kernel for tensors without elements".into());
    }
    if oh.max(ow) > MAX_LINE {
        return Err(format!("more than {MAX_LINE} rows or columns of output"));
    }
    let window = p.window(&[h, w]).map_err(|error| error.to_string())?;
    let is_max = p.pool_type == PoolType::Max;
    let (divides, counts_padding) = (p.pool_type == PoolType::Avg, p.counts_padding());
    let (level, threads) = (Level::of(context.isa), context.threads);
    let kernel = if is_max { to_largest(level) } else { to_all(level) };
    Ok(Box::new(move || {
        let cuts =
            |axis: usize, size: usize, n: usize| -> Vec<Cut> { (0..n).map(|o| cut(&window, axis, o, size)).collect() };
        let (rows, columns) = (cuts(0, h, oh), cuts(1, w, ow));
        let buffer_rows = rows.iter().map(|cut| cut.end - cut.begin).max().unwrap_or(0).max(1);
        let chunks = c.div_ceil(CHUNK);
        let body = move |args: &KernelArgs<'_>| {
            let input = |i: usize| Shared(args.inputs[i].as_ptr().cast::<bf16>());
            let (ograd, dst) = (input(0), Shared(args.outputs[0].as_ptr().cast::<bf16>()));
            let (data, output) = if is_max { (input(1), input(2)) } else { (ograd, ograd) };
            in_parts(args.team, threads, n * chunks, 4 * h * w * CHUNK, &|part| {
                let mut buffer = vec![0.0f32; buffer_rows * w * CHUNK];
                for i in part {
                    let (image, first) = (i / chunks, i % chunks * CHUNK);
                    let (pixels, windows) = (image * h * w * c + first, image * oh * ow * c + first);
                    // SAFETY: the image and the chunk of channels exist in all tensors, which have the planned layouts. Only
                    // this thread writes the chunk. Only max pooling reads data and output.
                    unsafe {
                        kernel(&mut Piece {
                            ograd: ograd.at(windows),
                            output: if is_max { output.at(windows) } else { std::ptr::null() },
                            data: if is_max { data.at(pixels) } else { std::ptr::null() },
                            dst: dst.at(pixels),
                            size: [h, w],
                            channels: c,
                            n: (c - first).min(CHUNK),
                            rows: &rows,
                            columns: &columns,
                            divides,
                            counts_padding,
                            buffer: &mut buffer,
                        });
                    }
                }
            });
            Ok(())
        };
        // For an image of one pixel, row-major order has the same memory as channels last.
        let pooled = if (oh, ow) == (1, 1) { Layout::RowMajor } else { channels_last([n, c, oh, ow]) };
        let data = channels_last([n, c, h, w]);
        // Average pooling reads only the shape of the data, so they keep their layout.
        let inputs = match is_max {
            true => vec![pooled.clone(), data.clone(), pooled],
            false => vec![pooled, call.inputs[1].layout.clone()],
        };
        let what = if is_max { "max_pool_gradient_bf16" } else { "sum_pool_gradient_bf16" };
        Ok(planned(call, what, inputs, data, body))
    }))
}

/// The values of a chunk, of which `n` exist; the others are 0.
///
/// # Safety
/// `at` must be readable for `n` values.
#[inline(always)]
unsafe fn values(at: *const bf16, n: usize) -> [f32; CHUNK] {
    let mut wide = [0.0; CHUNK];
    // SAFETY: the caller promises `n` values.
    unsafe {
        if n == CHUNK {
            let values = at.cast::<[bf16; CHUNK]>().read_unaligned();
            for i in 0..CHUNK {
                wide[i] = values[i].wide();
            }
        } else {
            for (i, x) in wide.iter_mut().enumerate().take(n) {
                *x = (*at.add(i)).wide();
            }
        }
    }
    wide
}

/// # Safety
/// The addresses of the piece must be valid for its sizes, and its buffer must have the rows of a window and contain zeros.
#[inline(always)]
unsafe fn spread_to_largest(piece: &mut Piece<'_>) {
    // SAFETY: the contract of this function is that of `spread`.
    unsafe { spread::<true>(piece) }
}

/// # Safety
/// As for [`spread_to_largest`].
#[inline(always)]
unsafe fn spread_to_all(piece: &mut Piece<'_>) {
    // SAFETY: the contract of this function is that of `spread`.
    unsafe { spread::<false>(piece) }
}

/// # Safety
/// As for [`spread_to_largest`].
#[inline(always)]
unsafe fn spread<const MAX: bool>(piece: &mut Piece<'_>) {
    let (width, n) = (piece.size[1], piece.n);
    let row_len = width * CHUNK;
    let n_rows = piece.buffer.len() / row_len;
    let mut written = 0;
    for (y, row) in piece.rows.iter().enumerate() {
        // SAFETY: the begins of windows do not decrease, so no later window covers the rows before `row.begin`.
        unsafe { write_rows(piece, written..row.begin) }
        written = written.max(row.begin);
        for (x, column) in piece.columns.iter().enumerate() {
            let at = (y * piece.columns.len() + x) * piece.channels;
            // SAFETY: the window has a gradient and, in max pooling, a result. A cut lies in the image.
            unsafe {
                let mut left = values(piece.ograd.add(at), n);
                if !MAX && piece.divides {
                    let len = |cut: &Cut| if piece.counts_padding { cut.padded_len } else { cut.end - cut.begin };
                    let divisor = (len(row) * len(column)).max(1) as f32;
                    left.iter_mut().for_each(|x| *x /= divisor);
                }
                let largest = if MAX { values(piece.output.add(at), n) } else { [0.0; CHUNK] };
                for py in row.begin..row.end {
                    for px in column.begin..column.end {
                        let to: &mut [f32] = &mut piece.buffer[py % n_rows * row_len + px * CHUNK..][..CHUNK];
                        if !MAX {
                            for i in 0..CHUNK {
                                to[i] += left[i];
                            }
                            continue;
                        }
                        let data = values(piece.data.add((py * width + px) * piece.channels), n);
                        for i in 0..CHUNK {
                            let is_it = data[i] == largest[i];
                            to[i] += if is_it { left[i] } else { 0.0 };
                            left[i] = if is_it { 0.0 } else { left[i] };
                        }
                    }
                }
            }
        }
    }
    // SAFETY: no window is left, so the remaining rows are complete.
    unsafe { write_rows(piece, written..piece.size[0]) }
}

/// Moves complete rows from the buffer to the result.
///
/// # Safety
/// As for [`spread_to_largest`]; `rows` must be rows of the image.
#[inline(always)]
unsafe fn write_rows(piece: &mut Piece<'_>, rows: std::ops::Range<usize>) {
    let row_len = piece.size[1] * CHUNK;
    let n_rows = piece.buffer.len() / row_len;
    for y in rows {
        let row = &mut piece.buffer[y % n_rows * row_len..][..row_len];
        for (x, sums) in row.chunks_exact_mut(CHUNK).enumerate() {
            let mut rounded = [bf16::ZERO; CHUNK];
            for i in 0..CHUNK {
                rounded[i] = bf16::of(sums[i]);
            }
            sums.fill(0.0);
            // SAFETY: the pixel exists, and its `n` channels belong to this piece.
            unsafe {
                let to = piece.dst.add((y * piece.size[1] + x) * piece.channels);
                to.copy_from_nonoverlapping(rounded.as_ptr(), piece.n);
            }
        }
    }
}
