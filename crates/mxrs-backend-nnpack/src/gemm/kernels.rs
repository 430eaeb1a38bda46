//! The kernel of the matrix product, written once for all instruction sets and numbers of rows.

use super::element::Element;
use super::lanes::Lanes;
use super::{MAX_ROWS, Product, row_groups};

/// Number of channels of a block, which are stored together.
const BLOCK: usize = 16;
/// Values in a cache line.
const LINE: usize = 16;
/// Number of cache lines of one row of a whole float32 panel: the weights of one channel.
const LINES_OF_STEP: usize = 2;

/// Adds one term to each sum of a product: multiplies each of `ROWS` values of `a`, `stride` apart, with `NV` registers
/// of values from `b` on, and adds the results to the sums `acc`.
///
/// # Safety
/// `a` must be readable at `r * stride` for `r < ROWS`, and `b` for `NV * L::N` values. The processor must have the
/// instructions of `L`.
#[inline(always)]
pub(crate) unsafe fn step<L: Lanes, W: Element, const ROWS: usize, const NV: usize>(
    a: *const f32,
    stride: usize,
    b: *const W,
    acc: &mut [[L; NV]; ROWS],
) {
    // SAFETY: the caller promises `b` for `NV * L::N` values and `a` at `r * stride` for `r < ROWS`; the loops keep
    // `v < NV` and `r < ROWS`.
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

/// Computes `ROWS` rows from row `row` on, by `NV` registers of columns from column `column` on. The panel is `width`
/// columns wide and holds values of `W`.
///
/// # Safety
/// The conditions of [`super::Gemm::run`] must hold, for these rows and columns. The processor must have the
/// instructions of `L`.
#[inline(always)]
unsafe fn rows_by_columns<L: Lanes, W: Element, const ROWS: usize, const NV: usize, const FETCH: bool>(
    p: &Product<'_>,
    row: usize,
    column: usize,
    width: usize,
) {
    // SAFETY: each of the 16 channels of a block advances `a` by one value and `b` by `width`, as in the formula of the
    // module, for rows `row..row + ROWS` and columns `column..column + NV * L::N`. Prefetches do not read.
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
        epilogue(p, acc, row, column);
    }
}

/// Computes one part of a product: `ROWS` rows by `NV` registers of columns. A product takes several parts if there are
/// few registers.
///
/// The loop does four channels at a time and prefetches the left operand one block ahead. Each part also prefetches its
/// share of the next panel: `part` is its index, `n_parts` the number of parts.
///
/// # Safety
/// The conditions of [`rows_by_columns`] must hold.
#[inline(always)]
unsafe fn part_of_rows<L: Lanes, W: Element, const ROWS: usize, const NV: usize>(
    p: &Product<'_>,
    (row, column): (usize, usize),
    width: usize,
    (part, n_parts): (usize, usize),
) {
    // SAFETY: each of the 16 channels of a block advances `a` by one value and `b` by `width`, as in the formula of the
    // module; the loop does four channels at a time. The caller promises these rows and columns. Prefetched addresses
    // are not read.
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
                // The four calls of `step` are written out, because the compiler would not unroll a loop by four.
                step(a, stride, b, &mut acc);
                step(a.add(1), stride, b.add(width), &mut acc);
                step(a.add(2), stride, b.add(2 * width), &mut acc);
                step(a.add(3), stride, b.add(3 * width), &mut acc);
                (a, b) = (a.add(4), b.add(4 * width));
            }
            line_blocks = line_blocks.saturating_sub(1);
        }
        epilogue(p, acc, row, column);
    }
}

/// Applies the epilogue to sums of products and writes them.
///
/// # Safety
/// The conditions of [`rows_by_columns`] must hold.
#[inline(always)]
unsafe fn epilogue<L: Lanes, const ROWS: usize, const NV: usize>(
    p: &Product<'_>,
    mut acc: [[L; NV]; ROWS],
    row: usize,
    column: usize,
) {
    // SAFETY: `at` is the index of row `row + r` and column `column + v * L::N` in the formula of the module, which the
    // caller promises; a register never crosses a multiple of 16 columns, because `L::N` divides 16.
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
        if let Some(epilogue) = p.epilogue {
            if !epilogue.sum.is_null() {
                for r in 0..ROWS {
                    for v in 0..NV {
                        acc[r][v] = acc[r][v].add(L::load(epilogue.sum.add(at(r, v))));
                    }
                }
            }
            if !epilogue.bias.is_null() {
                for v in 0..NV {
                    let bias = L::load(epilogue.bias.add(column + v * L::N));
                    for r in 0..ROWS {
                        acc[r][v] = acc[r][v].add(bias);
                    }
                }
            }
            let (lo, hi) = (L::splat(epilogue.lo), L::splat(epilogue.hi));
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

/// A function that computes some rows and columns of a product. After the product, its arguments are the first row and
/// column, the width of the panel, and the index and number of parts (see [`part_of_rows`]).
type PartKernel = unsafe fn(&Product<'_>, (usize, usize), usize, (usize, usize));

/// Computes any number of rows, at most `kernels.len()` at a time, by 16 columns at a time.
///
/// # Safety
/// The conditions of [`super::Gemm::run`] must hold, and the processor must have the instructions of the kernels.
#[inline(always)]
unsafe fn in_parts(kernels: &[PartKernel], rows: usize, whole: bool, product: &Product<'_>) {
    let width = if whole { 2 * BLOCK } else { BLOCK };
    let groups = row_groups(rows, kernels.len());
    let n_parts = rows.div_ceil(kernels.len()) * width / BLOCK;
    let columns = (0..width).step_by(BLOCK);
    let parts = columns.flat_map(|column| groups.clone().map(move |(row, len)| (row, len, column)));
    for (part, (row, len, column)) in parts.enumerate() {
        // SAFETY: `row_groups` keeps `row + len <= rows` and `len <= kernels.len()`, and `column + 16 <= width`. Kernel
        // `len - 1` computes `len` rows. The caller promises the product and the instructions.
        unsafe { kernels[len - 1](product, (row, column), width, (part, n_parts)) }
    }
}

/// The kernel for any processor.
///
/// # Safety
/// The conditions of [`super::Gemm::run`] must hold.
pub(super) unsafe fn portable<W: Element>(rows: usize, whole: bool, product: &Product<'_>) {
    macro_rules! kernels {
        ([$($rows:literal)+]) => {
            const { &[$(part_of_rows::<super::lanes::Plain, W, $rows, 2> as PartKernel),+] }
        };
    }
    // SAFETY: the contract of this function is that of `in_parts`; `Plain` needs no special instructions.
    unsafe { in_parts(kernels!([1 2 3 4]), rows, whole, product) }
}

// Each number of rows is compiled as a function of its own: one function for all of them would run out of registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2_rows<W: Element, const ROWS: usize>(
    p: &Product<'_>,
    at: (usize, usize),
    width: usize,
    part: (usize, usize),
) {
    // SAFETY: the contract of this function is that of `part_of_rows`, and this function is compiled for the
    // instructions of the register type.
    unsafe { part_of_rows::<std::arch::x86_64::__m256, W, ROWS, 2>(p, at, width, part) }
}

/// The kernel for AVX2 and FMA: twelve of the sixteen registers hold sums.
///
/// # Safety
/// The conditions of [`super::Gemm::run`] must hold, and the processor must have AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn avx2<W: Element>(rows: usize, whole: bool, product: &Product<'_>) {
    macro_rules! kernels {
        ([$($rows:literal)+]) => {
            const { &[$(avx2_rows::<W, $rows> as PartKernel),+] }
        };
    }
    // SAFETY: the contract of this function is that of `in_parts`, and the caller promises AVX2 and FMA.
    unsafe { in_parts(kernels!([1 2 3 4 5 6]), rows, whole, product) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512_rows<W: Element, const ROWS: usize, const NV: usize, const FETCH: bool>(p: &Product<'_>) {
    // SAFETY: the contract of this function is that of `rows_by_columns`, from the first row and column on.
    unsafe { rows_by_columns::<std::arch::x86_64::__m512, W, ROWS, NV, FETCH>(p, 0, 0, NV * BLOCK) }
}

/// The kernel for AVX-512: 28 of the 32 registers hold sums.
///
/// # Safety
/// The conditions of [`super::Gemm::run`] must hold, and the processor must have AVX-512F, AVX2 and FMA.
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
    // SAFETY: entry `rows - 1` computes `rows` rows of the product, for which the caller promises the operands and the
    // instructions. Indexing panics if `rows` is not 1 to `MAX_ROWS`.
    unsafe { table[rows - 1](product) }
}
