//! Softmax and its logarithm over interleaved rows that are too long to stay in a cache. Their data is read three times: for
//! the largest elements, for the sums of the exponentials, and for the results.

use super::{COLUMNS, Problem, from_sum, power};
use crate::level::Loop;
use crate::number::{Element, Number, Stored};
use crate::stream::prefetch;
use crate::tensors::{Sink, Source};
use mxrs_op::KernelArgs;
use std::ops::Range;

/// Computes all rows.
pub fn forward<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool>(
    args: &KernelArgs<'_>,
    p: &Problem,
    (data, out): (&Source<'_, I>, &Sink<'_, O>),
) {
    let (rows, scale) = (p.rows, I::Wide::from_f64(p.scale));
    rows.in_pieces(args, &|outer, column, width| {
        let (mut largest, mut sums) = ([I::Wide::LOWEST; COLUMNS], [0.0; COLUMNS]);
        let (largest, sums) = (&mut largest[..width], &mut sums[..width]);
        let at = |k: usize| rows.at((outer, column), k);
        // SAFETY: `in_pieces` gives each piece of columns to one thread, which reads an element last before it stores the
        // result there.
        let line = |k: usize| unsafe { data.slice(at(k)..at(k) + width) };
        let soon = |k: usize| prefetch(line((k + 2).min(rows.size - 1)));
        for k in 0..rows.size {
            soon(k);
            p.level.run(LargestLoop { line: line(k), largest });
        }
        for k in 0..rows.size {
            soon(k);
            p.level.run(SumLoop { line: line(k), largest, scale, sums });
        }
        let mut from = [I::Wide::ZERO; COLUMNS];
        from.iter_mut().zip(&*sums).for_each(|(from, sum)| *from = I::Wide::from_f64(from_sum::<LOG>(*sum)));
        for k in 0..rows.size {
            soon(k);
            let fill = |_: Range<usize>, to: &mut [O]| {
                p.level.run(ResultLoop::<_, _, LOG> { line: line(k), largest, from: &from[..width], scale, to });
            };
            // SAFETY: only this thread uses these columns. `width <= COLUMNS` elements are one piece of `write`, so a single
            // call of `fill` reads them before they are written.
            unsafe { out.write(at(k)..at(k) + width, fill) };
        }
    });
}

/// Compares a line with the largest elements of its columns. The comparison may ignore NaN, because the exponential of NaN
/// makes every result of the row NaN.
struct LargestLoop<'a, I: Stored> {
    line: &'a [I],
    largest: &'a mut [I::Wide],
}

impl<I: Stored> Loop for LargestLoop<'_, I> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (x, largest) in self.line.iter().zip(self.largest) {
            let x = x.wide();
            *largest = if x > *largest { x } else { *largest };
        }
    }
}

/// Adds the exponentials of a line to the sums.
struct SumLoop<'a, I: Stored> {
    line: &'a [I],
    largest: &'a [I::Wide],
    scale: I::Wide,
    sums: &'a mut [f64],
}

impl<I: Stored> Loop for SumLoop<'_, I> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for ((x, largest), sum) in self.line.iter().zip(self.largest).zip(self.sums) {
            *sum += power(x.wide(), *largest, self.scale).widen();
        }
    }
}

/// Computes the results of a line.
struct ResultLoop<'a, I: Stored, O, const LOG: bool> {
    line: &'a [I],
    largest: &'a [I::Wide],
    /// For each column, the value that [`from_sum`] returns for its sum.
    from: &'a [I::Wide],
    scale: I::Wide,
    to: &'a mut [O],
}

impl<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool> Loop for ResultLoop<'_, I, O, LOG> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let scale = self.scale;
        for (((to, x), largest), from) in self.to.iter_mut().zip(self.line).zip(self.largest).zip(self.from) {
            let x = x.wide();
            *to = O::nearest(match LOG {
                true => x.minus(*largest).times(scale).minus(*from),
                false => power(x, *largest, scale).times(*from),
            });
        }
    }
}
