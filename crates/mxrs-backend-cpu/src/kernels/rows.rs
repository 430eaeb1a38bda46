//! Folds the elements of a slice into one value, in an order that does not depend on the width of the registers.

use crate::chunks::each;
use crate::level::{Level, Loop};
use crate::number::{Float, Number};
use crate::stream::{AHEAD, prefetch_at};

/// Number of partial results that a slice is folded into: element `i` goes into partial result `i % LANES`. It is large
/// enough to keep the widest registers busy.
pub const LANES: usize = 32;

/// A function that folds many values into one. `add` and `join` must be `#[inline(always)]`.
pub trait Fold<T>: Copy + Send + Sync + 'static {
    /// A partial result.
    type Part: bytemuck::Pod + Send + Sync;
    /// The result for zero elements.
    const EMPTY: Self::Part;
    /// Adds one element.
    fn add(part: Self::Part, x: T) -> Self::Part;
    /// Combines two partial results.
    fn join(a: Self::Part, b: Self::Part) -> Self::Part;
    /// Folds a row, and prefetches the elements after it, which are read next. Must be `#[inline(always)]`.
    #[inline(always)]
    fn row(row: &[T]) -> Self::Part
    where
        T: Copy,
    {
        let mut lanes = [Self::EMPTY; LANES];
        add_to_lanes_ahead(&mut lanes, row, Self::add);
        join_lanes::<T, Self>(lanes)
    }
}

/// The sum, in `f64` or `i64`.
#[derive(Clone, Copy)]
pub struct Sum;

impl<T: Number + 'static> Fold<T> for Sum {
    type Part = T::Wide;
    const EMPTY: T::Wide = T::WIDE_ZERO;
    #[inline(always)]
    fn add(part: T::Wide, x: T) -> T::Wide {
        T::wide_plus(part, x.widen())
    }
    #[inline(always)]
    fn join(a: T::Wide, b: T::Wide) -> T::Wide {
        T::wide_plus(a, b)
    }
}

/// The sum of the squares, in `f64`.
#[derive(Clone, Copy)]
pub struct SumOfSquares;

impl<T: Float + 'static> Fold<T> for SumOfSquares {
    type Part = f64;
    const EMPTY: f64 = 0.0;
    #[inline(always)]
    fn add(part: f64, x: T) -> f64 {
        // The square of an `f32` is exact in `f64`.
        x.widen().mul_add(x.widen(), part)
    }
    #[inline(always)]
    fn join(a: f64, b: f64) -> f64 {
        a + b
    }
}

/// Declares folds of wide values: the value of no elements, the value of one element, and how two values are combined.
macro_rules! wide_folds {
    ($($(#[$doc:meta])* $name:ident: $empty:ident, |$x:ident| $value:expr, $join:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name;

        impl<T: Number + 'static> Fold<T> for $name {
            type Part = T::Wide;
            const EMPTY: T::Wide = T::$empty;
            #[inline(always)]
            fn add(part: T::Wide, $x: T) -> T::Wide {
                T::$join(part, $value)
            }
            #[inline(always)]
            fn join(a: T::Wide, b: T::Wide) -> T::Wide {
                T::$join(a, b)
            }
        }
    )*};
}
wide_folds! {
    /// The sum of the absolute values.
    SumOfMagnitudes: WIDE_ZERO, |x| x.magnitude().widen(), wide_plus;
    /// The product.
    Product: WIDE_ONE, |x| x.widen(), wide_times;
    /// The sum of the elements that are not NaN.
    SumOfNumbers: WIDE_ZERO, |x| if x.is_nan() { T::WIDE_ZERO } else { x.widen() }, wide_plus;
    /// The product of the elements that are not NaN.
    ProductOfNumbers: WIDE_ONE, |x| if x.is_nan() { T::WIDE_ONE } else { x.widen() }, wide_times;
}

/// The smallest element; NaN if any element is NaN.
#[derive(Clone, Copy)]
pub struct Min;

impl<T: Number + 'static> Fold<T> for Min {
    type Part = T;
    const EMPTY: T = T::HIGHEST;
    #[inline(always)]
    fn add(part: T, x: T) -> T {
        x.smaller(part)
    }
    #[inline(always)]
    fn join(a: T, b: T) -> T {
        a.smaller(b)
    }
}

/// The largest element; NaN if any element is NaN.
#[derive(Clone, Copy)]
pub struct Max;

impl<T: Number + 'static> Fold<T> for Max {
    type Part = T;
    const EMPTY: T = T::LOWEST;
    #[inline(always)]
    fn add(part: T, x: T) -> T {
        x.larger(part)
    }
    #[inline(always)]
    fn join(a: T, b: T) -> T {
        a.larger(b)
    }
    #[inline(always)]
    fn row(row: &[T]) -> T {
        largest_or_nan(row)
    }
}

/// The largest element; NaN if any element is NaN. Prefetches the elements after the row, which are read next.
#[inline(always)]
pub fn largest_or_nan<T: Number>(row: &[T]) -> T {
    let (chunks, rest) = row.as_chunks::<LANES>();
    // The comparison ignores NaN, but a sum with NaN is NaN. The sum of infinities of both signs is NaN too, so if the sum
    // is NaN, the elements are compared again.
    let (mut largest, mut sums) = ([T::LOWEST; LANES], [T::ZERO; LANES]);
    for x in chunks {
        prefetch_at::<T, LANES>(x.as_ptr().wrapping_add(AHEAD / size_of::<T>().max(1)));
        for l in 0..LANES {
            largest[l] = if x[l] > largest[l] { x[l] } else { largest[l] };
            sums[l] = sums[l].plus(x[l]);
        }
    }
    let first = halve(largest, |a, b| if a > b { a } else { b });
    let sum = halve(sums, T::plus);
    let largest = rest.iter().fold(first, |largest, x| x.larger(largest));
    if sum.is_nan() { row.iter().fold(largest, |largest, x| x.larger(largest)) } else { largest }
}

/// The partial results of one slice, or of several slices that are folded into one value.
pub type Lanes<P> = [P; LANES];

struct FoldLoop<'a, T, F: Fold<T>>(&'a mut Lanes<F::Part>, &'a [T]);

impl<T: Copy, F: Fold<T>> Loop for FoldLoop<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        add_to_lanes(self.0, self.1, F::add);
    }
}

/// Adds each element of a slice to the partial result of its lane.
#[inline(always)]
pub fn add_to_lanes<T: Copy, P: Copy>(lanes: &mut Lanes<P>, row: &[T], add: impl Fn(P, T) -> P) {
    let (chunks, rest) = row.as_chunks::<LANES>();
    // The compiler keeps an array in registers only if all its indices are constants. So the rest of the row, whose length
    // varies, is added to the other array.
    let mut kept = *lanes;
    for chunk in chunks {
        for l in 0..LANES {
            kept[l] = add(kept[l], chunk[l]);
        }
    }
    *lanes = kept;
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane = add(*lane, *x);
    }
}

/// Does the same as [`add_to_lanes`], and prefetches the elements after the slice, which are read next.
#[inline(always)]
pub fn add_to_lanes_ahead<T: Copy, P: Copy>(lanes: &mut Lanes<P>, row: &[T], add: impl Fn(P, T) -> P) {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut kept = *lanes;
    for chunk in chunks {
        prefetch_at::<T, LANES>(chunk.as_ptr().wrapping_add(AHEAD / size_of::<T>().max(1)));
        for l in 0..LANES {
            kept[l] = add(kept[l], chunk[l]);
        }
    }
    *lanes = kept;
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane = add(*lane, *x);
    }
}

/// Adds each pair of elements of two slices of the same length to the partial result of its lane.
#[inline(always)]
pub fn add_pairs_to_lanes<T: Copy, P: Copy>(lanes: &mut Lanes<P>, a: &[T], b: &[T], add: impl Fn(P, T, T) -> P) {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut kept = *lanes;
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            kept[l] = add(kept[l], a[l], b[l]);
        }
    }
    *lanes = kept;
    for ((lane, a), b) in lanes.iter_mut().zip(a_rest).zip(b_rest) {
        *lane = add(*lane, *a, *b);
    }
}

struct AheadLoop<'a, T, F: Fold<T>>(&'a mut Lanes<F::Part>, &'a [T]);

impl<T: Copy, F: Fold<T>> Loop for AheadLoop<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        add_to_lanes_ahead(self.0, self.1, F::add);
    }
}

/// Does the same as [`fold_into`], and prefetches the elements after the slice, which are read next.
pub fn fold_ahead<T: Copy, F: Fold<T>>(level: Level, lanes: &mut Lanes<F::Part>, row: &[T]) {
    level.run(AheadLoop::<T, F>(lanes, row));
}

/// Folds a slice into partial results.
pub fn fold_into<T: Copy, F: Fold<T>>(level: Level, lanes: &mut Lanes<F::Part>, row: &[T]) {
    level.run(FoldLoop::<T, F>(lanes, row));
}

struct ColumnLoop<'a, T, F: Fold<T>>(&'a mut [F::Part], &'a [T]);

impl<T: Copy, F: Fold<T>> Loop for ColumnLoop<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (part, x) in self.0.iter_mut().zip(self.1) {
            *part = F::add(*part, *x);
        }
    }
}

/// Folds each element of a slice into the partial result at the same position.
pub fn fold_each<T: Copy, F: Fold<T>>(level: Level, parts: &mut [F::Part], row: &[T]) {
    level.run(ColumnLoop::<T, F>(parts, row));
}

struct FourLoop<'a, T, F: Fold<T>>(&'a mut [F::Part], [&'a [T]; 4]);

impl<T: Copy, F: Fold<T>> Loop for FourLoop<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(parts, [a, b, c, d]) = self;
        for ((part, (a, b)), (c, d)) in parts.iter_mut().zip(a.iter().zip(b)).zip(c.iter().zip(d)) {
            *part = F::add(F::add(F::add(F::add(*part, *a), *b), *c), *d);
        }
    }
}

/// Does the same as [`fold_each`] for four slices, one after the other.
pub fn fold_each_of_four<T: Copy, F: Fold<T>>(level: Level, parts: &mut [F::Part], rows: [&[T]; 4]) {
    level.run(FourLoop::<T, F>(parts, rows));
}

struct RowsLoop<'a, T, F: Fold<T>> {
    rows: &'a [T],
    size: usize,
    to: &'a mut [F::Part],
}

impl<T: Copy, F: Fold<T>> Loop for RowsLoop<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (to, row) in self.to.iter_mut().zip(self.rows.chunks_exact(self.size)) {
            *to = F::row(row);
        }
    }
}

/// Folds rows of `size` elements that follow each other, each into one result.
pub fn fold_rows<T: Copy, F: Fold<T>>(level: Level, rows: &[T], size: usize, to: &mut [F::Part]) {
    level.run(RowsLoop::<T, F> { rows, size, to });
}

/// Combines all partial results: adds one half of them to the other, and repeats this until one is left.
#[inline(always)]
pub fn join_lanes<T, F: Fold<T>>(lanes: Lanes<F::Part>) -> F::Part {
    halve(lanes, F::join)
}

/// Combines all partial results by `join`: one half of them with the other, and so on until one is left.
#[inline(always)]
pub fn halve<P: Copy>(lanes: Lanes<P>, join: impl Fn(P, P) -> P) -> P {
    // The arrays have constant sizes, so that the compiler vectorizes each step.
    halve_16(each(lanes[0], |l| join(lanes[l], lanes[l + LANES / 2])), join)
}

/// Does the same as [`halve`] for 16 partial results.
#[inline(always)]
pub fn halve_16<P: Copy>(lanes: [P; 16], join: impl Fn(P, P) -> P) -> P {
    let half: [P; 8] = each(lanes[0], |l| join(lanes[l], lanes[l + 8]));
    let quarter: [P; 4] = each(lanes[0], |l| join(half[l], half[l + 4]));
    join(join(quarter[0], quarter[2]), join(quarter[1], quarter[3]))
}
