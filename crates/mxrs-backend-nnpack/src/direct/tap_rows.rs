//! The inner loop of [`taps`](super::taps): computes a few output pixels for a panel of output channels, one tap of the
//! window at a time.

use crate::gemm::kernels::step;
use crate::gemm::lanes::Lanes;
use crate::gemm::{MAX_ROWS, ProductEpilogue, row_groups};
use crate::layouts::BLOCK;
use mxrs_processor::{Isa, Set};

/// Operands for neighboring pixels of an output row. Strides and offsets are numbers of values.
#[derive(Clone, Copy)]
pub struct TapRows<'a> {
    /// The input value under the first tap of the first pixel.
    pub a: *const f32,
    /// The offset of the input value under each tap from the value under the first tap.
    pub offsets: &'a [usize],
    /// Distance from the input values of one pixel to those of the next pixel.
    pub a_row_stride: usize,
    /// The panel of weights, 32 or 16 values per tap.
    pub b: *const f32,
    /// The first pixel's output.
    pub c: *mut f32,
    /// Distance from the first 16 output channels to the other 16.
    pub c_half_stride: usize,
    /// The operations that are applied to the sums.
    pub epilogue: ProductEpilogue,
}

/// Computes 1 to [`MAX_ROWS`] pixels by 32 channels, or by 16 if the second argument is false.
///
/// For each pixel and tap it reads `a[offset + pixel * a_row_stride]`; it also reads the whole panel, the bias, and the
/// sum at the indices of the output. All of this must be readable. The output must be writable, and no other thread may
/// use it.
pub type TapKernel = unsafe fn(usize, bool, &TapRows<'_>);

/// Returns the kernel for this instruction set and this stride of the convolution across the image.
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

/// Computes `ROWS` pixels from `row` on, by `NV` registers of channels from `column` on. If `STRIDE` is 0, the stride
/// is that of the operands.
///
/// # Safety
/// The conditions of [`TapKernel`] must hold, for these pixels and channels. The processor must have the instructions
/// of `L`.
#[inline(always)]
unsafe fn pixels<L: Lanes, const ROWS: usize, const NV: usize, const STRIDE: usize>(
    p: &TapRows<'_>,
    row: usize,
    column: usize,
    width: usize,
) {
    let stride = if STRIDE == 0 { p.a_row_stride } else { STRIDE };
    // SAFETY: the caller's contract covers the pixels `row..row + ROWS`, all offsets, and `NV * L::N` channels from
    // `column` on in panel, bias, sum and output. `b` advances by `width` values, one row of the panel, per tap.
    unsafe {
        let first = p.a.add(row * stride);
        let mut b = p.b.add(column);
        let mut acc = [[L::splat(0.0); NV]; ROWS];
        for &offset in p.offsets {
            step(first.add(offset), stride, b, &mut acc);
            b = b.add(width);
        }
        let f = &p.epilogue;
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

/// Computes any number of pixels by `width` channels: a group of pixels by 16 channels at a time. The 16 channels fill
/// two registers. `$most` lists the possible lengths of a group, from 1 up.
macro_rules! in_parts {
    ($lanes:ty, $rows:expr, $whole:expr, $p:expr, [$($most:literal)+]) => {{
        let width = if $whole { 2 * BLOCK } else { BLOCK };
        for column in (0..width).step_by(BLOCK) {
            for (row, len) in row_groups($rows, [$($most),+].len()) {
                // SAFETY: `row_groups` keeps `row + len <= rows`, and `column + BLOCK <= width`. The contract of
                // `TapKernel` covers `rows` pixels by `width` channels.
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
/// The conditions of [`TapKernel`] must hold.
unsafe fn portable(rows: usize, whole: bool, p: &TapRows<'_>) {
    in_parts!(crate::gemm::lanes::Plain, rows, whole, p, [1 2 3 4]);
}

/// # Safety
/// The conditions of [`TapKernel`] must hold, and the processor must have AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2(rows: usize, whole: bool, p: &TapRows<'_>) {
    in_parts!(std::arch::x86_64::__m256, rows, whole, p, [1 2 3 4 5 6]);
}

/// # Safety
/// The conditions of [`TapKernel`] must hold, for `ROWS` pixels and `NV * 16` channels. The processor must have
/// AVX-512F, AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512_pixels<const ROWS: usize, const NV: usize, const STRIDE: usize>(p: &TapRows<'_>) {
    // SAFETY: the contract of this function is that of `pixels`, from the first row and channel on.
    unsafe { pixels::<std::arch::x86_64::__m512, ROWS, NV, STRIDE>(p, 0, 0, NV * BLOCK) }
}

/// # Safety
/// The conditions of [`TapKernel`] must hold, and the processor must have AVX-512F, AVX2 and FMA.
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
    // SAFETY: entry `rows - 1` computes `rows` pixels, for which the caller promises the operands and the instructions.
    // Indexing panics if `rows` is not 1 to `MAX_ROWS`.
    unsafe { table[rows - 1](p) }
}
