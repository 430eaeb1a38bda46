//! The one-dimensional transforms of inputs and of products, on registers. They are generic over the points at which
//! polynomials are evaluated (`points`). The points are constants, so the compiler unrolls their loops.

use super::points::{MAX_N, MAX_PAIRS, Points};
use crate::gemm::lanes::Lanes;

/// An unrolled loop over `$i in 0..$n` or `1..$n`, for `$n` at most [`MAX_N`]. `$i` is a constant in each round.
macro_rules! unrolled {
    ($i:ident in 0..$n:expr, $body:block) => {
        $crate::winograd::unrolled!($i, $n, $body, [0 1 2 3 4 5 6 7 8])
    };
    ($i:ident in 1..$n:expr, $body:block) => {
        $crate::winograd::unrolled!($i, $n, $body, [1 2 3 4 5 6 7 8])
    };
    ($i:ident, $n:expr, $body:block, [$($k:literal)+]) => {$(
        if $k < $n {
            let $i: usize = $k;
            $body
        }
    )+};
}
pub(crate) use unrolled;

/// A tile's values along one axis, of which the first `N` or `M` are used.
pub(super) type Line<L> = [L; MAX_N];

/// Computes `x * by + z`, without the multiplication if `by` is ±1.
#[inline(always)]
unsafe fn times_plus<L: Lanes>(x: L, by: f64, z: L) -> L {
    // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe {
        match by {
            1.0 => z.add(x),
            -1.0 => z.sub(x),
            by if by < 0.0 => x.neg_mul_add(L::splat(-by as f32), z),
            by => x.mul_add(L::splat(by as f32), z),
        }
    }
}

/// Computes `Σ coefficients[k] * d[first + 2k]` for `k` in `0..=degree`; the last coefficient is 1.
#[inline(always)]
unsafe fn even<L: Lanes>(d: &Line<L>, first: usize, coefficients: &[f64; MAX_PAIRS + 1], degree: usize) -> L {
    let mut sum = d[first + 2 * degree];
    unrolled!(back in 0..degree, {
        let k = degree - 1 - back;
        // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
        sum = unsafe { times_plus(d[first + 2 * k], coefficients[k], sum) };
    });
    sum
}

/// Transforms `N` inputs to the `N` values that are multiplied by weights.
///
/// # Safety
/// Must be called from code compiled for the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn input<L: Lanes, P: Points>(d: &Line<L>) -> Line<L> {
    let (z, pairs) = (usize::from(P::ZERO), P::PAIRS.len());
    let mut out = *d;
    // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe {
        if P::ZERO {
            out[0] = even(d, 0, &P::ALL, pairs);
        }
        unrolled!(i in 0..pairs, {
            let (x, one) = (even(d, z + 1, &P::WITHOUT[i], pairs - 1), even(d, z, &P::WITHOUT[i], pairs - 1));
            out[z + 2 * i] = times_plus(one, P::PAIRS[i], x);
            out[z + 2 * i + 1] = times_plus(one, -P::PAIRS[i], x);
        });
        if P::INFINITY {
            out[z + 2 * pairs] = even(d, z, &P::ALL, pairs);
        }
    }
    out
}

/// Transforms `N` products to `M` outputs.
///
/// # Safety
/// Must be called from code compiled for the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn output<L: Lanes, P: Points>(m: &Line<L>) -> Line<L> {
    let (z, pairs) = (usize::from(P::ZERO), P::PAIRS.len());
    let (mut sums, mut differences, mut out) = (*m, *m, *m);
    // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe {
        unrolled!(i in 0..pairs, {
            let (plus, minus) = (m[z + 2 * i], m[z + 2 * i + 1]);
            sums[i] = plus.add(minus);
            differences[i] = plus.sub(minus);
        });
        unrolled!(y in 0..P::M, {
            let parts = if y.is_multiple_of(2) { &sums } else { &differences };
            let mut have = match () {
                () if y == 0 && P::ZERO => Some(m[0]),
                () if y == P::M - 1 && P::INFINITY => Some(m[z + 2 * pairs]),
                () => None,
            };
            unrolled!(i in 0..pairs, {
                let power = P::POWERS[y][i];
                have = Some(match have {
                    Some(sum) => times_plus(parts[i], power, sum),
                    None if power == 1.0 => parts[i],
                    None => parts[i].mul(L::splat(power as f32)),
                });
            });
            if let Some(sum) = have {
                out[y] = sum;
            }
        });
    }
    out
}

/// Transforms the gradients of `M` outputs to those of `N` products: [`output`] transposed.
///
/// # Safety
/// Must be called from code compiled for the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn spread<L: Lanes, P: Points>(y: &Line<L>) -> Line<L> {
    let (z, pairs) = (usize::from(P::ZERO), P::PAIRS.len());
    let mut out = *y;
    // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe {
        if P::ZERO {
            out[0] = y[0];
        }
        unrolled!(i in 0..pairs, {
            // The part of the result that both points `±a` of a pair share, and the part that has opposite signs.
            let (mut even, mut odd) = (y[0], L::splat(0.0));
            unrolled!(at in 1..P::M, {
                if at.is_multiple_of(2) {
                    even = times_plus(y[at], P::POWERS[at][i], even);
                } else {
                    odd = times_plus(y[at], P::POWERS[at][i], odd);
                }
            });
            out[z + 2 * i] = even.add(odd);
            out[z + 2 * i + 1] = even.sub(odd);
        });
        if P::INFINITY {
            out[z + 2 * pairs] = y[P::M - 1];
        }
    }
    out
}
