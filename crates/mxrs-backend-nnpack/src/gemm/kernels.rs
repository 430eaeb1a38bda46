//! The product, once for all instruction sets and row counts.

use super::element::Element;
use super::lanes::Lanes;
use super::{MAX_ROWS, Product, row_groups};

/// Steps of a block: channels that lie together.
const BLOCK: usize = 16;
/// Values in a cache line.
const LINE: usize = 16;
/// Cache lines of one step of a whole panel of float32.
const LINES_OF_STEP: usize = 2;

/// `ROWS` rows from row `row` on, by `NV` registers of columns from column `column` on, of a panel `width` wide.
///
/// The panel holds numbers of `W`.
///
/// # Safety
/// As [`super::Gemm::run`], and the instructions of `L` must be there.
#[inline(always)]
unsafe fn rows_by_columns<L: Lanes, W: Element, const ROWS: usize, const NV: usize, const FETCH: bool>(
    p: &Product<'_>,
    row: usize,
    column: usize,
    width: usize,
) {
    // SAFETY: all addresses are those of the module's formula, for rows `row..row + ROWS` and columns `column..column + NV * N`.
    unsafe {
        let stride = p.a_row_stride;
        let mut b = p.b.cast::<W>().add(column);
        let mut acc = [[L::splat(0.0); NV]; ROWS];
        let (mut fetch, fetch_step) = if p.prefetch.is_null() { (p.b, 0) } else { (p.prefetch, LINE) };
        let (mut line, mut line_blocks) = if p.prefetch_lines.1 == 0 { (p.b, 0) } else { p.prefetch_lines };
        for &offset in p.a_offsets {
            let line_step = if line_blocks > 0 { LINE } else { 0 };
            line_blocks = line_blocks.saturating_sub(1);
            let mut a = p.a.add(offset + row * stride);
            for _ in 0..BLOCK {
                if FETCH {
                    for at in 0..LINES_OF_STEP * size_of::<W>() / size_of::<f32>() {
                        L::prefetch(fetch.wrapping_add(at * LINE));
                    }
                    L::prefetch(line);
                    fetch = fetch.wrapping_add(LINES_OF_STEP * size_of::<W>() / size_of::<f32>() * fetch_step);
                    line = line.wrapping_add(line_step);
                }
                let mut panel = [L::splat(0.0); NV];
                for v in 0..NV {
                    panel[v] = W::load(b.add(v * L::N));
                }
                for r in 0..ROWS {
                    let x = L::splat(*a.add(r * stride));
                    for v in 0..NV {
                        acc[r][v] = x.mul_add(panel[v], acc[r][v]);
                    }
                }
                a = a.add(1);
                b = b.add(width);
            }
        }
        let at = |r: usize, v: usize| {
            let column = column + v * L::N;
            (column / BLOCK) * p.c_half_stride + (row + r) * p.c_row_stride + column % BLOCK
        };
        if p.add {
            for r in 0..ROWS {
                for v in 0..NV {
                    acc[r][v] = acc[r][v].add(L::load(p.c.add(at(r, v))));
                }
            }
        }
        if let Some(finish) = p.finish {
            if !finish.sum.is_null() {
                for r in 0..ROWS {
                    for v in 0..NV {
                        acc[r][v] = acc[r][v].add(L::load(finish.sum.add(at(r, v))));
                    }
                }
            }
            if !finish.bias.is_null() {
                for v in 0..NV {
                    let bias = L::load(finish.bias.add(column + v * L::N));
                    for r in 0..ROWS {
                        acc[r][v] = acc[r][v].add(bias);
                    }
                }
            }
            let (lo, hi) = (L::splat(finish.lo), L::splat(finish.hi));
            for r in 0..ROWS {
                for v in 0..NV {
                    acc[r][v] = acc[r][v].clamp(lo, hi);
                }
            }
        }
        for r in 0..ROWS {
            for v in 0..NV {
                acc[r][v].store(p.c.add(at(r, v)));
            }
        }
    }
}

/// Any number of rows, at most `$most` at a time, by 16 columns at a time, two registers of `$lanes`.
macro_rules! in_parts {
    ($lanes:ty, $numbers:ty, $rows:expr, $whole:expr, $product:expr, [$($most:literal)+]) => {{
        let (p, width) = ($product, if $whole { 2 * BLOCK } else { BLOCK });
        for column in (0..width).step_by(BLOCK) {
            for (row, len) in row_groups($rows, [$($most),+].len()) {
                // SAFETY: the caller's promise.
                unsafe {
                    match (len, row == 0 && column == 0 && p.prefetches()) {
                        $(
                            ($most, false) => rows_by_columns::<$lanes, $numbers, $most, 2, false>(p, row, column, width),
                            ($most, true) => rows_by_columns::<$lanes, $numbers, $most, 2, true>(p, row, column, width),
                        )+
                        _ => unreachable!("groups have one row to the longest"),
                    }
                }
            }
        }
    }};
}

/// For any processor.
///
/// # Safety
/// As [`super::Gemm::run`].
pub(super) unsafe fn portable<W: Element>(rows: usize, whole: bool, product: &Product<'_>) {
    in_parts!(super::lanes::Plain, W, rows, whole, product, [1 2 3 4]);
}

/// With AVX2 and FMA: twelve of the sixteen registers hold sums.
///
/// # Safety
/// As [`super::Gemm::run`], and the processor has the instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn avx2<W: Element>(rows: usize, whole: bool, product: &Product<'_>) {
    in_parts!(std::arch::x86_64::__m256, W, rows, whole, product, [1 2 3 4 5 6]);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512_rows<W: Element, const ROWS: usize, const NV: usize, const FETCH: bool>(p: &Product<'_>) {
    // SAFETY: the caller's promise.
    unsafe { rows_by_columns::<std::arch::x86_64::__m512, W, ROWS, NV, FETCH>(p, 0, 0, NV * BLOCK) }
}

/// With AVX-512: 28 of the 32 registers hold sums.
///
/// # Safety
/// As [`super::Gemm::run`], and the processor has the instructions.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn avx512<W: Element>(rows: usize, whole: bool, product: &Product<'_>) {
    type Table = [unsafe fn(&Product<'_>); MAX_ROWS];
    macro_rules! table {
        ($nv:literal, $fetch:literal, [$($rows:literal)+]) => {
            const { &[$(avx512_rows::<W, $rows, $nv, $fetch> as unsafe fn(&Product<'_>)),+] as &Table }
        };
    }
    let table = match (whole, product.prefetches()) {
        (true, false) => table!(2, false, [1 2 3 4 5 6 7 8 9 10 11 12 13 14]),
        (true, true) => table!(2, true, [1 2 3 4 5 6 7 8 9 10 11 12 13 14]),
        (false, false) => table!(1, false, [1 2 3 4 5 6 7 8 9 10 11 12 13 14]),
        (false, true) => table!(1, true, [1 2 3 4 5 6 7 8 9 10 11 12 13 14]),
    };
    // SAFETY: the caller's promise.
    unsafe { table[rows - 1](product) }
}
