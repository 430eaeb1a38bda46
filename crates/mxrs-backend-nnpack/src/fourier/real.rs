//! The transform of 8 or 16 real numbers along one axis, on registers. It recurses by halves, and the compiler unrolls
//! it.
//!
//! ```text
//! forward   X_k = sum over n of x_n e^(2 pi i k n / N)
//! inverse   x_n = sum over k of X_k e^(-2 pi i k n / N)        (N times the numbers before the forward transform)
//! ```
//!
//! The spectrum of a real line needs only `X_0` to `X_(N/2)`, of which the first and the last are real. They are stored
//! as `[X_0, X_(N/2), re X_1, im X_1, re X_2, ...]`. The numbers with even and with odd index are transformed
//! separately and combined: `X_k = E_k + w^k O_k` and `X_(N/2-k) = conj(E_k - w^k O_k)`.

use crate::gemm::lanes::Lanes;
use crate::winograd::unrolled;
use std::f64::consts::FRAC_1_SQRT_2;

/// Length of the longest line.
pub(super) const MAX_N: usize = 16;

/// A tile's values along one axis, of which the first `N` are used.
pub(super) type Line<L> = [L; MAX_N];

/// The cosines of 0 to 4 sixteenths of a turn.
const COSINES: [f64; 5] = [1.0, 0.923_879_532_511_286_7, FRAC_1_SQRT_2, 0.382_683_432_365_089_8, 0.0];

/// An unrolled loop over `$i in 0..$n`, for `$n` at most [`MAX_N`].
macro_rules! each {
    ($i:ident in 0..$n:expr, $body:block) => {
        $crate::winograd::unrolled!($i, $n, $body, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15])
    };
}
pub(super) use each;

/// An unrolled loop over `$i in 0..$n`, for the `N / 2 - 1` complex values of a spectrum.
macro_rules! each_pair {
    ($i:ident in 0..$n:expr, $body:block) => {
        $crate::winograd::unrolled!($i, $n, $body, [0 1 2 3 4 5 6])
    };
}
pub(super) use each_pair;

/// Computes the spectrum of `N` numbers from the spectra of the numbers with even and with odd index.
#[inline(always)]
unsafe fn join<L: Lanes, const N: usize>(even: &Line<L>, odd: &Line<L>) -> Line<L> {
    let mut out = *even;
    // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe {
        out[0] = even[0].add(odd[0]);
        out[1] = even[0].sub(odd[0]);
        if N >= 4 {
            (out[N / 2], out[N / 2 + 1]) = (even[1], odd[1]);
        }
        unrolled!(less, (N / 4).saturating_sub(1), {
            let k = less + 1;
            let (er, ei, or, oi) = (even[2 * k], even[2 * k + 1], odd[2 * k], odd[2 * k + 1]);
            let (cos, sin) = (COSINES[k * 16 / N], COSINES[4 - k * 16 / N]);
            let other = N / 2 - k;
            if cos == sin {
                let (by, difference) = (L::splat(cos as f32), or.sub(oi));
                let ti = or.add(oi).mul(by);
                (out[2 * k], out[2 * k + 1]) = (difference.mul_add(by, er), ei.add(ti));
                (out[2 * other], out[2 * other + 1]) = (difference.neg_mul_add(by, er), ti.sub(ei));
            } else {
                let (cos, sin) = (L::splat(cos as f32), L::splat(sin as f32));
                let (tr, ti) = (oi.neg_mul_add(sin, or.mul(cos)), oi.mul_add(cos, or.mul(sin)));
                (out[2 * k], out[2 * k + 1]) = (er.add(tr), ei.add(ti));
                (out[2 * other], out[2 * other + 1]) = (er.sub(tr), ti.sub(ei));
            }
        }, [0 1 2]);
    }
    out
}

/// Computes the spectra of the numbers with even and with odd index, times two, from the spectrum of all `N` numbers.
#[inline(always)]
unsafe fn split<L: Lanes, const N: usize>(x: &Line<L>) -> (Line<L>, Line<L>) {
    let (mut even, mut odd) = (*x, *x);
    // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe {
        (even[0], odd[0]) = (x[0].add(x[1]), x[0].sub(x[1]));
        if N >= 4 {
            (even[1], odd[1]) = (x[N / 2].add(x[N / 2]), x[N / 2 + 1].add(x[N / 2 + 1]));
        }
        unrolled!(less, (N / 4).saturating_sub(1), {
            let k = less + 1;
            let other = N / 2 - k;
            let (ar, ai, br, bi) = (x[2 * k], x[2 * k + 1], x[2 * other], x[2 * other + 1]);
            (even[2 * k], even[2 * k + 1]) = (ar.add(br), ai.sub(bi));
            let (dr, di) = (ar.sub(br), ai.add(bi));
            let (cos, sin) = (COSINES[k * 16 / N], COSINES[4 - k * 16 / N]);
            (odd[2 * k], odd[2 * k + 1]) = if cos == sin {
                let by = L::splat(cos as f32);
                (dr.add(di).mul(by), di.sub(dr).mul(by))
            } else {
                let (cos, sin) = (L::splat(cos as f32), L::splat(sin as f32));
                (di.mul_add(sin, dr.mul(cos)), dr.neg_mul_add(sin, di.mul(cos)))
            };
        }, [0 1 2]);
    }
    (even, odd)
}

macro_rules! halves {
    ($forward:ident, $inverse:ident, $n:literal, $half_forward:ident, $half_inverse:ident) => {
        /// Transforms the numbers at the indices `first`, `first + step`, … to their spectrum.
        #[inline(always)]
        unsafe fn $forward<L: Lanes>(x: &Line<L>, first: usize, step: usize) -> Line<L> {
            // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
            unsafe {
                let even = $half_forward(x, first, 2 * step);
                join::<L, $n>(&even, &$half_forward(x, first + step, 2 * step))
            }
        }
        /// Transforms a spectrum back to the numbers at the indices `first`, `first + step`, …
        #[inline(always)]
        unsafe fn $inverse<L: Lanes>(x: &Line<L>, out: &mut Line<L>, first: usize, step: usize) {
            // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
            unsafe {
                let (even, odd) = split::<L, $n>(x);
                $half_inverse(&even, out, first, 2 * step);
                $half_inverse(&odd, out, first + step, 2 * step);
            }
        }
    };
}
halves!(forward_2, inverse_2, 2, forward_1, inverse_1);
halves!(forward_4, inverse_4, 4, forward_2, inverse_2);
halves!(forward_8, inverse_8, 8, forward_4, inverse_4);
halves!(forward_16, inverse_16, 16, forward_8, inverse_8);

/// A single number is its own spectrum.
#[inline(always)]
unsafe fn forward_1<L: Lanes>(x: &Line<L>, first: usize, _: usize) -> Line<L> {
    [x[first]; MAX_N]
}

/// The inverse of [`forward_1`].
#[inline(always)]
unsafe fn inverse_1<L: Lanes>(x: &Line<L>, out: &mut Line<L>, first: usize, _: usize) {
    out[first] = x[0];
}

/// Transforms `N` (8 or 16) numbers to their spectrum.
///
/// # Safety
/// Must be called from code compiled for the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn forward<L: Lanes, const N: usize>(x: &Line<L>) -> Line<L> {
    // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe { if N == 8 { forward_8(x, 0, 1) } else { forward_16(x, 0, 1) } }
}

/// Transforms a spectrum back to `N` (8 or 16) numbers, `N` times as large.
///
/// # Safety
/// The conditions of [`forward`] must hold.
#[inline(always)]
pub(super) unsafe fn inverse<L: Lanes, const N: usize>(x: &Line<L>) -> Line<L> {
    let mut out = *x;
    // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe { if N == 8 { inverse_8(x, &mut out, 0, 1) } else { inverse_16(x, &mut out, 0, 1) } }
    out
}
