//! Batch normalization of short planes. A plane is the run of neighboring elements of one channel; it has one element if the
//! channels are the last axis. The data is seen as a matrix: a row holds one plane of each channel, and a column holds one
//! element of each of these planes.
//!
//! Sums of columns are made in `f64` over blocks of rows, whose size depends only on the shape. The first element of a
//! channel is subtracted from the others before they are squared, so that a mean far from 0 costs no digits.

use super::{Factors, Pair, Problem};
use crate::chunks::{CHUNK, Compute, Storing, chunk_of, each};
use crate::level::Loop;
use crate::number::Float;
use crate::split::in_ranges;
use crate::stream::{AHEAD, prefetch_at};
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
        // SAFETY: only the output, which is written last, may be in the memory of the data.
        let origin = |channel: usize| unsafe { data.at(channel * p.inner).widen() };
        let origins = by_column(p, (0..p.channels).map(origin));
        let sums = sums(args, p, &|range, sums| {
            let x = elements(range);
            p.level.run(Distances { x, origins: &origins, sums });
        });
        let moments = |(channel, [sum, squares]): (usize, &Pair)| {
            let mean = sum / p.count();
            let squares = squares - sum * mean;
            // Rounding may make the sum of squares slightly negative. Then 0 is used; NaN stays NaN.
            (origins[channel * p.inner] + mean, if squares < 0.0 { 0.0 } else { squares })
        };
        sums.iter().enumerate().map(|at| factors(at.0, Some(moments(at)))).collect()
    } else {
        (0..p.channels).map(|channel| factors(channel, None)).collect()
    };
    let all = Columns::of(p, &all);
    in_ranges(args.team, p.outer, 2 * p.width(), &|rows| {
        p.level.run(Normalize { data, out, at: rows.start * p.width()..rows.end * p.width(), factors: &all });
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
    // SAFETY: only the output, which is written last, may be in the memory of an input.
    let means = by_column(p, (0..p.channels).map(|channel| unsafe { mean.at(channel).widen() }));
    let sums = sums(args, p, &|range, sums| {
        let (ograd, x) = elements(range);
        p.level.run(Products { ograd, x, means: &means, sums });
    });
    let all: Vec<Factors<T>> = sums.iter().enumerate().map(|(channel, sums)| factors(channel, *sums)).collect();
    let all = Columns::of(p, &all);
    in_ranges(args.team, p.outer, 2 * p.width(), &|rows| {
        let at = rows.start * p.width()..rows.end * p.width();
        p.level.run(Gradient { ograd, data, out, at, factors: &all });
    });
}

/// The value of each column, from the value of each channel.
fn by_column<V: Copy>(p: &Problem, of_channels: impl Iterator<Item = V>) -> Vec<V> {
    of_channels.flat_map(|value| std::iter::repeat_n(value, p.inner)).collect()
}

/// The factors of each column. The first columns are repeated after the last one, so that a chunk can begin at any column.
struct Columns<T> {
    width: usize,
    mean: Vec<T>,
    scale: Vec<T>,
    shift: Vec<T>,
    slope: Vec<T>,
}

impl<T: Float> Columns<T> {
    fn of(p: &Problem, of_channels: &[Factors<T>]) -> Self {
        let column = |of: fn(&Factors<T>) -> T| -> Vec<T> {
            let columns = by_column(p, of_channels.iter().map(of));
            columns.iter().copied().cycle().take(columns.len() + CHUNK).collect()
        };
        Self {
            width: p.width(),
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
    // SAFETY: all threads of the team have finished.
    let all = unsafe { all.written().slice(0..2 * p.n_blocks() * width) };
    for (i, columns) in all.chunks_exact(width.max(1)).enumerate() {
        for (sums, columns) in of_channels.iter_mut().zip(columns.chunks_exact(p.inner)) {
            columns.iter().for_each(|sum| sums[i % 2] += sum);
        }
    }
    of_channels
}

/// Number of rows that are added up in registers before the sums are stored.
const TOGETHER: usize = 16;

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
        add_rows(self.x, self.x, self.origins, self.sums, |x, _, origin| {
            let distance = x - origin;
            (distance, distance)
        });
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
        add_rows(self.x, self.ograd, self.means, self.sums, |x, g, mean| (g, x - mean));
    }
}

/// For each column, adds up a term of each row in the first sum, and products in the second sum. `terms` returns the term of
/// an element and the factor by which the term is multiplied for the second sum.
#[inline(always)]
fn add_rows<T: Float>(
    x: &[T],
    other: &[T],
    origins: &[f64],
    sums: Sums<'_>,
    terms: impl Fn(f64, f64, f64) -> (f64, f64) + Copy,
) {
    const LARGE: usize = 32;
    const SMALL: usize = 8;
    let (width, Sums { first, second }) = (origins.len(), sums);
    if width == 0 {
        return;
    }
    for (x, other) in x.chunks(TOGETHER * width).zip(other.chunks(TOGETHER * width)) {
        for at in (0..x.len()).step_by(CHUNK) {
            prefetch_at::<T, CHUNK>(x.as_ptr().wrapping_add(at + AHEAD / size_of::<T>()));
            if !std::ptr::eq(x, other) {
                prefetch_at::<T, CHUNK>(other.as_ptr().wrapping_add(at + AHEAD / size_of::<T>()));
            }
        }
        let mut column = 0;
        while width - column >= LARGE {
            add_columns::<T, LARGE>(x, other, origins, (column, width), first, second, terms);
            column += LARGE;
        }
        while width - column >= SMALL {
            add_columns::<T, SMALL>(x, other, origins, (column, width), first, second, terms);
            column += SMALL;
        }
        while column < width {
            add_columns::<T, 1>(x, other, origins, (column, width), first, second, terms);
            column += 1;
        }
    }
}

/// Does the same as [`add_rows`] for the `N` columns from `column` on, in a few rows.
#[inline(always)]
fn add_columns<T: Float, const N: usize>(
    x: &[T],
    other: &[T],
    origins: &[f64],
    (column, width): (usize, usize),
    first: &mut [f64],
    second: &mut [f64],
    terms: impl Fn(f64, f64, f64) -> (f64, f64),
) {
    let origins = chunk_of::<_, N>(origins, column);
    let (mut sums, mut products) = (*chunk_of::<_, N>(first, column), *chunk_of::<_, N>(second, column));
    for start in (column..x.len()).step_by(width) {
        let (x, other) = (chunk_of::<_, N>(x, start), chunk_of::<_, N>(other, start));
        for l in 0..N {
            let (term, factor) = terms(x[l].widen(), other[l].widen(), origins[l]);
            sums[l] += term;
            products[l] = term.mul_add(factor, products[l]);
        }
    }
    first[column..column + N].copy_from_slice(&sums);
    second[column..column + N].copy_from_slice(&products);
}

/// Normalizes whole rows.
struct Normalize<'a, 'b, T> {
    data: &'b Source<'a, T>,
    out: &'b Sink<'a, T>,
    at: Range<usize>,
    factors: &'b Columns<T>,
}

impl<T: Float> Loop for Normalize<'_, '_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: `in_ranges` gives these rows to this thread, after all sums have been computed.
        unsafe { Storing::new(*self.out, self.at.clone(), self).finish() };
    }
}

impl<T: Float> Compute<T> for Normalize<'_, '_, T> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [T; N] {
        let [mean, scale, shift, _] = self.factors.chunk::<N>(at);
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        let x = unsafe { self.data.chunk::<N>(at) };
        each(T::ZERO, |l| x[l].minus(mean[l]).mul_add(scale[l], shift[l]))
    }

    #[inline(always)]
    fn prefetch<const N: usize>(&self, at: usize) {
        self.data.prefetch::<N>(at);
    }
}

impl<T: Float> Columns<T> {
    /// Mean, scale, shift and slope of the elements from `at` on.
    #[inline(always)]
    fn chunk<const N: usize>(&self, at: usize) -> [&[T; N]; 4] {
        // The vectors have `width + CHUNK` elements, so a whole chunk begins at each column.
        let column = at % self.width.max(1);
        [
            chunk_of(&self.mean, column),
            chunk_of(&self.scale, column),
            chunk_of(&self.shift, column),
            chunk_of(&self.slope, column),
        ]
    }
}

/// Computes the gradient of whole rows.
struct Gradient<'a, 'b, T> {
    ograd: &'b Source<'a, T>,
    data: &'b Source<'a, T>,
    out: &'b Sink<'a, T>,
    at: Range<usize>,
    factors: &'b Columns<T>,
}

impl<T: Float> Loop for Gradient<'_, '_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: `in_ranges` gives these rows to this thread, after all sums have been computed.
        unsafe { Storing::new(*self.out, self.at.clone(), self).finish() };
    }
}

impl<T: Float> Compute<T> for Gradient<'_, '_, T> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [T; N] {
        let [mean, scale, shift, slope] = self.factors.chunk::<N>(at);
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        let (g, x) = unsafe { (self.ograd.chunk::<N>(at), self.data.chunk::<N>(at)) };
        each(T::ZERO, |l| slope[l].negative().mul_add(x[l].minus(mean[l]), g[l].minus(shift[l])).times(scale[l]))
    }

    #[inline(always)]
    fn prefetch<const N: usize>(&self, at: usize) {
        self.ograd.prefetch::<N>(at);
        self.data.prefetch::<N>(at);
    }
}
