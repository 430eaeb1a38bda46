//! Data of few channels: each tap of each channel is a row of the left operand, copied from a plane of row-major data.

use super::lines::Lines;
use crate::low_precision::geometry::Problem;
use crate::low_precision::level::{Level, for_each_level};
use std::ops::Range;

/// One row of a strip to copy.
struct Run {
    from: *const u16,
    to: *mut u16,
    len: usize,
    stride: usize,
}

for_each_level! {
    fn copied: unsafe fn(run: &Run) = copy
}

/// # Safety
/// `run.from` must be readable for `len` values, `stride` apart, and `run.to` writable for `len`.
#[inline(always)]
unsafe fn copy(run: &Run) {
    // SAFETY: the caller promises all values.
    unsafe {
        match run.stride {
            1 => run.to.copy_from_nonoverlapping(run.from, run.len),
            2 => (0..run.len).for_each(|i| *run.to.add(i) = *run.from.add(2 * i)),
            stride => (0..run.len).for_each(|i| *run.to.add(i) = *run.from.add(stride * i)),
        }
    }
}

/// Copies the rows of the left operand for a strip. Row `(c, ky, kx)` holds the data that the tap `(ky, kx)` of channel `c`
/// multiplies, at each pixel of the output.
///
/// # Safety
/// `data` must be the row-major data of the problem, and `to` writable for `rows.len()` rows of `row_bytes`.
pub unsafe fn copy_rows(
    p: &Problem,
    (lines, strip): (&Lines, usize),
    data: *const u16,
    rows: Range<usize>,
    (to, row_bytes): (*mut u8, usize),
    level: Level,
) {
    let copy = copied(level);
    let [kh, kw] = p.window;
    let ([h, w], ow) = (p.input, p.output[1]);
    for (i, row) in rows.enumerate() {
        // SAFETY: the caller promises the row.
        let to = unsafe { to.add(i * row_bytes) }.cast::<u16>();
        let mut at = 0;
        if row < p.c * kh * kw {
            let (channel, ky, kx) = (row / (kh * kw), row / kw % kh, row % kw);
            // The columns of the output whose tap is in the data.
            let tap = kx * p.dilate[1];
            let first = p.pad[1].saturating_sub(tap).div_ceil(p.stride[1]).min(ow);
            let end = (w + p.pad[1]).saturating_sub(tap).div_ceil(p.stride[1]).clamp(first, ow);
            for [image, y] in lines.output_rows(strip) {
                let y = (y * p.stride[0] + ky * p.dilate[0]).checked_sub(p.pad[0]).filter(|y| *y < h);
                let inside = if y.is_some() { first..end } else { 0..0 };
                // SAFETY: `at + ow` positions fit into the strip. The columns `inside` are in the row `y` of the data.
                unsafe {
                    to.add(at).write_bytes(0, inside.start);
                    to.add(at + inside.end).write_bytes(0, ow - inside.end);
                    if let Some(y) = y {
                        let x = first * p.stride[1] + tap - p.pad[1].min(first * p.stride[1] + tap);
                        copy(&Run {
                            from: data.add(((image * p.c + channel) * h + y) * w + x.min(w - 1)),
                            to: to.add(at + first),
                            len: inside.len(),
                            stride: p.stride[1],
                        });
                    }
                }
                at += ow;
            }
        }
        // SAFETY: a row has the positions of a strip.
        unsafe { to.add(at).write_bytes(0, lines.strip_len() - at) }
    }
}
