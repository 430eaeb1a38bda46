//! The transform of the products to outputs. It processes a row of tiles of one channel block at a time. First it
//! transforms the rows and stores the results in a small buffer. Then it transforms the columns, applies bias, sum and
//! bounds, and writes the outputs to the image.

use super::pairs::{self, REAL};
use super::real::{self, MAX_N, each, each_pair};
use crate::gemm::lanes::Lanes;
use crate::tiles::BLOCK;
use crate::tiles::strip::{BUFFER_STRIDE, Outputs};

/// Transforms the products of tiles of `N` by `N` to outputs.
///
/// # Safety
/// Must be called from code compiled for the instructions of `L`. The fields of `t` must be as [`Outputs`] says, with
/// all columns of the tiles within the buffer, and no other thread may use the output and the buffer.
#[inline(always)]
pub(super) unsafe fn transform<L: Lanes, const N: usize>(t: &Outputs<'_>) {
    // SAFETY: the planes read are below `REAL + 2 * complex`, the number of planes of the products, and each holds
    // `len` tiles of `BLOCK` values. Row `i < N` of the buffer gets `m[1]` pixels per tile.
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

/// Computes a row's outputs from its spectrum and writes the first `m` of them to the buffer.
///
/// # Safety
/// `to` must be writable for `m` pixels; the processor must have the instructions of `L`.
#[inline(always)]
unsafe fn along<L: Lanes, const N: usize>(x: &real::Line<L>, to: *mut f32, m: usize) {
    // SAFETY: `j < m` limits the stores to the `m` pixels that the caller promises. The caller is compiled for the
    // instructions of `L`.
    unsafe {
        let y = real::inverse::<L, N>(x);
        each!(j in 0..N, {
            if j < m {
                y[j].store(to.add(j * BLOCK));
            }
        });
    }
}

/// Transforms down the columns, from the buffer to the image.
///
/// # Safety
/// The conditions of [`transform`] must hold.
#[inline(always)]
unsafe fn down_columns<L: Lanes, const N: usize, const SUM: bool>(t: &Outputs<'_>) {
    let ([rows, columns], step) = (t.inside, t.steps[0]);
    let (dst, sum) = (t.dst.cast::<f32>(), t.sum.cast::<f32>());
    // SAFETY: `i < rows` and `at / BLOCK < columns` keep output and sum inside the image, as `Outputs::inside` says.
    // `transform` has filled at least `columns` pixels of all `N` rows of the buffer.
    unsafe {
        for lane in (0..BLOCK).step_by(L::N) {
            let bias = L::load(t.epilogue.bias.as_ptr().add(lane));
            let (lo, hi) = (L::load(t.epilogue.lo.as_ptr().add(lane)), L::load(t.epilogue.hi.as_ptr().add(lane)));
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
