//! Loops over planes, the runs of neighboring elements of one channel: their moments, their normalization, and the
//! gradient.

use super::{Factors, Pair};
use crate::kernels::rows::{LANES, Sum, add_pairs_to_lanes, join_lanes};
use crate::level::Loop;
use crate::number::Float;

/// Number of elements that are summed in the type of the data.
const PIECE: usize = 1024;

/// Joins the moments of planes of `inner` elements each: returns the mean, and the sum of squared distances from it. The
/// formula is that of Chan, Golub and LeVeque, Updating formulae and a pairwise algorithm for computing sample variances, 1979.
pub fn joined(planes: impl Iterator<Item = Pair>, inner: usize) -> (f64, f64) {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for pair in planes {
        join((&mut count, &mut mean, &mut squares), inner as f64, pair);
    }
    (mean, squares)
}

#[inline(always)]
fn join((count, mean, squares): (&mut f64, &mut f64, &mut f64), n: f64, [other, more]: Pair) {
    let (all, delta) = (*count + n, other - *mean);
    *mean += delta * (n / all);
    *squares += more + delta * delta * (*count * n / all);
    *count = all;
}

/// Computes the mean of a plane and the sum of squared distances from it.
pub struct Moments<'a, T> {
    pub x: &'a [T],
}

impl<T: Float + 'static> Loop for Moments<'_, T> {
    type Output = Pair;
    #[inline(always)]
    fn run(self) -> Pair {
        let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
        for piece in self.x.chunks(PIECE) {
            let n = piece.len() as f64;
            let average = T::from_f64(in_lanes(piece, piece, |sum, x, _| sum.plus(x)) / n);
            let spread = in_lanes(piece, piece, |sum, x, _| {
                let distance = x.minus(average);
                distance.mul_add(distance, sum)
            });
            join((&mut count, &mut mean, &mut squares), n, [average.widen(), spread]);
        }
        [mean, squares]
    }
}

/// Computes the sum of a plane of the gradient, and the sum of its products with the distance of the data from the mean.
pub struct Products<'a, T> {
    pub ograd: &'a [T],
    pub x: &'a [T],
    pub mean: T,
}

impl<T: Float + 'static> Loop for Products<'_, T> {
    type Output = Pair;
    #[inline(always)]
    fn run(self) -> Pair {
        let mean = self.mean;
        let mut sums = [0.0; 2];
        for (ograd, x) in self.ograd.chunks(PIECE).zip(self.x.chunks(PIECE)) {
            sums[0] += in_lanes(ograd, x, |sum, g, _| sum.plus(g));
            sums[1] += in_lanes(ograd, x, |sum, g, x| g.mul_add(x.minus(mean), sum));
        }
        sums
    }
}

/// Adds up elements of two slices by `add`, in several sums that do not depend on each other.
#[inline(always)]
fn in_lanes<T: Float + 'static>(a: &[T], b: &[T], add: impl Fn(T, T, T) -> T) -> f64 {
    let mut sums = [T::ZERO; LANES];
    add_pairs_to_lanes(&mut sums, a, b, add);
    join_lanes::<T, Sum>(sums.map(T::widen))
}

/// Normalizes a piece of a plane.
pub struct Normalize<'a, T> {
    pub x: &'a [T],
    pub to: &'a mut [T],
    pub factors: &'a Factors<T>,
}

impl<T: Float> Loop for Normalize<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Factors { mean, scale, shift, .. } = *self.factors;
        self.to.iter_mut().zip(self.x).for_each(|(to, x)| *to = x.minus(mean).mul_add(scale, shift));
    }
}

/// Computes the gradient of a piece of a plane.
pub struct Gradient<'a, T> {
    pub ograd: &'a [T],
    pub x: &'a [T],
    pub to: &'a mut [T],
    pub factors: &'a Factors<T>,
}

impl<T: Float> Loop for Gradient<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Factors { mean, scale, shift, slope } = *self.factors;
        for ((to, g), x) in self.to.iter_mut().zip(self.ograd).zip(self.x) {
            *to = slope.negative().mul_add(x.minus(mean), g.minus(shift)).times(scale);
        }
    }
}
