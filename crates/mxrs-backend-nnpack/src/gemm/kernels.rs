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

/// One step of a product: adds to `ROWS` by `NV` sums what a number of each row, `stride` apart from `a` on, makes with `NV`
/// registers of numbers from `b` on.
///
/// # Safety
/// All of these can be read, and the instructions of `L` must be there.
#[inline(always)]
pub(crate) unsafe fn step<L: Lanes, W: Element, const ROWS: usize, const NV: usize>(
    a: *const f32,
    stride: usize,
    b: *const W,
    acc: &mut [[L; NV]; ROWS],
) {
    // SAFETY: the caller's promise.
    unsafe {
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
    }
}

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
                step(a, stride, b, &mut acc);
                a = a.add(1);
                b = b.add(width);
            }
        }
        finish(p, acc, row, column);
    }
}

/// Sums of some rows and columns, one of several parts of a product: where the registers are few, a product takes several.
///
/// Steps go by fours, the left operand is asked for a block ahead, and every part brings its share of what is wanted next:
/// `part` is its number, and how many there are.
///
/// # Safety
/// As [`rows_by_columns`].
#[inline(always)]
unsafe fn part_of_rows<L: Lanes, W: Element, const ROWS: usize, const NV: usize>(
    p: &Product<'_>,
    (row, column): (usize, usize),
    width: usize,
    (part, n_parts): (usize, usize),
) {
    // SAFETY: as in `rows_by_columns`; what is prefetched is not read.
    unsafe {
        let stride = p.a_row_stride;
        let mut b = p.b.cast::<W>().add(column);
        let mut acc = [[L::splat(0.0); NV]; ROWS];
        let lines_of_four = 4 * LINES_OF_STEP * size_of::<W>() / size_of::<f32>();
        let lines = if p.prefetch.is_null() { 0 } else { lines_of_four.div_ceil(n_parts) };
        let mut fetch = p.prefetch.wrapping_add(part * lines * p.a_offsets.len() * (BLOCK / 4) * LINE);
        let (mut line, mut line_blocks) = p.prefetch_lines;
        if part > 0 {
            line_blocks = 0;
        }
        for (i, &offset) in p.a_offsets.iter().enumerate() {
            let mut a = p.a.add(offset + row * stride);
            let next = p.a_offsets[(i + 1).min(p.a_offsets.len() - 1)];
            for r in 0..ROWS {
                L::prefetch_near(p.a.add(next + (row + r) * stride));
            }
            for _ in 0..BLOCK / 4 {
                for at in 0..lines {
                    L::prefetch(fetch.wrapping_add(at * LINE));
                }
                fetch = fetch.wrapping_add(lines * LINE);
                if line_blocks > 0 {
                    for at in 0..4 {
                        L::prefetch(line.wrapping_add(at * LINE));
                    }
                    line = line.wrapping_add(4 * LINE);
                }
                // Written out: the compiler would not take four steps at a time.
                step(a, stride, b, &mut acc);
                step(a.add(1), stride, b.add(width), &mut acc);
                step(a.add(2), stride, b.add(2 * width), &mut acc);
                step(a.add(3), stride, b.add(3 * width), &mut acc);
                (a, b) = (a.add(4), b.add(4 * width));
            }
            line_blocks = line_blocks.saturating_sub(1);
        }
        finish(p, acc, row, column);
    }
}

/// Adds what belongs to sums of products, and writes them.
///
/// # Safety
/// As [`rows_by_columns`].
#[inline(always)]
unsafe fn finish<L: Lanes, const ROWS: usize, const NV: usize>(
    p: &Product<'_>,
    mut acc: [[L; NV]; ROWS],
    row: usize,
    column: usize,
) {
    // SAFETY: as in `rows_by_columns`.
    unsafe {
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

/// Some rows and columns of a product, which part that is, and how many there are: see [`part_of_rows`].
type PartKernel = unsafe fn(&Product<'_>, (usize, usize), usize, (usize, usize));

/// Any number of rows, as many at a time as there are kernels, by 16 columns at a time.
///
/// # Safety
/// As [`super::Gemm::run`], and the processor has the instructions of the kernels.
#[inline(always)]
unsafe fn in_parts(kernels: &[PartKernel], rows: usize, whole: bool, product: &Product<'_>) {
    let width = if whole { 2 * BLOCK } else { BLOCK };
    let groups = row_groups(rows, kernels.len());
    let n_parts = rows.div_ceil(kernels.len()) * width / BLOCK;
    let columns = (0..width).step_by(BLOCK);
    let parts = columns.flat_map(|column| groups.clone().map(move |(row, len)| (row, len, column)));
    for (part, (row, len, column)) in parts.enumerate() {
        // SAFETY: the caller's promise.
        unsafe { kernels[len - 1](product, (row, column), width, (part, n_parts)) }
    }
}

/// For any processor.
///
/// # Safety
/// As [`super::Gemm::run`].
pub(super) unsafe fn portable<W: Element>(rows: usize, whole: bool, product: &Product<'_>) {
    macro_rules! kernels {
        ([$($rows:literal)+]) => {
            const { &[$(part_of_rows::<super::lanes::Plain, W, $rows, 2> as PartKernel),+] }
        };
    }
    // SAFETY: the caller's promise.
    unsafe { in_parts(kernels!([1 2 3 4]), rows, whole, product) }
}

// A function for each number of rows: together they would leave each other no registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2_rows<W: Element, const ROWS: usize>(
    p: &Product<'_>,
    at: (usize, usize),
    width: usize,
    part: (usize, usize),
) {
    // SAFETY: the caller's promise.
    unsafe { part_of_rows::<std::arch::x86_64::__m256, W, ROWS, 2>(p, at, width, part) }
}

/// With AVX2 and FMA: twelve of the sixteen registers hold sums.
///
/// # Safety
/// As [`super::Gemm::run`], and the processor has the instructions.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn avx2<W: Element>(rows: usize, whole: bool, product: &Product<'_>) {
    macro_rules! kernels {
        ([$($rows:literal)+]) => {
            const { &[$(avx2_rows::<W, $rows> as PartKernel),+] }
        };
    }
    // SAFETY: the caller's promise.
    unsafe { in_parts(kernels!([1 2 3 4 5 6]), rows, whole, product) }
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
