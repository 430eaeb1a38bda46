//! Transform of the products to outputs: a row of tiles of one channel block at a time, first along its rows into a small buffer, then
//! down its columns into the image, where bias, sum and bounds are applied.

use super::pairs::{self, REAL};
use super::real::{self, MAX_N, each, each_pair};
use crate::gemm::lanes::Lanes;
use crate::tiles::BLOCK;
use crate::tiles::strip::{BUFFER_STRIDE, Outputs};

/// Transforms tiles of `N` by `N`.
///
/// # Safety
/// Called from code compiled for the instructions of `L`; the addresses are valid for what [`Outputs`] says, and nobody else uses what
/// is written.
#[inline(always)]
pub(super) unsafe fn transform<L: Lanes, const N: usize>(t: &Outputs<'_>) {
    // SAFETY: the caller's promise; only rows and columns inside the image are touched.
    unsafe {
        for tile in 0..t.len {
            for lane in (0..BLOCK).step_by(L::N) {
                let from = t.products.add(tile * BLOCK + lane);
                let to = t.buffer.add(tile * t.m[1] * BLOCK + lane);
                for row in 0..2 {
                    let mut x = [L::splat(0.0); MAX_N];
                    x[0] = L::load(from.add(2 * row * t.plane));
                    x[1] = L::load(from.add((2 * row + 1) * t.plane));
                    each_pair!(less in 0..N / 2 - 1, {
                        let from = from.add((REAL + 2 * pairs::of_row(N, row, less + 1)) * t.plane);
                        (x[2 * less + 2], x[2 * less + 3]) = (L::load(from), L::load(from.add(t.plane)));
                    });
                    along::<L, N>(&x, to.add(row * BUFFER_STRIDE), t.m[1]);
                }
                for p in 1..N / 2 {
                    let from = from.add((REAL + 2 * pairs::of_pair(N, p)) * t.plane);
                    let (mut re, mut im) = ([L::splat(0.0); MAX_N], [L::splat(0.0); MAX_N]);
                    each!(j in 0..N, {
                        re[j] = L::load(from.add(2 * j * t.plane));
                        im[j] = L::load(from.add((2 * j + 1) * t.plane));
                    });
                    let (a, b) = pairs::split::<L, N>(&re, &im);
                    along::<L, N>(&a, to.add(2 * p * BUFFER_STRIDE), t.m[1]);
                    along::<L, N>(&b, to.add((2 * p + 1) * BUFFER_STRIDE), t.m[1]);
                }
            }
        }
        if t.sum.is_null() { down_columns::<L, N, false>(t) } else { down_columns::<L, N, true>(t) }
    }
}

/// A row's outputs from its spectrum, to the buffer: the first `m` of them.
///
/// # Safety
/// As [`transform`].
#[inline(always)]
unsafe fn along<L: Lanes, const N: usize>(x: &real::Line<L>, to: *mut f32, m: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let y = real::inverse::<L, N>(x);
        each!(j in 0..N, {
            if j < m {
                y[j].store(to.add(j * BLOCK));
            }
        });
    }
}

/// The second half.
///
/// # Safety
/// As [`transform`].
#[inline(always)]
unsafe fn down_columns<L: Lanes, const N: usize, const SUM: bool>(t: &Outputs<'_>) {
    let ([rows, columns], step) = (t.inside, t.steps[0]);
    let (dst, sum) = (t.dst.cast::<f32>(), t.sum.cast::<f32>());
    // SAFETY: the caller's promise.
    unsafe {
        for lane in (0..BLOCK).step_by(L::N) {
            let bias = L::load(t.finish.bias.as_ptr().add(lane));
            let (lo, hi) = (L::load(t.finish.lo.as_ptr().add(lane)), L::load(t.finish.hi.as_ptr().add(lane)));
            for at in (0..columns).map(|x| x * BLOCK + lane) {
                let mut x = [L::splat(0.0); MAX_N];
                each!(i in 0..N, {
                    x[i] = L::load(t.buffer.add(i * BUFFER_STRIDE + at));
                });
                let y = real::inverse::<L, N>(&x);
                each!(i in 0..N, {
                    if i < rows {
                        let mut y = y[i].add(bias);
                        if SUM {
                            y = y.add(L::load(sum.add(i * step + at)));
                        }
                        y.clamp(lo, hi).store(dst.add(i * step + at));
                    }
                });
            }
        }
    }
}
