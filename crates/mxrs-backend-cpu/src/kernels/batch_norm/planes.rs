//! Loops over planes, the runs of neighboring elements of one channel: their moments, their normalization, and the
//! gradient.

use super::{Factors, Pair};
use crate::chunks::{Compute, Storing, each};
use crate::kernels::rows::{LANES, Sum, add_pairs_to_lanes, join_lanes};
use crate::level::Loop;
use crate::number::Float;
use crate::stream::{AHEAD, prefetch};
use crate::tensors::{Sink, Source};
use std::ops::Range;

/// Number of elements that are summed in the type of the data before the sum is added in `f64`.
const PIECE: usize = 1024;

/// Combines the moments of planes of `inner` elements each: returns the mean, and the sum of squared distances from it. The
/// formula is that of Chan, Golub and LeVeque, Updating formulae and a pairwise algorithm for computing sample variances,
/// 1979.
pub fn joined(planes: impl Iterator<Item = Pair>, inner: usize) -> (f64, f64) {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for pair in planes {
        join((&mut count, &mut mean, &mut squares), inner as f64, pair);
    }
    (mean, squares)
}

/// Combines the moments of `n` more elements with those of `count` elements.
#[inline(always)]
pub fn join((count, mean, squares): (&mut f64, &mut f64, &mut f64), n: f64, [other, more]: Pair) {
    let (all, delta) = (*count + n, other - *mean);
    *mean += delta * (n / all);
    *squares += more + delta * delta * (*count * n / all);
    *count = all;
}

/// Prefetches the elements that are read [`AHEAD`] bytes after element `at` of a plane, which may be in the next plane.
#[inline(always)]
fn request<T>(plane: &[T], next: &[T], at: usize) {
    let soon = at + AHEAD / size_of::<T>();
    match soon.checked_sub(plane.len()) {
        None => prefetch(&plane[soon..(soon + PIECE).min(plane.len())]),
        Some(soon) => prefetch(&next[soon.min(next.len())..(soon + PIECE).min(next.len())]),
    }
}

/// Computes the mean of a plane and the sum of squared distances from it.
pub struct Moments<'a, T> {
    pub x: &'a [T],
    /// The plane that is read next.
    pub next: &'a [T],
}

impl<T: Float + 'static> Loop for Moments<'_, T> {
    type Output = Pair;
    #[inline(always)]
    fn run(self) -> Pair {
        let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
        for (i, piece) in self.x.chunks(PIECE).enumerate() {
            request(self.x, self.next, i * PIECE);
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
    /// The planes of both tensors that are read next.
    pub next: [&'a [T]; 2],
    pub mean: T,
}

impl<T: Float + 'static> Loop for Products<'_, T> {
    type Output = Pair;
    #[inline(always)]
    fn run(self) -> Pair {
        let mean = self.mean;
        let mut sums = [0.0; 2];
        for (i, (ograd, x)) in self.ograd.chunks(PIECE).zip(self.x.chunks(PIECE)).enumerate() {
            request(self.ograd, self.next[0], i * PIECE);
            request(self.x, self.next[1], i * PIECE);
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

/// Normalizes a plane.
pub struct Normalize<'a, 'b, T> {
    pub data: &'b Source<'a, T>,
    pub out: &'b Sink<'a, T>,
    /// The elements of the plane.
    pub at: Range<usize>,
    pub factors: &'b Factors<T>,
}

impl<T: Float> Loop for Normalize<'_, '_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: the caller gives this plane to this thread, and has summed its channel.
        unsafe { Storing::new(*self.out, self.at.clone(), self).finish() };
    }
}

impl<T: Float> Compute<T> for Normalize<'_, '_, T> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [T; N] {
        let Factors { mean, scale, shift, .. } = *self.factors;
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        let x = unsafe { self.data.chunk::<N>(at) };
        each(T::ZERO, |l| x[l].minus(mean).mul_add(scale, shift))
    }

    #[inline(always)]
    fn prefetch<const N: usize>(&self, at: usize) {
        if at < self.at.end {
            self.data.prefetch::<N>(at);
        }
    }
}

/// Computes the gradient of a plane.
pub struct Gradient<'a, 'b, T> {
    pub ograd: &'b Source<'a, T>,
    pub data: &'b Source<'a, T>,
    pub out: &'b Sink<'a, T>,
    /// The elements of the plane.
    pub at: Range<usize>,
    pub factors: &'b Factors<T>,
}

impl<T: Float> Loop for Gradient<'_, '_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: the caller gives this plane to this thread, and has summed its channel.
        unsafe { Storing::new(*self.out, self.at.clone(), self).finish() };
    }
}

impl<T: Float> Compute<T> for Gradient<'_, '_, T> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [T; N] {
        let Factors { mean, scale, shift, slope } = *self.factors;
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        let (g, x) = unsafe { (self.ograd.chunk::<N>(at), self.data.chunk::<N>(at)) };
        each(T::ZERO, |l| slope.negative().mul_add(x[l].minus(mean), g[l].minus(shift)).times(scale))
    }

    #[inline(always)]
    fn prefetch<const N: usize>(&self, at: usize) {
        if at < self.at.end {
            self.ograd.prefetch::<N>(at);
            self.data.prefetch::<N>(at);
        }
    }
}
