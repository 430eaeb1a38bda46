//! Positions of the largest elements along an axis. Of several equally large elements, the first counts. NaN counts as
//! larger than any number.

use super::rows::{Max, fold};
use super::{around, for_number};
use crate::level::{Level, Loop};
use crate::number::Number;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::in_ranges;
use crate::tensors::{Sink, Source};
use mxrs_op::OpCall;
use mxrs_ops::reduce::argmax::ArgmaxParams;

/// Number of neighboring results that are computed together.
const COLUMNS: usize = 256;

/// Plans `argmax`.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    if call.op.name != "argmax" {
        return None;
    }
    let shape = &call.inputs[0].shape;
    let sizes = match call.params.get::<ArgmaxParams>().axis {
        None => (1, shape.n_elements(), 1),
        Some(axis) => match shape.axis(i64::from(axis)) {
            Ok(axis) => around(shape, axis),
            Err(error) => return Some(Err(error.to_string())),
        },
    };
    Some(for_number!(call, call.inputs[0].dtype, T => argmax::<T>(call, level, sizes)))
}

fn argmax<T: Number + 'static>(call: &OpCall<'_>, level: Level, sizes: (usize, usize, usize)) -> Build {
    let dtype = call.outputs[0].dtype;
    let (outer, size, inner) = sizes;
    let n_pieces = inner.div_ceil(COLUMNS);
    out_of_place(call, 0, move |args| {
        let (data, out) = (Source::<T>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
        in_ranges(args.team, outer * n_pieces, size * inner.min(COLUMNS), &|pieces| {
            for piece in pieces {
                let (o, first) = (piece / n_pieces, piece % n_pieces * COLUMNS);
                let width = (inner - first).min(COLUMNS);
                let mut found = [0usize; COLUMNS];
                // SAFETY: `out_of_place` plans the kernel without in place, so nothing writes the input. `k < size`,
                // and the row has `len <= inner - first` elements from column `first` on.
                let row = |k: usize, len: usize| unsafe {
                    let start = (o * size + k) * inner + first;
                    data.slice(start..start + len)
                };
                if inner == 1 {
                    found[0] = first_largest(level, row(0, size));
                } else if size > 0 {
                    let mut best = [T::ZERO; COLUMNS];
                    best[..width].copy_from_slice(row(0, width));
                    for k in 1..size {
                        level.run(BestLoop { k, row: row(k, width), best: &mut best, found: &mut found });
                    }
                }
                let start = o * inner + first;
                // SAFETY: each piece is a different range of `width` results, `in_ranges` gives it to one thread, and
                // the input is other memory.
                unsafe {
                    out.write(start..start + width, |at, to| {
                        let found = &found[at.start - start..];
                        to.iter_mut().zip(found).for_each(|(to, k)| *to = T::from_f64(*k as f64));
                    });
                }
            }
        });
        Ok(())
    })
}

/// Position of the first largest element; 0 if there are no elements.
fn first_largest<T: Number + 'static>(level: Level, row: &[T]) -> usize {
    let max = fold::<T, Max>(level, row);
    row.iter().position(|x| *x == max || x.is_nan()).unwrap_or(0)
}

/// Compares row `k` with the largest elements so far, column by column.
struct BestLoop<'a, T> {
    k: usize,
    row: &'a [T],
    best: &'a mut [T; COLUMNS],
    found: &'a mut [usize; COLUMNS],
}

impl<T: Number> Loop for BestLoop<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for ((x, best), found) in self.row.iter().zip(self.best).zip(self.found) {
            let is_larger = !best.is_nan() && (x.is_nan() || *x > *best);
            *found = if is_larger { self.k } else { *found };
            *best = if is_larger { *x } else { *best };
        }
    }
}
