//! Sums over pixels of products of the channels of two tensors, in which all gradients of weights spend most of their
//! time.
//!
//! ```text
//! to[r * to_row + col] = (old value, or 0) + sum over runs and i in 0..len of
//!                        g[run.g + 16 * i + r] * x[(col / 16) * x_half + run.x + x_step * i + col % 16]
//! ```
//!
//! Both operands are read in place, in blocks of 16 channels: 16 channels of one by 32 (or 16) channels of the other,
//! whose sums stay in registers over all runs. Values are summed in the order of the runs, so the bits of the results
//! depend on this order alone.

use crate::dispatch::for_each_set;
use crate::gemm::lanes::Lanes;
use crate::layouts::BLOCK;
use mxrs_processor::Isa;

/// Number of columns (channels of the data) of a whole tile of sums.
pub const COLUMNS: usize = 32;

/// Number of addresses from which memory is prefetched at a time.
pub const FETCHED: usize = 3;

/// A run of neighboring pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Index of the first pixel's value in the gradient.
    pub g: usize,
    /// Index of the first pixel's value in the data.
    pub x: usize,
    /// Number of pixels.
    pub len: usize,
}

/// Operands of one tile of sums: 16 channels of the gradient by 32 (or 16) channels of the data.
#[derive(Clone, Copy, Debug)]
pub struct Sums<'a> {
    /// A block of 16 channels of the gradient.
    pub g: *const f32,
    /// A block of 16 channels of the data.
    pub x: *const f32,
    /// Distance from the block at `x` to the next block of channels.
    pub x_half: usize,
    /// Distance from one pixel of the data to the next.
    pub x_step: usize,
    /// The pixels to sum over.
    pub runs: &'a [Run],
    /// Number of channels of the gradient that are computed, at most 16. All 16 may be written.
    pub rows: usize,
    /// Address to which the sums are written.
    pub to: *mut f32,
    /// Distance from the sums of one channel of the gradient to those of the next.
    pub to_row: usize,
    /// Whether the sums are added to the old values.
    pub add: bool,
    /// Starts of memory to prefetch into the second-level cache, 64 bytes per pixel. Null for none. The addresses are
    /// never read, so they may point anywhere.
    pub fetch: [*const f32; FETCHED],
}

/// The kernels that compute a tile of sums: 32 columns, or 16 if the tile is not whole.
#[derive(Clone, Copy)]
pub struct Outer {
    whole: unsafe fn(&Sums<'_>),
    half: unsafe fn(&Sums<'_>),
}

impl Outer {
    /// The kernels for this instruction set.
    pub fn new(isa: Isa) -> Self {
        Self { whole: whole_for(isa), half: half_for(isa) }
    }

    /// Computes a tile of sums.
    ///
    /// # Safety
    /// All addresses that the formula of the module reads must be readable, and all 16 rows of the sums writable.
    /// During the call no other thread may use the sums or write the operands.
    #[inline]
    pub unsafe fn run(&self, is_whole: bool, sums: &Sums<'_>) {
        // SAFETY: the contract of this function is that of the kernel, and `new` chose the kernels for an `Isa`, which
        // only exists if the processor has its instructions.
        unsafe { if is_whole { (self.whole)(sums) } else { (self.half)(sums) } }
    }
}

for_each_set! {
    fn whole_for: unsafe fn(sums: &Sums<'_>) = whole
}

for_each_set! {
    fn half_for: unsafe fn(sums: &Sums<'_>) = half
}

/// # Safety
/// The conditions of [`Outer::run`] must hold, and the processor must have the instructions of `L`.
#[inline(always)]
unsafe fn whole<L: Lanes>(sums: &Sums<'_>) {
    // SAFETY: the caller promises a tile of `COLUMNS` columns and the instructions of `L`.
    unsafe {
        if L::N == BLOCK {
            tiles::<L, 8, 2>(sums, COLUMNS);
        } else {
            tiles::<L, 4, 2>(sums, COLUMNS);
        }
    }
}

/// # Safety
/// The conditions of [`whole`] must hold.
#[inline(always)]
unsafe fn half<L: Lanes>(sums: &Sums<'_>) {
    // SAFETY: the caller promises a tile of `BLOCK` columns and the instructions of `L`.
    unsafe {
        if L::N == BLOCK {
            tiles::<L, 16, 1>(sums, BLOCK);
        } else {
            tiles::<L, 4, 2>(sums, BLOCK);
        }
    }
}

#[inline(always)]
unsafe fn tiles<L: Lanes, const ROWS: usize, const NV: usize>(sums: &Sums<'_>, columns: usize) {
    for column in (0..columns).step_by(NV * L::N) {
        for row in (0..sums.rows).step_by(ROWS) {
            let fetches = row + column == 0 && sums.fetch.iter().any(|at| !at.is_null());
            // SAFETY: `column + NV * L::N <= columns`, and `row + ROWS <= 16`, because `row < 16` is a multiple of
            // `ROWS`, which divides 16.
            unsafe {
                if fetches {
                    tile::<L, ROWS, NV, true>(sums, row, column);
                } else {
                    tile::<L, ROWS, NV, false>(sums, row, column);
                }
            }
        }
    }
}

/// Computes `ROWS` rows from `row` on, by `NV` registers of columns from `column` on.
///
/// # Safety
/// The conditions of [`Outer::run`] must hold, for these rows and columns.
#[inline(always)]
unsafe fn tile<L: Lanes, const ROWS: usize, const NV: usize, const FETCH: bool>(
    s: &Sums<'_>,
    row: usize,
    column: usize,
) {
    // SAFETY: `g` and `x` advance by one pixel per step, as in the formula of the module, for rows `row..row + ROWS`
    // and columns `column..column + NV * L::N`; the caller promises that these addresses are valid. Prefetches do not
    // read.
    unsafe {
        let mut acc = [[L::splat(0.0); NV]; ROWS];
        let at = |v: usize| {
            let column = column + v * L::N;
            (column / BLOCK) * s.x_half + column % BLOCK
        };
        // If nothing is to be prefetched, the address stays at a line that is already cached.
        let mut fetch = s.fetch.map(|at| if at.is_null() { (s.g, 0) } else { (at, BLOCK) });
        for run in s.runs {
            let (mut g, mut x) = (s.g.add(run.g + row), s.x.add(run.x));
            for _ in 0..run.len {
                if FETCH {
                    for (at, step) in &mut fetch {
                        L::prefetch(*at);
                        *at = at.wrapping_add(*step);
                    }
                }
                let mut data = [L::splat(0.0); NV];
                for v in 0..NV {
                    data[v] = L::load(x.add(at(v)));
                }
                for r in 0..ROWS {
                    let by = L::splat(*g.add(r));
                    for v in 0..NV {
                        acc[r][v] = by.mul_add(data[v], acc[r][v]);
                    }
                }
                g = g.wrapping_add(BLOCK);
                x = x.wrapping_add(s.x_step);
            }
        }
        let to = s.to.add(row * s.to_row + column);
        for r in 0..ROWS {
            for v in 0..NV {
                let to = to.add(r * s.to_row + v * L::N);
                let sum = if s.add { acc[r][v].add(L::load(to)) } else { acc[r][v] };
                sum.store(to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiles::cases::numbers;

    #[test]
    fn sums_are_those_of_the_formula_on_every_instruction_set() {
        let (g, x) = (numbers(16 * 40, 1), numbers(16 * 200, 2));
        let runs = [Run { g: 0, x: 32, len: 7 }, Run { g: 160, x: 0, len: 1 }, Run { g: 320, x: 480, len: 20 }];
        for (isa, is_whole, add) in Isa::available()
            .into_iter()
            .flat_map(|isa| [(isa, false, false), (isa, false, true), (isa, true, false), (isa, true, true)])
        {
            let columns = if is_whole { COLUMNS } else { BLOCK };
            let (x_half, x_step, to_row) = (1600, 32, 48);
            let mut to = numbers(16 * to_row, 3);
            let before = to.clone();
            let sums = Sums {
                g: g.as_ptr(),
                x: x.as_ptr(),
                x_half,
                x_step,
                runs: &runs,
                rows: 16,
                to: to.as_mut_ptr(),
                to_row,
                add,
                fetch: [g.as_ptr(), std::ptr::null(), x.as_ptr()],
            };
            // SAFETY: the runs end below 40 pixels in `g`, and below 200 * 16 values in `x` including `x_half`; `to`
            // has 16 rows of `to_row` values. Only this test uses the vectors.
            unsafe { Outer::new(isa).run(is_whole, &sums) }
            for (at, got) in to.iter().enumerate() {
                let (r, col) = (at / to_row, at % to_row);
                if col >= columns {
                    assert_eq!(*got, before[at], "behind the tile");
                    continue;
                }
                let mut want = if add { f64::from(before[at]) } else { 0.0 };
                for run in &runs {
                    for i in 0..run.len {
                        let x = x[(col / 16) * x_half + run.x + x_step * i + col % 16];
                        want += f64::from(g[run.g + 16 * i + r]) * f64::from(x);
                    }
                }
                assert!((f64::from(*got) - want).abs() < 1e-5, "{} row {r} column {col}: {got} {want}", isa.name());
            }
        }
    }
}
