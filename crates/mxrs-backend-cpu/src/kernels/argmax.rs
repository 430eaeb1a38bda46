//! Positions of the largest, or smallest, elements along an axis. Of several equal elements, the first counts. NaN counts as
//! larger than any number, or for the smallest elements as smaller.

use super::rows::{Fold, LANES, Min, add_to_lanes, join_lanes, largest_or_nan};
use super::{around, for_number};
use crate::chunks::each;
use crate::level::{Level, Loop};
use crate::number::Number;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::in_ranges;
use crate::stream::prefetch;
use crate::tensors::{Sink, Source};
use mxrs_op::OpCall;
use mxrs_ops::reduce::argmax::ArgmaxParams;

/// Number of neighboring results that are computed together.
const COLUMNS: usize = 1024;
/// Number of elements that are compared with the largest one at a time.
const CHUNK: usize = 64;

/// Plans `argmax` and `argmin`.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let is_min = match call.op.name {
        "argmax" => false,
        "argmin" => true,
        _ => return None,
    };
    let shape = &call.inputs[0].shape;
    let sizes = match call.params.get::<ArgmaxParams>().axis {
        None => (1, shape.n_elements(), 1),
        Some(axis) => match shape.axis(i64::from(axis)) {
            Ok(axis) => around(shape, axis),
            Err(error) => return Some(Err(error.to_string())),
        },
    };
    if u32::try_from(sizes.1).is_err() {
        return Some(Err(format!("a position of {} elements", sizes.1)));
    }
    let dtype = call.inputs[0].dtype;
    Some(match is_min {
        false => for_number!(call, dtype, T => argmax::<T, false>(call, level, sizes)),
        true => for_number!(call, dtype, T => argmax::<T, true>(call, level, sizes)),
    })
}

fn argmax<T: Number + 'static, const IS_MIN: bool>(
    call: &OpCall<'_>,
    level: Level,
    sizes: (usize, usize, usize),
) -> Build {
    let dtype = call.outputs[0].dtype;
    let (outer, size, inner) = sizes;
    debug_assert!(u32::try_from(size).is_ok(), "`plan` checks the size");
    let n_pieces = inner.div_ceil(COLUMNS);
    out_of_place(call, 0, move |args| {
        let (data, out) = (Source::<T>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
        if inner == 1 {
            in_ranges(args.team, outer, size, &|rows| {
                // SAFETY: `in_ranges` gives each row and its result to one thread, and the input shares no memory with the
                // output.
                unsafe {
                    out.write(rows, |at, to| {
                        for (to, row) in to.iter_mut().zip(at) {
                            let row = data.slice(row * size..(row + 1) * size);
                            *to = T::from_f64(level.run(PositionLoop::<T, IS_MIN> { row }) as f64);
                        }
                    });
                }
            });
            return Ok(());
        }
        in_ranges(args.team, outer * n_pieces, size * inner.min(COLUMNS), &|pieces| {
            for piece in pieces {
                let (o, first) = (piece / n_pieces, piece % n_pieces * COLUMNS);
                let width = (inner - first).min(COLUMNS);
                let mut found = [0u32; COLUMNS];
                // SAFETY: `out_of_place` plans the kernel so that it never runs in place, so nothing writes the input.
                // `k < size`, and the row has `len <= inner - first` elements from column `first` on.
                let row = |k: usize, len: usize| unsafe {
                    let start = (o * size + k) * inner + first;
                    data.slice(start..start + len)
                };
                if size > 0 {
                    let mut best = [T::ZERO; COLUMNS];
                    best[..width].copy_from_slice(row(0, width));
                    for k in 1..size {
                        prefetch(row((k + 1).min(size - 1), width));
                        let (k, row) = (k as u32, row(k, width));
                        level.run(BestLoop::<T, IS_MIN> { k, row, best: &mut best, found: &mut found });
                    }
                }
                let start = o * inner + first;
                // SAFETY: each piece is a different range of `width` results, `in_ranges` gives it to one thread, and the
                // input shares no memory with the output.
                unsafe {
                    out.write(start..start + width, |at, to| {
                        let found = &found[at.start - start..];
                        to.iter_mut().zip(found).for_each(|(to, k)| *to = T::from_f64(f64::from(*k)));
                    });
                }
            }
        });
        Ok(())
    })
}

/// The position of the first NaN, or if there is none, of the first element that equals the largest one (with `IS_MIN` the
/// smallest one). 0 if there are no elements.
struct PositionLoop<'a, T, const IS_MIN: bool> {
    row: &'a [T],
}

impl<T: Number + 'static, const IS_MIN: bool> Loop for PositionLoop<'_, T, IS_MIN> {
    type Output = usize;
    #[inline(always)]
    fn run(self) -> usize {
        let (chunks, rest) = self.row.as_chunks::<CHUNK>();
        let extreme = if IS_MIN { smallest_or_nan(self.row) } else { largest_or_nan(self.row) };
        let is_it = |x: T| (x == extreme) | x.is_nan();
        for (c, x) in chunks.iter().enumerate() {
            // All elements of a chunk are compared, because the compiler does not vectorize a loop that ends at the first
            // match.
            let found: [u32; CHUNK] = each(0, |l| u32::from(is_it(x[l])));
            if found.iter().fold(0, |any, found| any | found) != 0 {
                return c * CHUNK + x.iter().position(|x| is_it(*x)).unwrap_or(0);
            }
        }
        rest.iter().position(|x| is_it(*x)).map_or(0, |at| chunks.len() * CHUNK + at)
    }
}

/// The smallest element; NaN if any element is NaN.
#[inline(always)]
fn smallest_or_nan<T: Number + 'static>(row: &[T]) -> T {
    let mut lanes = [<Min as Fold<T>>::EMPTY; LANES];
    add_to_lanes(&mut lanes, row, <Min as Fold<T>>::add);
    join_lanes::<T, Min>(lanes)
}

/// Compares row `k` with the largest, or smallest, elements so far, column by column.
struct BestLoop<'a, T, const IS_MIN: bool> {
    k: u32,
    row: &'a [T],
    best: &'a mut [T],
    found: &'a mut [u32],
}

impl<T: Number, const IS_MIN: bool> Loop for BestLoop<'_, T, IS_MIN> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        keep_best::<T, IS_MIN>(self.k, self.row, self.best, self.found);
    }
}

/// The slices are arguments, so that the compiler knows that they do not overlap. Conditions are combined without branches,
/// so that the loop is vectorized.
#[inline(always)]
fn keep_best<T: Number, const IS_MIN: bool>(k: u32, row: &[T], best: &mut [T], found: &mut [u32]) {
    for ((x, best), found) in row.iter().zip(best).zip(found) {
        let is_beyond = if IS_MIN { *x < *best } else { *x > *best };
        let is_better = !best.is_nan() & (x.is_nan() | is_beyond);
        *found = if is_better { k } else { *found };
        *best = if is_better { *x } else { *best };
    }
}
