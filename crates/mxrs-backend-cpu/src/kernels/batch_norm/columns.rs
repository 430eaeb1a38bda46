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
        let origins: Vec<T> = (0..p.channels).map(|channel| unsafe { data.at(channel * p.inner) }).collect();
        let origins = by_column(p, &origins);
        let sums = sums(args, p, &|range, sums| {
            let x = elements(range);
            p.level.run(Distances { x, origins: &origins, sums });
        });
        let moments = |(channel, [sum, squares]): (usize, &Pair)| {
            let mean = sum / p.count();
            let squares = squares - sum * mean;
            // Rounding may make it slightly negative; NaN stays NaN.
            (origins[channel * p.inner].widen() + mean, if squares < 0.0 { 0.0 } else { squares })
        };
        sums.iter().enumerate().map(|at| factors(at.0, Some(moments(at)))).collect()
    } else {
        (0..p.channels).map(|channel| factors(channel, None)).collect()
    };
    let all = by_column(p, &all);
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
    let means: Vec<T> = (0..p.channels).map(|channel| unsafe { mean.at(channel) }).collect();
    let means = by_column(p, &means);
    let sums = sums(args, p, &|range, sums| {
        let (ograd, x) = elements(range);
        p.level.run(Products { ograd, x, means: &means, sums });
    });
    let all: Vec<Factors<T>> = sums.iter().enumerate().map(|(channel, sums)| factors(channel, *sums)).collect();
    let all = by_column(p, &all);
    write(args, p, out, &|piece, column, to| {
        let (ograd, x) = elements(piece);
        p.level.run(Gradient { ograd, x, factors: &all, column, to });
    });
}

/// The value of each column, from the value of each channel.
fn by_column<V: Copy>(p: &Problem, of_channels: &[V]) -> Vec<V> {
    of_channels.iter().flat_map(|value| std::iter::repeat_n(*value, p.inner)).collect()
}

/// Two sums of each channel. `add` adds the elements in a range, which are whole rows, to the sums of the columns.
fn sums(args: &KernelArgs<'_>, p: &Problem, add: &(dyn Fn(Range<usize>, &mut [Pair]) + Sync)) -> Vec<Pair> {
    let (width, rows) = (p.width(), p.rows_per_block());
    let all = Scratch::<Pair>::of(args, 0, p.n_blocks() * width);
    in_ranges(args.team, p.n_blocks(), 2 * rows * width, &|blocks| {
        for block in blocks {
            // SAFETY: `in_ranges` gives each block to one thread.
            let sums = unsafe { all.slice(block * width..(block + 1) * width) };
            sums.fill([0.0; 2]);
            add(block * rows * width..((block + 1) * rows).min(p.outer) * width, sums);
        }
    });
    let mut of_channels = vec![[0.0; 2]; p.channels];
    // SAFETY: the team has finished.
    let all = unsafe { all.written().slice(0..p.n_blocks() * width) };
    for block in all.chunks_exact(width.max(1)) {
        for (sums, columns) in of_channels.iter_mut().zip(block.chunks_exact(p.inner)) {
            for [a, b] in columns {
                *sums = [sums[0] + a, sums[1] + b];
            }
        }
    }
    of_channels
}

/// Writes all elements. `fill(elements, column, to)` computes a piece whose first element is in this column.
fn write<T: Float>(
    args: &KernelArgs<'_>,
    p: &Problem,
    out: &Sink<'_, T>,
    fill: &(dyn Fn(Range<usize>, usize, &mut [T]) + Sync),
) {
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
    origins: &'a [T],
    sums: &'a mut [Pair],
}

impl<T: Float> Loop for Distances<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for row in self.x.chunks_exact(self.origins.len()) {
            for ((sums, x), origin) in self.sums.iter_mut().zip(row).zip(self.origins) {
                let distance = x.widen() - origin.widen();
                *sums = [sums[0] + distance, distance.mul_add(distance, sums[1])];
            }
        }
    }
}

/// Adds the gradients, and their products with the distances of the elements from the means, to the sums.
struct Products<'a, T> {
    ograd: &'a [T],
    x: &'a [T],
    means: &'a [T],
    sums: &'a mut [Pair],
}

impl<T: Float> Loop for Products<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let width = self.means.len();
        for (ograd, row) in self.ograd.chunks_exact(width).zip(self.x.chunks_exact(width)) {
            for (((sums, g), x), mean) in self.sums.iter_mut().zip(ograd).zip(row).zip(self.means) {
                let g = g.widen();
                *sums = [sums[0] + g, g.mul_add(x.widen() - mean.widen(), sums[1])];
            }
        }
    }
}

/// Normalizes a piece that begins in column `column`.
struct Normalize<'a, T> {
    x: &'a [T],
    factors: &'a [Factors<T>],
    column: usize,
    to: &'a mut [T],
}

impl<T: Float> Loop for Normalize<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (mut x, mut to, mut factors) = (self.x, self.to, &self.factors[self.column..]);
        while !to.is_empty() {
            let n = to.len().min(factors.len());
            let (first, rest) = to.split_at_mut(n);
            for ((to, x), f) in first.iter_mut().zip(x).zip(factors) {
                *to = x.minus(f.mean).mul_add(f.scale, f.shift);
            }
            (x, to, factors) = (&x[n..], rest, self.factors);
        }
    }
}

/// Computes the gradient of a piece that begins in column `column`.
struct Gradient<'a, T> {
    ograd: &'a [T],
    x: &'a [T],
    factors: &'a [Factors<T>],
    column: usize,
    to: &'a mut [T],
}

impl<T: Float> Loop for Gradient<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (mut ograd, mut x, mut to) = (self.ograd, self.x, self.to);
        let mut factors = &self.factors[self.column..];
        while !to.is_empty() {
            let n = to.len().min(factors.len());
            let (first, rest) = to.split_at_mut(n);
            for (((to, g), x), f) in first.iter_mut().zip(ograd).zip(x).zip(factors) {
                *to = f.slope.negative().mul_add(x.minus(f.mean), g.minus(f.shift)).times(f.scale);
            }
            (ograd, x, to, factors) = (&ograd[n..], &x[n..], rest, self.factors);
        }
    }
}
