//! Batch normalization of short planes, which are one element each if the channels are the last axis. The data is a matrix:
//! a row has one plane of each channel, a column is an element of a plane.
//!
//! Sums of columns are made in `f64` over blocks of rows, whose size depends only on the shape. The first element of a channel
//! is subtracted from the others before they are squared, so that a mean far from 0 costs no digits.

use super::{Factors, Pair, Problem};
use crate::level::Loop;
use crate::number::Float;
use crate::split::in_ranges;
use crate::tensors::{Scratch, Sink, Source};
use mxrs_op::KernelArgs;
use std::ops::Range;

/// A block has this many rows at most.
const MOST_ROWS: usize = 512;
/// The rows are cut into about this many blocks if there are enough of them.
const BLOCKS: usize = 128;
/// A block has this many rows at least.
const FEWEST_ROWS: usize = 16;

impl Problem {
    /// Number of columns.
    fn width(&self) -> usize {
        self.channels * self.inner
    }

    fn rows_per_block(&self) -> usize {
        (self.outer / BLOCKS).clamp(FEWEST_ROWS, MOST_ROWS)
    }

    fn n_blocks(&self) -> usize {
        self.outer.div_ceil(self.rows_per_block())
    }
}

/// Bytes of scratch memory: two sums of each column for each block.
pub fn scratch_bytes(p: &Problem) -> usize {
    p.n_blocks() * p.width() * size_of::<Pair>()
}

/// Normalizes the data. `factors` computes the factors of a channel from its mean and sum of squared distances, or from the
/// moving statistics.
pub fn forward<T: Float>(
    args: &KernelArgs<'_>,
    p: &Problem,
    (data, out): (&Source<'_, T>, &Sink<'_, T>),
    factors: &dyn Fn(usize, Option<(f64, f64)>) -> Factors<T>,
) {
    // SAFETY: only the output, which is written last, may be in the memory of the data.
    let elements = |range: Range<usize>| unsafe { data.slice(range) };
    let all: Vec<Factors<T>> = if p.uses_batch {
        // SAFETY: as above.
        let origin = |channel: usize| unsafe { data.at(channel * p.inner).widen() };
        let origins = by_column(p, (0..p.channels).map(origin));
        let sums = sums(args, p, &|range, sums| {
            let x = elements(range);
            p.level.run(Distances { x, origins: &origins, sums });
        });
        let moments = |(channel, [sum, squares]): (usize, &Pair)| {
            let mean = sum / p.count();
            let squares = squares - sum * mean;
            // Rounding may make it slightly negative; NaN stays NaN.
            (origins[channel * p.inner] + mean, if squares < 0.0 { 0.0 } else { squares })
        };
        sums.iter().enumerate().map(|at| factors(at.0, Some(moments(at)))).collect()
    } else {
        (0..p.channels).map(|channel| factors(channel, None)).collect()
    };
    let all = Columns::of(p, &all);
    write(args, p, out, &|piece, column, to| {
        p.level.run(Normalize { x: elements(piece), factors: &all, column, to });
    });
}

/// Computes the gradient. `factors` computes the factors of a channel from the sum of its gradients, and the sum of their
/// products with the distance of the data from the mean.
pub fn backward<T: Float>(
    args: &KernelArgs<'_>,
    p: &Problem,
    (ograd, data, mean, out): (&Source<'_, T>, &Source<'_, T>, &Source<'_, T>, &Sink<'_, T>),
    factors: &dyn Fn(usize, Pair) -> Factors<T>,
) {
    // SAFETY: only the output, which is written last, may be in the memory of an input.
    let elements = |range: Range<usize>| unsafe { (ograd.slice(range.clone()), data.slice(range)) };
    // SAFETY: as above.
    let means = by_column(p, (0..p.channels).map(|channel| unsafe { mean.at(channel).widen() }));
    let sums = sums(args, p, &|range, sums| {
        let (ograd, x) = elements(range);
        p.level.run(Products { ograd, x, means: &means, sums });
    });
    let all: Vec<Factors<T>> = sums.iter().enumerate().map(|(channel, sums)| factors(channel, *sums)).collect();
    let all = Columns::of(p, &all);
    write(args, p, out, &|piece, column, to| {
        let (ograd, x) = elements(piece);
        p.level.run(Gradient { ograd, x, factors: &all, column, to });
    });
}

/// The value of each column, from the value of each channel.
fn by_column<V: Copy>(p: &Problem, of_channels: impl Iterator<Item = V>) -> Vec<V> {
    of_channels.flat_map(|value| std::iter::repeat_n(value, p.inner)).collect()
}

/// The factors of each column.
struct Columns<T> {
    mean: Vec<T>,
    scale: Vec<T>,
    shift: Vec<T>,
    slope: Vec<T>,
}

impl<T: Float> Columns<T> {
    fn of(p: &Problem, of_channels: &[Factors<T>]) -> Self {
        let column = |of: fn(&Factors<T>) -> T| by_column(p, of_channels.iter().map(of));
        Self {
            mean: column(|f| f.mean),
            scale: column(|f| f.scale),
            shift: column(|f| f.shift),
            slope: column(|f| f.slope),
        }
    }
}

/// Two sums of each column.
struct Sums<'a> {
    first: &'a mut [f64],
    second: &'a mut [f64],
}

/// Two sums of each channel. `add` adds the elements in a range, which are whole rows, to the sums of the columns.
fn sums(args: &KernelArgs<'_>, p: &Problem, add: &(dyn Fn(Range<usize>, Sums<'_>) + Sync)) -> Vec<Pair> {
    let (width, rows) = (p.width(), p.rows_per_block());
    let all = Scratch::<f64>::of(args, 0, 2 * p.n_blocks() * width);
    in_ranges(args.team, p.n_blocks(), 2 * rows * width, &|blocks| {
        for block in blocks {
            // SAFETY: `in_ranges` gives each block to one thread.
            let sums = unsafe { all.slice(2 * block * width..2 * (block + 1) * width) };
            sums.fill(0.0);
            let (first, second) = sums.split_at_mut(width);
            add(block * rows * width..((block + 1) * rows).min(p.outer) * width, Sums { first, second });
        }
    });
    let mut of_channels = vec![[0.0; 2]; p.channels];
    // SAFETY: the team has finished.
    let all = unsafe { all.written().slice(0..2 * p.n_blocks() * width) };
    for (i, columns) in all.chunks_exact(width.max(1)).enumerate() {
        for (sums, columns) in of_channels.iter_mut().zip(columns.chunks_exact(p.inner)) {
            columns.iter().for_each(|sum| sums[i % 2] += sum);
        }
    }
    of_channels
}

/// Computes a piece of the output: its elements, the column of the first one, and the piece.
type Fill<'a, T> = dyn Fn(Range<usize>, usize, &mut [T]) + Sync + 'a;

/// Writes all elements.
fn write<T: Float>(args: &KernelArgs<'_>, p: &Problem, out: &Sink<'_, T>, fill: &Fill<'_, T>) {
    let width = p.width();
    in_ranges(args.team, p.outer, 2 * width, &|rows| {
        // SAFETY: `in_ranges` gives each row to one thread, and `fill` reads each piece before it is written.
        unsafe {
            out.write(rows.start * width..rows.end * width, |piece, to| {
                let column = piece.start % width.max(1);
                fill(piece, column, to);
            });
        }
    });
}

/// Adds the distances of the elements from the origins of their columns, and the squares of the distances, to the sums.
struct Distances<'a, T> {
    x: &'a [T],
    origins: &'a [f64],
    sums: Sums<'a>,
}

impl<T: Float> Loop for Distances<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for row in self.x.chunks_exact(self.origins.len()) {
            add_row(row, row, self.origins, self.sums.first, self.sums.second, |x, _, origin| {
                let distance = x.widen() - origin;
                (distance, distance)
            });
        }
    }
}

/// Adds the gradients, and their products with the distances of the elements from the means, to the sums.
struct Products<'a, T> {
    ograd: &'a [T],
    x: &'a [T],
    means: &'a [f64],
    sums: Sums<'a>,
}

impl<T: Float> Loop for Products<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let width = self.means.len();
        for (ograd, row) in self.ograd.chunks_exact(width).zip(self.x.chunks_exact(width)) {
            let terms = |x: T, g: T, mean: f64| (g.widen(), x.widen() - mean);
            add_row(row, ograd, self.means, self.sums.first, self.sums.second, terms);
        }
    }
}

/// Adds a term for each column to the first sum, and its product with another one to the second sum. The slices are
/// arguments, so that the compiler knows that they do not overlap.
#[inline(always)]
fn add_row<T: Float>(
    x: &[T],
    other: &[T],
    origins: &[f64],
    first: &mut [f64],
    second: &mut [f64],
    terms: impl Fn(T, T, f64) -> (f64, f64),
) {
    for ((((x, other), origin), first), second) in x.iter().zip(other).zip(origins).zip(first).zip(second) {
        let (term, factor) = terms(*x, *other, *origin);
        *first += term;
        *second = term.mul_add(factor, *second);
    }
}

/// Normalizes a piece that begins in column `column`.
struct Normalize<'a, T> {
    x: &'a [T],
    factors: &'a Columns<T>,
    column: usize,
    to: &'a mut [T],
}

impl<T: Float> Loop for Normalize<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (f, mut x, mut to, mut column) = (self.factors, self.x, self.to, self.column);
        while !to.is_empty() {
            let n = to.len().min(f.mean.len() - column);
            let (first, rest) = to.split_at_mut(n);
            normalize(first, &x[..n], &f.mean[column..], &f.scale[column..], &f.shift[column..]);
            (x, to, column) = (&x[n..], rest, 0);
        }
    }
}

#[inline(always)]
fn normalize<T: Float>(to: &mut [T], x: &[T], mean: &[T], scale: &[T], shift: &[T]) {
    for ((((to, x), mean), scale), shift) in to.iter_mut().zip(x).zip(mean).zip(scale).zip(shift) {
        *to = x.minus(*mean).mul_add(*scale, *shift);
    }
}

/// Computes the gradient of a piece that begins in column `column`.
struct Gradient<'a, T> {
    ograd: &'a [T],
    x: &'a [T],
    factors: &'a Columns<T>,
    column: usize,
    to: &'a mut [T],
}

impl<T: Float> Loop for Gradient<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (f, mut ograd, mut x, mut to) = (self.factors, self.ograd, self.x, self.to);
        let mut column = self.column;
        while !to.is_empty() {
            let n = to.len().min(f.mean.len() - column);
            let (first, rest) = to.split_at_mut(n);
            let factors = [&f.mean[column..], &f.scale[column..], &f.shift[column..], &f.slope[column..]];
            gradient(first, &ograd[..n], &x[..n], factors);
            (ograd, x, to, column) = (&ograd[n..], &x[n..], rest, 0);
        }
    }
}

#[inline(always)]
fn gradient<T: Float>(to: &mut [T], ograd: &[T], x: &[T], [mean, scale, shift, slope]: [&[T]; 4]) {
    let factors = mean.iter().zip(scale).zip(shift.iter().zip(slope));
    for (((to, g), x), ((mean, scale), (shift, slope))) in to.iter_mut().zip(ograd).zip(x).zip(factors) {
        *to = slope.negative().mul_add(x.minus(*mean), g.minus(*shift)).times(*scale);
    }
}
