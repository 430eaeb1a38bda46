//! The order in which the frequencies of a tile are stored, and the complex spectrum of a pair of rows of real numbers.
//!
//! The transform down the columns turns a tile into `N` rows: first those of the frequencies 0 and `N/2`, which are
//! real, then for each other frequency a pair of rows, its real and its imaginary parts. Each of the first two rows has
//! two real and `N/2 - 1` complex frequencies. A pair of rows `a` and `b` is transformed as two lines of real numbers.
//! The spectrum `Z` of `a + ib`, which has `N` complex frequencies, follows from the spectra `A` and `B` of these
//! lines:
//!
//! ```text
//! Z_0 = A_0 + i B_0      Z_(N/2) = A_(N/2) + i B_(N/2)      Z_k = A_k + i B_k      Z_(N-k) = conj(A_k) + i conj(B_k)
//! ```
//!
//! The frequencies are stored in this order: the real ones, row by row; the complex ones of the first two rows; those
//! of each pair of rows, in the order 0, `N/2`, 1, `N - 1`, 2, `N - 2`, …

use super::real::{Line, each_pair};
use crate::gemm::lanes::Lanes;
use crate::tiles::Factors;

/// Number of real frequencies of a tile.
pub(super) const REAL: usize = 4;

/// The numbers of real and of complex frequencies of a tile with `n` inputs along each axis.
pub(super) fn factors(n: usize) -> Factors {
    Factors { real: REAL, complex: (n / 2 - 1) * (n + 2) }
}

/// Returns the index, among the complex frequencies, of frequency `k` (at least 1) of one of the first two rows.
#[inline(always)]
pub(super) fn of_row(n: usize, row: usize, k: usize) -> usize {
    row * (n / 2 - 1) + k - 1
}

/// Returns the index, among the complex frequencies, of the first frequency of a pair of rows. `p` (at least 1) is the
/// pair's vertical frequency.
#[inline(always)]
pub(super) fn of_pair(n: usize, p: usize) -> usize {
    n - 2 + (p - 1) * n
}

/// Computes real and imaginary parts of the complex frequencies of a pair of rows from the spectra of the two rows.
///
/// # Safety
/// Must be called from code compiled for the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn join<L: Lanes, const N: usize>(a: &Line<L>, b: &Line<L>) -> (Line<L>, Line<L>) {
    let (mut re, mut im) = (*a, *b);
    // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe {
        each_pair!(less in 0..N / 2 - 1, {
            let (r, i) = (2 * less + 2, 2 * less + 3);
            (re[r], im[r]) = (a[r].sub(b[i]), a[i].add(b[r]));
            (re[i], im[i]) = (a[r].add(b[i]), b[r].sub(a[i]));
        });
    }
    (re, im)
}

/// Computes the spectra of the two rows of a pair from its complex frequencies. Except for the frequencies 0 and `N/2`,
/// the results are twice the spectra.
///
/// # Safety
/// The conditions of [`join`] must hold.
#[inline(always)]
pub(super) unsafe fn split<L: Lanes, const N: usize>(re: &Line<L>, im: &Line<L>) -> (Line<L>, Line<L>) {
    let (mut a, mut b) = (*re, *im);
    // SAFETY: these operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe {
        each_pair!(less in 0..N / 2 - 1, {
            let (r, i) = (2 * less + 2, 2 * less + 3);
            (a[r], a[i]) = (re[r].add(re[i]), im[r].sub(im[i]));
            (b[r], b[i]) = (im[r].add(im[i]), re[i].sub(re[r]));
        });
    }
    (a, b)
}
