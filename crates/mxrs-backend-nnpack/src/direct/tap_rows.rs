//! The inner loop of [`taps`](super::taps): a few pixels by a panel of output channels, a step per cell of the window.

use crate::gemm::kernels::step;
use crate::gemm::lanes::Lanes;
use crate::gemm::{Finish, MAX_ROWS, row_groups};
use crate::isa::{Isa, Set};
use crate::layouts::BLOCK;

/// Operands of pixels that follow each other in an output row. Strides and offsets count numbers.
#[derive(Clone, Copy)]
pub struct TapRows<'a> {
    /// The first cell that the first pixel sees.
    pub a: *const f32,
    /// Where each cell is, from the first one.
    pub offsets: &'a [usize],
    /// From one pixel's cells to the next one's.
    pub a_row_stride: usize,
    /// The panel, 32 or 16 numbers per cell.
    pub b: *const f32,
    /// The first pixel's output.
    pub c: *mut f32,
    /// From the first 16 channels of the output to the others.
    pub c_half_stride: usize,
    /// What becomes of the sums.
    pub finish: Finish,
}

/// Computes this many pixels (1 to [`MAX_ROWS`]) by 32 channels, or 16 if not whole.
///
/// It reads, for each pixel and cell, `a[offset + pixel * a_row_stride]`, all of the panel, the bias, and the sum where the output is;
/// all that must be readable, the output writable and nobody else's.
pub type TapKernel = unsafe fn(usize, bool, &TapRows<'_>);

/// The kernel of these instructions for pixels at this distance.
pub fn tap_kernel(isa: Isa, stride: usize) -> TapKernel {
    match isa.set() {
        Set::Portable => portable,
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => avx2,
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => match stride {
            1 => avx512::<1>,
            2 => avx512::<2>,
            4 => avx512::<4>,
            _ => avx512::<0>,
        },
    }
}

/// `ROWS` pixels from `row` on, by `NV` registers of channels from `column` on. A `STRIDE` of 0 is one known at run time.
///
/// # Safety
/// As [`TapKernel`], and the instructions of `L` must be there.
#[inline(always)]
unsafe fn pixels<L: Lanes, const ROWS: usize, const NV: usize, const STRIDE: usize>(
    p: &TapRows<'_>,
    row: usize,
    column: usize,
    width: usize,
) {
    let stride = if STRIDE == 0 { p.a_row_stride } else { STRIDE };
    // SAFETY: addresses as the caller guarantees them, for pixels `row..row + ROWS` and channels from `column` on.
    unsafe {
        let first = p.a.add(row * stride);
        let mut b = p.b.add(column);
        let mut acc = [[L::splat(0.0); NV]; ROWS];
        for &offset in p.offsets {
            step(first.add(offset), stride, b, &mut acc);
            b = b.add(width);
        }
        let f = &p.finish;
        let (lo, hi) = (L::splat(f.lo), L::splat(f.hi));
        for v in 0..NV {
            let column = column + v * L::N;
            let bias = L::load(f.bias.add(column));
            for r in 0..ROWS {
                let at = (column / BLOCK) * p.c_half_stride + (row + r) * BLOCK + column % BLOCK;
                let mut x = acc[r][v].add(bias);
                if !f.sum.is_null() {
                    x = x.add(L::load(f.sum.add(at)));
                }
                x.clamp(lo, hi).store(p.c.add(at));
            }
        }
    }
}

/// Any number of pixels, at most so many at a time, by 16 channels at a time in two registers.
macro_rules! in_parts {
    ($lanes:ty, $rows:expr, $whole:expr, $p:expr, [$($most:literal)+]) => {{
        let width = if $whole { 2 * BLOCK } else { BLOCK };
        for column in (0..width).step_by(BLOCK) {
            for (row, len) in row_groups($rows, [$($most),+].len()) {
                // SAFETY: the caller's promise.
                unsafe {
                    match len {
                        $($most => pixels::<$lanes, $most, 2, 0>($p, row, column, width),)+
                        _ => unreachable!("groups have one row to the longest"),
                    }
                }
            }
        }
    }};
}

/// # Safety
/// As [`TapKernel`].
unsafe fn portable(rows: usize, whole: bool, p: &TapRows<'_>) {
    in_parts!(crate::gemm::lanes::Plain, rows, whole, p, [1 2 3 4]);
}

/// # Safety
/// As [`TapKernel`], on a processor with these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2(rows: usize, whole: bool, p: &TapRows<'_>) {
    in_parts!(std::arch::x86_64::__m256, rows, whole, p, [1 2 3 4 5 6]);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512_pixels<const ROWS: usize, const NV: usize, const STRIDE: usize>(p: &TapRows<'_>) {
    // SAFETY: the caller's promise.
    unsafe { pixels::<std::arch::x86_64::__m512, ROWS, NV, STRIDE>(p, 0, 0, NV * BLOCK) }
}

/// # Safety
/// As [`TapKernel`], on a processor with these instructions.
#[cfg(target_arch = "x86_64")]
unsafe fn avx512<const STRIDE: usize>(rows: usize, whole: bool, p: &TapRows<'_>) {
    macro_rules! table {
        ($nv:literal, [$($rows:literal)+]) => {
            [$(avx512_pixels::<$rows, $nv, STRIDE>),+]
        };
    }
    let table: [unsafe fn(&TapRows<'_>); MAX_ROWS] = if whole {
        table!(2, [1 2 3 4 5 6 7 8 9 10 11 12 13 14])
    } else {
        table!(1, [1 2 3 4 5 6 7 8 9 10 11 12 13 14])
    };
    // SAFETY: the caller's promise.
    unsafe { table[rows - 1](p) }
}
