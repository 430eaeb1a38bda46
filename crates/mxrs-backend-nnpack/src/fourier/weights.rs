//! Transforms filters to their frequencies: the spectrum of a filter, divided by the constant by which the inverse
//! transform multiplies its results.

use super::pairs::{self, REAL};
use super::real::MAX_N;
use crate::gemm::PANEL;
use crate::tiles::pack::{Columns, MAX_TAPS, Taps, Transform, sum};
use std::f64::consts::TAU;

/// The matrix that transforms lines of taps: `[N][taps]`, in the order of [`super::real`].
pub(super) struct Waves(Vec<[f64; MAX_TAPS]>);

impl Waves {
    /// Makes the matrix for tiles with `n` inputs along each axis.
    pub fn new(n: usize) -> Self {
        let wave = |row: usize| {
            let (k, f): (usize, fn(f64) -> f64) = match row {
                0 => (0, f64::cos),
                1 => (n / 2, f64::cos),
                _ => (row / 2, if row.is_multiple_of(2) { f64::cos } else { f64::sin }),
            };
            // Whole turns are removed first, so that multiples of a quarter turn are exact.
            std::array::from_fn(|x| f(TAU * (k * x % n) as f64 / n as f64))
        };
        Self((0..n).map(wave).collect())
    }
}

impl Transform for Waves {
    #[inline(always)]
    fn factors(&self, taps: &Taps, [kh, kw]: [usize; 2], mut put: impl FnMut(usize, usize, &Columns)) {
        let Self(waves) = self;
        let n = waves.len();
        let whole = 1.0 / (n * n) as f64;
        let mut half = [[[0.0; PANEL]; MAX_N]; MAX_TAPS];
        for (taps, half) in taps.iter().zip(&mut half).take(kh) {
            for (wave, to) in waves.iter().zip(half) {
                *to = sum(&wave[..kw], |x| &taps[x]);
            }
        }
        // Value `j` of row `i` of the filter's spectrum.
        let at = |i: usize, j: usize| sum(&waves[i][..kh], |y| &half[y][j]);
        for row in 0..2 {
            for j in 0..n {
                let values = scaled(whole, &at(row, j));
                if j < 2 {
                    put(2 * row + j, 0, &values);
                } else {
                    put(REAL + pairs::of_row(n, row, j / 2), j % 2, &values);
                }
            }
        }
        for p in 1..n / 2 {
            let first = REAL + pairs::of_pair(n, p);
            for j in 0..2 {
                put(first + j, 0, &scaled(whole, &at(2 * p, j)));
                put(first + j, 1, &scaled(whole, &at(2 * p + 1, j)));
            }
            for k in 1..n / 2 {
                let (ar, ai) = (at(2 * p, 2 * k), at(2 * p, 2 * k + 1));
                let (br, bi) = (at(2 * p + 1, 2 * k), at(2 * p + 1, 2 * k + 1));
                // The inverse transform doubles these frequencies, so they are halved here.
                let half = whole / 2.0;
                put(first + 2 * k, 0, &combined(half, &ar, -half, &bi));
                put(first + 2 * k, 1, &combined(half, &ai, half, &br));
                put(first + 2 * k + 1, 0, &combined(half, &ar, half, &bi));
                put(first + 2 * k + 1, 1, &combined(half, &br, -half, &ai));
            }
        }
    }
}

#[inline(always)]
fn scaled(by: f64, x: &Columns) -> Columns {
    sum(&[by], |_| x)
}

#[inline(always)]
fn combined(by: f64, x: &Columns, other_by: f64, other: &Columns) -> Columns {
    sum(&[by, other_by], |i| if i == 0 { x } else { other })
}
