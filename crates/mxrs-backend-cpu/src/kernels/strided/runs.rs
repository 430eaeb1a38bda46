//! Writes the output of moves run by run. A run is a piece of the output without gaps: the innermost loop, or the two
//! innermost loops if the output has no gap between their rows.

use super::nest::{Nest, moved_by};
use crate::level::{Level, Loop};
use crate::number::Element;
use crate::split::in_ranges;
use crate::tensors::{Sink, Source};
use mxrs_op::{KernelArgs, MovedAxis};

/// Longer runs are cut, so that several threads share them.
const CHUNK: usize = 1 << 14;

/// A nest seen as runs.
struct Runs<'a, T> {
    nest: &'a Nest,
    /// Loops over the runs.
    rest: &'a [MovedAxis],
    /// The loops of a run: over rows, and over the elements of a row.
    rows: MovedAxis,
    row: MovedAxis,
    /// Number of chunks of a run.
    n_chunks: usize,
    data: Option<Source<'a, T>>,
    constant: T,
    level: Level,
}

/// Runs nests whose elements are set from inputs, or to the constant. Each nest must be within its tensors.
pub fn run<T: Element>(args: &KernelArgs<'_>, nests: &[Nest], outputs: &[Sink<'_, T>], constant: T, level: Level) {
    let wanted = nests.iter().filter(|nest| outputs[nest.output].is_wanted());
    let runs: Vec<Runs<'_, T>> = wanted.map(|nest| Runs::new(args, nest, constant, level)).collect();
    let n_items: usize = runs.iter().map(Runs::n_items).sum();
    let n_elements: usize = runs.iter().map(|runs| runs.nest.n_elements()).sum();
    in_ranges(args.team, n_items, n_elements.div_ceil(n_items.max(1)), &|items| {
        let mut first = 0;
        for runs in &runs {
            let end = first + runs.n_items();
            let (from, to) = (items.start.clamp(first, end), items.end.clamp(first, end));
            runs.write(from - first, to - first, &outputs[runs.nest.output]);
            first = end;
        }
    });
}

impl<'a, T: Element> Runs<'a, T> {
    fn new(args: &KernelArgs<'a>, nest: &'a Nest, constant: T, level: Level) -> Self {
        let one = MovedAxis { size: 1, from: 0, to: 1 };
        let (row, outer) = nest.loops.split_last().map_or((one, &nest.loops[..]), |(row, outer)| (*row, outer));
        let (rows, rest) = match outer.split_last() {
            Some((rows, rest)) if row.to == 1 && rows.to == row.size as isize => (*rows, rest),
            _ => (one, outer),
        };
        let n_chunks = (rows.size * row.size).div_ceil(CHUNK);
        let data = nest.input.map(|input| Source::of(args, input));
        Self { nest, rest, rows, row, n_chunks, data, constant, level }
    }

    fn n_items(&self) -> usize {
        self.rest.iter().map(|axis| axis.size).product::<usize>() * self.n_chunks
    }

    /// Writes chunks of runs; `n_chunks` chunks make up a run.
    fn write(&self, from: usize, end: usize, output: &Sink<'_, T>) {
        let n = self.rows.size * self.row.size;
        for item in from..end {
            let moved = moved_by(self.rest, item / self.n_chunks);
            let [source, target] = [0, 1].map(|t| self.nest.start[t] + moved[t]);
            let first = item % self.n_chunks * CHUNK;
            let len = (n - first).min(CHUNK);
            if self.row.to != 1 {
                let values = (first..first + len).map(|i| self.value(source + i as isize * self.row.from));
                // SAFETY: each chunk writes its own elements of the output, and `in_ranges` gives it to one thread.
                unsafe {
                    output.put_each((target + first as isize * self.row.to) as usize, self.row.to as usize, values)
                };
                continue;
            }
            let start = target as usize;
            // SAFETY: each chunk writes its own elements of the output, and `in_ranges` gives it to one thread. The kernel
            // never runs in place (`out_of_place`), so no input is in the output's memory.
            unsafe {
                output.write(start + first..start + first + len, |piece, to| match &self.data {
                    Some(data) => self.fill(data, source, piece.start - start, to),
                    None => to.fill(self.constant),
                });
            }
        }
    }

    fn value(&self, at: isize) -> T {
        // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes the input.
        self.data.map_or(self.constant, |data| unsafe { data.at(at as usize) })
    }

    /// Computes the elements of a run from element `first` on. The run's first element comes from `source`.
    fn fill(&self, data: &Source<'_, T>, source: isize, first: usize, mut to: &mut [T]) {
        let (width, step) = (self.row.size, self.row.from);
        let (mut row, mut column) = (first / width, first % width);
        if self.rows.size > 1 && column == 0 && matches!(width, 2..=4) {
            let whole = to.len() / width * width;
            let (rows, rest) = to.split_at_mut(whole);
            let source = source + row as isize * self.rows.from;
            match width {
                2 => self.interleave::<2>(data, source, rows),
                3 => self.interleave::<3>(data, source, rows),
                _ => self.interleave::<4>(data, source, rows),
            }
            row += whole / width;
            to = rest;
        }
        while !to.is_empty() {
            let (part, rest) = to.split_at_mut((width - column).min(to.len()));
            line(self.level, data, source + row as isize * self.rows.from + column as isize * step, step, part);
            (row, column, to) = (row + 1, 0, rest);
        }
    }

    /// Computes whole rows of `W` elements.
    fn interleave<const W: usize>(&self, data: &Source<'_, T>, source: isize, to: &mut [T]) {
        let (rows, _) = to.as_chunks_mut::<W>();
        let n = rows.len();
        if self.rows.from == 1 {
            let lane = |q: usize| {
                let at = (source + q as isize * self.row.from) as usize;
                // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes the input.
                unsafe { data.slice(at..at + n) }
            };
            self.level.run(Interleave { lanes: std::array::from_fn::<_, W, _>(lane), rows });
            return;
        }
        for (r, row) in rows.iter_mut().enumerate() {
            let at = source + r as isize * self.rows.from;
            *row = std::array::from_fn(|q| self.value(at + q as isize * self.row.from));
        }
    }
}

/// Copies elements at a distance of `step` in the input, the first one from `at`.
fn line<T: Element>(level: Level, data: &Source<'_, T>, at: isize, step: isize, to: &mut [T]) {
    let reach = step * (to.len() as isize - 1);
    let (low, high) = (at + reach.min(0), at + reach.max(0));
    // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes the input.
    let from = unsafe { data.slice(low as usize..high as usize + 1) };
    match step {
        1 => to.copy_from_slice(from),
        0 => to.fill(from[0]),
        -1 => level.run(Reverse { from, to }),
        2 => level.run(EveryNth::<T, 2> { from, to }),
        3 => level.run(EveryNth::<T, 3> { from, to }),
        4 => level.run(EveryNth::<T, 4> { from, to }),
        step if step > 0 => to.iter_mut().zip(from.iter().step_by(step as usize)).for_each(|(to, x)| *to = *x),
        step => to.iter_mut().zip(from.iter().rev().step_by(step.unsigned_abs())).for_each(|(to, x)| *to = *x),
    }
}

struct Interleave<'a, T, const W: usize> {
    lanes: [&'a [T]; W],
    rows: &'a mut [[T; W]],
}

impl<T: Element, const W: usize> Loop for Interleave<'_, T, W> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let n = self.rows.len();
        let lanes = self.lanes.map(|lane| &lane[..n]);
        for (r, row) in self.rows.iter_mut().enumerate() {
            for q in 0..W {
                row[q] = lanes[q][r];
            }
        }
    }
}

struct Reverse<'a, T> {
    from: &'a [T],
    to: &'a mut [T],
}

impl<T: Element> Loop for Reverse<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.to.iter_mut().zip(self.from.iter().rev()).for_each(|(to, x)| *to = *x);
    }
}

/// Copies elements 0, N, 2 N, …; the last element that is copied is the last of `from`.
struct EveryNth<'a, T, const N: usize> {
    from: &'a [T],
    to: &'a mut [T],
}

impl<T: Element, const N: usize> Loop for EveryNth<'_, T, N> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (chunks, rest) = self.from.as_chunks::<N>();
        self.to.iter_mut().zip(chunks).for_each(|(to, chunk)| *to = chunk[0]);
        if let (Some(to), Some(last)) = (self.to.last_mut(), rest.first()) {
            *to = *last;
        }
    }
}
