//! Pooling with channels last, in bfloat16 and in 8-bit integers: the maximum or the mean of the pixels under a window. A mean
//! is computed in float32 and rounded once.

use super::level::{Level, for_each_level};
use super::loops::{Shared, in_parts, planned};
use super::number::Number;
use super::ranges::{ranges, write_ranges};
use super::{Build, Context};
use crate::layouts::channels_last;
use half::bf16;
use mxrs_op::param::Choice;
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::nn::pooling::{Cut, PoolType, PoolingParams, cut};
use mxrs_types::{DType, Layout, Result};

/// Channels that are computed at a time.
const CHUNK: usize = 64;
/// Largest number of output rows or columns. Planning stores a [`Cut`] for each of them.
const MAX_LINE: usize = 1 << 20;

/// One output row.
struct Row<'a> {
    src: *const u8,
    dst: *mut u8,
    /// Pixels of an input row.
    width: usize,
    channels: usize,
    rows: Cut,
    columns: &'a [Cut],
    counts_padding: bool,
}

for_each_level! {
    fn maxima [T: Number] [T]: unsafe fn(row: &Row<'_>) = largest
}
for_each_level! {
    fn means [T: Number] [T]: unsafe fn(row: &Row<'_>) = mean
}
for_each_level! {
    fn sums [T: Number] [T]: unsafe fn(row: &Row<'_>) = sum
}

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if another
/// module handles the call.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    let is_quantized = call.op.name == "_contrib_quantized_pooling";
    let is_bf16 = call.op.name == "Pooling" && call.inputs[0].dtype == DType::BF16;
    (is_quantized || is_bf16).then(|| fit(call, is_quantized, context))
}

fn fit<'a>(call: &'a OpCall<'a>, is_quantized: bool, context: &Context) -> Result<Build<'a>, String> {
    let p = call.params.get::<PoolingParams>();
    let (data, out) = (&call.inputs[0], &call.outputs[0]);
    let sizes = |shape: &[usize]| <[usize; 4]>::try_from(shape).map_err(|_| "the window does not have two axes");
    let ([n, c, h, w], [_, _, oh, ow]) = (sizes(&data.shape)?, sizes(&out.shape)?);
    if p.is_channels_last() {
        return Err("no kernel for shapes with channels last".into());
    }
    if data.shape.n_elements() == 0 || out.shape.n_elements() == 0 {
        return Err("no kernel for tensors without elements".into());
    }
    if oh.max(ow) > MAX_LINE {
        return Err(format!("more than {MAX_LINE} rows or columns of output"));
    }
    let window = p.window(&[h, w]).map_err(|error| error.to_string())?;
    let (counts_padding, level, threads) = (p.counts_padding(), Level::of(context.isa), context.threads);
    let kernel = match (p.pool_type, data.dtype) {
        (PoolType::Max, DType::BF16) => maxima::<bf16>(level),
        (PoolType::Max, DType::U8) => maxima::<u8>(level),
        (PoolType::Max, DType::I8) => maxima::<i8>(level),
        (PoolType::Avg, DType::BF16) => means::<bf16>(level),
        (PoolType::Avg, DType::U8) => means::<u8>(level),
        (PoolType::Avg, DType::I8) => means::<i8>(level),
        (PoolType::Sum, DType::BF16) => sums::<bf16>(level),
        (other, dtype) => return Err(format!("no kernel for {} pooling in {dtype}", other.to_word())),
    };
    let what = if p.pool_type == PoolType::Max { "max_pool" } else { "mean_pool" };
    Ok(Box::new(move || {
        let cuts =
            |axis: usize, size: usize, n: usize| -> Vec<Cut> { (0..n).map(|o| cut(&window, axis, o, size)).collect() };
        let (rows, columns) = (cuts(0, h, oh), cuts(1, w, ow));
        let bytes = data.dtype.size_of();
        let line = |cuts: &[Cut]| cuts.iter().map(|cut| cut.end - cut.begin).max().unwrap_or(0);
        let row_bytes = line(&rows) * line(&columns) * ow * c * bytes;
        let body = move |args: &KernelArgs<'_>| {
            let (src, dst) = (Shared(args.inputs[0].as_ptr()), Shared(args.outputs[0].as_ptr()));
            in_parts(args.team, threads, n * oh, row_bytes, &|part| {
                for i in part {
                    // SAFETY: row `i` of all images is in the output, and only this thread writes it. Its image has `h * w`
                    // pixels in the data, which nothing writes. Both tensors have the planned layouts.
                    unsafe {
                        kernel(&Row {
                            src: src.at(i / oh * h * w * c * bytes),
                            dst: dst.at(i * ow * c * bytes),
                            width: w,
                            channels: c,
                            rows: rows[i % oh],
                            columns: &columns,
                            counts_padding,
                        });
                    }
                }
            });
            if is_quantized {
                let all: Vec<_> = ranges(args, 1).collect();
                write_ranges(args, all.into_iter());
            }
            Ok(())
        };
        // For an image of one pixel, row-major order has the same memory as channels last.
        let out = if (oh, ow) == (1, 1) { Layout::RowMajor } else { channels_last([n, c, oh, ow]) };
        Ok(planned(call, what, vec![channels_last([n, c, h, w])], out, body))
    }))
}

/// Calls `visit` with each chunk of channels of each output pixel: the columns of its window, the first channel, the number of channels, and the address of the result.
///
/// # Safety
/// The row must be a row of the output.
#[inline(always)]
unsafe fn for_each_chunk<T: Number>(row: &Row<'_>, visit: impl Fn(&Cut, usize, usize, *mut T)) {
    for (x, column) in row.columns.iter().enumerate() {
        for first in (0..row.channels).step_by(CHUNK) {
            // SAFETY: `x` is a column of the output, and `first` is a channel.
            let dst = unsafe { row.dst.cast::<T>().add(x * row.channels + first) };
            // The loops over a whole chunk have a constant length, so that the compiler vectorizes them without tests.
            match row.channels - first {
                n @ 0..CHUNK => visit(column, first, n, dst),
                _ => visit(column, first, CHUNK, dst),
            }
        }
    }
}

/// Calls `visit` with the address of each cell of a window.
///
/// # Safety
/// The cut must be a cut of the row's columns, and `first` a channel.
#[inline(always)]
unsafe fn for_each_cell<T: Number>(row: &Row<'_>, column: &Cut, first: usize, mut visit: impl FnMut(*const T)) {
    for y in row.rows.begin..row.rows.end {
        for x in column.begin..column.end {
            // SAFETY: a cut lies in the image.
            visit(unsafe { row.src.cast::<T>().add((y * row.width + x) * row.channels + first) });
        }
    }
}

/// The values of a chunk, of which `n` exist; the others are 0.
///
/// # Safety
/// `at` must be readable for `n` values.
#[inline(always)]
unsafe fn values<T: Number>(at: *const T, n: usize) -> [T; CHUNK] {
    // SAFETY: the caller promises `n` values.
    unsafe {
        if n == CHUNK {
            return at.cast::<[T; CHUNK]>().read_unaligned();
        }
        let mut values = [T::default(); CHUNK];
        at.copy_to_nonoverlapping(values.as_mut_ptr(), n);
        values
    }
}

/// # Safety
/// The row must be a row of the output, and its data those of its image.
#[inline(always)]
unsafe fn largest<T: Number>(row: &Row<'_>) {
    // SAFETY: `n` channels from `first` on exist in each cell and in the result.
    unsafe {
        for_each_chunk::<T>(row, |column, first, n, dst| {
            let mut best = [T::LOWEST; CHUNK];
            for_each_cell::<T>(row, column, first, |cell| {
                let values = values(cell, n);
                for i in 0..CHUNK {
                    best[i] = best[i].larger(values[i]);
                }
            });
            dst.copy_from_nonoverlapping(best.as_ptr(), n);
        });
    }
}

/// # Safety
/// As for [`largest`].
#[inline(always)]
unsafe fn mean<T: Number>(row: &Row<'_>) {
    // SAFETY: the contract of this function is that of `added`.
    unsafe {
        added::<T>(row, |column| {
            let [a, b] = [&row.rows, column].map(|cut| match row.counts_padding {
                true => cut.padded_len,
                false => cut.end - cut.begin,
            });
            (a * b) as f32
        })
    }
}

/// # Safety
/// As for [`largest`].
#[inline(always)]
unsafe fn sum<T: Number>(row: &Row<'_>) {
    // SAFETY: the contract of this function is that of `added`.
    unsafe { added::<T>(row, |_| 1.0) }
}

/// Stores the sums of the cells, divided by `divisor`.
///
/// # Safety
/// As for [`largest`].
#[inline(always)]
unsafe fn added<T: Number>(row: &Row<'_>, divisor: impl Fn(&Cut) -> f32) {
    // SAFETY: `n` channels from `first` on exist in each cell and in the result.
    unsafe {
        for_each_chunk::<T>(row, |column, first, n, dst| {
            let mut sums = [0.0f32; CHUNK];
            for_each_cell::<T>(row, column, first, |cell| {
                let values = values(cell, n);
                for i in 0..CHUNK {
                    sums[i] += values[i].wide();
                }
            });
            let divisor = divisor(column);
            let mut means = [T::default(); CHUNK];
            for i in 0..CHUNK {
                means[i] = T::of(sums[i] / divisor);
            }
            dst.copy_from_nonoverlapping(means.as_ptr(), n);
        });
    }
}
