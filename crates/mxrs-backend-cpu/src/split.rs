//! Splits loops over the threads of the team.

use crate::stream;
use crate::walk::{Axis, Cursor, n_steps};
use mxrs_sync::Team;
use std::ops::Range;

/// If a thread had fewer elements than this, waking another thread would cost more than it saves.
const ELEMENTS_PER_THREAD: usize = 1 << 14;

/// Runs `body` over disjoint ranges that cover `0..n`. Each item costs about as much as `elements` elements of an
/// elementwise loop.
pub fn in_ranges(team: &Team, n: usize, elements: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
    in_numbered_ranges(team, usize::MAX, n, n.saturating_mul(elements), &|range, _| body(range));
}

/// Runs `body` over disjoint ranges that cover `0..n`: at most `most` ranges, and at least one. All items together cost
/// about as much as `elements` elements of an elementwise loop. The second argument of `body` is the index of the
/// range.
pub fn in_numbered_ranges(
    team: &Team,
    most: usize,
    n: usize,
    elements: usize,
    body: &(dyn Fn(Range<usize>, usize) + Sync),
) {
    let wanted = if elements < team.shares_from() { 1 } else { elements / ELEMENTS_PER_THREAD };
    let n_chunks = wanted.min(team.size()).min(most).min(n).max(1);
    let per_chunk = n.div_ceil(n_chunks);
    team.run(n_chunks, &|chunk| {
        body((chunk * per_chunk).min(n)..((chunk + 1) * per_chunk).min(n), chunk);
        stream::fence();
    });
}

/// Runs `body` over disjoint ranges that cover `n` elements. Ranges begin at multiples of 64 elements, so that threads do
/// not share cache lines.
pub fn in_element_ranges(team: &Team, n: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
    const LINE: usize = 64;
    in_numbered_ranges(team, usize::MAX, n.div_ceil(LINE), n, &|lines, _| {
        body((lines.start * LINE).min(n)..(lines.end * LINE).min(n))
    });
}

/// Runs `body` over a loop nest, for one row of the innermost axis, or a part of a row, at a time. The arguments of
/// `body` are the index of the first iteration of this part in the nest, its number of iterations, and the offsets of
/// the tensors at its first iteration.
pub fn in_rows<const N: usize>(team: &Team, axes: &[Axis<N>], body: &(dyn Fn(usize, usize, [usize; N]) + Sync)) {
    let single = Axis { size: 1, strides: [0; N] };
    let (inner, outer) = axes.split_last().map_or((single, axes), |(inner, outer)| (*inner, outer));
    in_element_ranges(team, n_steps(axes), &|range| {
        if range.is_empty() {
            return;
        }
        let mut rows = Cursor::new(outer, range.start / inner.size);
        let (mut at, mut column) = (range.start, range.start % inner.size);
        while at < range.end {
            let len = (inner.size - column).min(range.end - at);
            let offset = |t: usize| rows.offsets[t] + column * inner.strides[t];
            body(at, len, std::array::from_fn(offset));
            at += len;
            column = 0;
            rows.advance();
        }
    });
}

/// Several tensors whose elements are shared among threads as if they were one, so that many small tensors cost one
/// parallel loop, and every thread gets about the same number of elements.
pub struct Tensors {
    /// Number of elements of each tensor.
    sizes: Vec<usize>,
    /// Index of the first unit of each tensor, and last the number of all units.
    first_units: Vec<usize>,
    /// Elements of a unit; the last unit of a tensor may have fewer.
    unit: usize,
}

impl Tensors {
    /// Tensors of these sizes. Threads get whole units, which have `unit` elements of one tensor.
    pub fn new(sizes: Vec<usize>, unit: usize) -> Self {
        let mut first_units = vec![0];
        let mut n = 0;
        first_units.extend(sizes.iter().map(|size| {
            n += size.div_ceil(unit);
            n
        }));
        Self { sizes, first_units, unit }
    }

    /// Number of tensors.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Number of units of all tensors together.
    pub fn n_units(&self) -> usize {
        self.first_units[self.sizes.len()]
    }

    /// The units of a tensor.
    pub fn units(&self, tensor: usize) -> Range<usize> {
        self.first_units[tensor]..self.first_units[tensor + 1]
    }

    /// Runs `body(tensor, elements)` over disjoint ranges that cover the elements of all tensors. A range begins at a
    /// multiple of the unit, and ends at another or at the end of the tensor.
    pub fn in_ranges(&self, team: &Team, body: &(dyn Fn(usize, Range<usize>) + Sync)) {
        let n_elements = self.sizes.iter().sum();
        in_numbered_ranges(team, usize::MAX, self.n_units(), n_elements, &|units, _| {
            // The last tensor that begins at or before the range; tensors without elements have no unit.
            let mut tensor = self.first_units.partition_point(|first| *first <= units.start).saturating_sub(1);
            while tensor < self.len() && self.first_units[tensor] < units.end {
                let mine = self.units(tensor);
                let (from, to) = (units.start.max(mine.start) - mine.start, units.end.min(mine.end) - mine.start);
                let elements = from * self.unit..(to * self.unit).min(self.sizes[tensor]);
                if !elements.is_empty() {
                    body(tensor, elements);
                }
                tensor += 1;
            }
        });
    }

    /// Does the same as [`Self::in_ranges`], but for one unit at a time: `body(tensor, unit, elements)`, where `unit` counts
    /// the units of all tensors.
    pub fn in_units(&self, team: &Team, body: &(dyn Fn(usize, usize, Range<usize>) + Sync)) {
        self.in_ranges(team, &|tensor, elements| {
            for at in elements.clone().step_by(self.unit) {
                let unit = self.first_units[tensor] + at / self.unit;
                body(tensor, unit, at..elements.end.min(at + self.unit));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn rows_make_up_the_nest() {
        let axes = [Axis { size: 70, strides: [1, 1000] }, Axis { size: 30, strides: [100, 1] }];
        let seen: Vec<AtomicUsize> = (0..2100).map(|_| AtomicUsize::new(0)).collect();
        in_rows(&Team::serial(), &axes, &|start, len, offsets| {
            let (row, column) = (start / 30, start % 30);
            assert_eq!(offsets, [row + column * 100, row * 1000 + column]);
            (start..start + len).for_each(|i| {
                seen[i].fetch_add(1, Ordering::Relaxed);
            });
        });
        assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn loops_below_the_team_threshold_stay_whole() {
        let n_ranges = |team: &Team, n: usize| {
            let count = AtomicUsize::new(0);
            in_element_ranges(team, n, &|_| _ = count.fetch_add(1, Ordering::Relaxed));
            count.into_inner()
        };
        let team = mxrs_testkit::conformance::team(3);
        assert_eq!([1 << 14, 1 << 15, 1 << 20].map(|n| n_ranges(&team, n)), [1, 2, 3]);
        team.share_from(1 << 16);
        assert_eq!([1 << 15, (1 << 16) - 1, 1 << 16].map(|n| n_ranges(&team, n)), [1, 1, 3]);
    }

    #[test]
    fn every_item_is_in_one_range() {
        let team = mxrs_testkit::conformance::team(3);
        for n in [0, 1, 2, 3, 7, 63, 65, 1000] {
            let seen: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            let count = |range: Range<usize>| {
                range.for_each(|i| {
                    seen[i].fetch_add(1, Ordering::Relaxed);
                });
            };
            in_ranges(&team, n, ELEMENTS_PER_THREAD, &count);
            in_element_ranges(&team, n, &count);
            assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 2), "{n} items");
        }
    }

    #[test]
    fn every_element_of_several_tensors_is_in_one_unit() {
        let team = mxrs_testkit::conformance::team(3);
        for sizes in [&[][..], &[0], &[5], &[0, 64, 0], &[1, 63, 65, 0, 7], &[100_000, 1, 30_000, 64]] {
            for unit in [1, 64, 4096] {
                let tensors = Tensors::new(sizes.to_vec(), unit);
                let seen: Vec<Vec<AtomicUsize>> =
                    sizes.iter().map(|n| (0..*n).map(|_| AtomicUsize::new(0)).collect()).collect();
                tensors.in_units(&team, &|tensor, unit_of, elements| {
                    assert!(tensors.units(tensor).contains(&unit_of) && elements.start.is_multiple_of(unit));
                    assert_eq!(elements.start / unit, unit_of - tensors.units(tensor).start);
                    elements.for_each(|i| {
                        seen[tensor][i].fetch_add(1, Ordering::Relaxed);
                    });
                });
                let is_once = |count: &AtomicUsize| count.load(Ordering::Relaxed) == 1;
                assert!(seen.iter().flatten().all(is_once), "{sizes:?} in units of {unit}");
            }
        }
    }
}
