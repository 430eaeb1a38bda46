//! Softmax and its logarithm over rows whose elements are neighbors. With `LOG` a function computes the logarithm.
//!
//! A row is read from memory once. The powers `e^((x - largest) / t)` are kept in the L1 cache until their sum is known.

use super::rows::{LANES, Sum, add_to_lanes, halve, join_lanes};
use super::softmax::{Rows, power};
use crate::level::{Level, Loop};
use crate::number::Float;
use crate::split::in_ranges;
use crate::stream::prefetch;
use crate::tensors::{Sink, Source};
use mxrs_op::KernelArgs;

/// Rows of at most this many elements are kept in the L1 cache.
pub const LONGEST: usize = 4096;

/// Computes all rows. `scale` is `1 / t`.
pub fn forward<T: Float + 'static, const LOG: bool>(
    args: &KernelArgs<'_>,
    level: Level,
    rows: Rows,
    scale: T,
    (data, out): (&Source<'_, T>, &Sink<'_, T>),
) {
    // A row costs about as much as four passes over its elements.
    in_ranges(args.team, rows.outer, 4 * rows.size, &|mine| {
        let mut buffer = vec![T::ZERO; rows.size];
        let end = mine.end * rows.size;
        for row in mine {
            let elements = row * rows.size..(row + 1) * rows.size;
            // SAFETY: `in_ranges` gives each row to one thread. If the data is in the output's memory, the row is computed in
            // the buffer, and copied when the data is no longer used.
            unsafe {
                let row = data.slice(elements.clone());
                let next = elements.end..(elements.end + rows.size).min(end);
                prefetch(data.slice(next));
                out.write_whole(elements, &mut buffer, |to| level.run(RowLoop::<_, LOG> { row, scale, to }));
            }
        }
    });
}

struct RowLoop<'a, T, const LOG: bool> {
    row: &'a [T],
    scale: T,
    to: &'a mut [T],
}

impl<T: Float + 'static, const LOG: bool> Loop for RowLoop<'_, T, LOG> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { row, scale, to } = self;
        let largest = largest(row);
        to.iter_mut().zip(row).for_each(|(to, x)| *to = power(*x, largest, scale));
        let mut lanes = [0.0; LANES];
        add_to_lanes(&mut lanes, to, |sum, power: T| sum + power.widen());
        let sum = join_lanes::<T, Sum>(lanes);
        if LOG {
            let log = T::narrow(sum.ln());
            to.iter_mut().zip(row).for_each(|(to, x)| *to = x.minus(largest).times(scale).minus(log));
        } else {
            let inverse = T::from_f64(1.0 / sum);
            to.iter_mut().for_each(|to| *to = to.times(inverse));
        }
    }
}

/// The largest element. A NaN may be ignored here, because its power is NaN too, and so is every result of the row.
#[inline(always)]
pub fn largest<T: Float>(row: &[T]) -> T {
    let mut lanes = [T::LOWEST; LANES];
    let larger = |a: T, b: T| if b > a { b } else { a };
    add_to_lanes(&mut lanes, row, larger);
    halve(lanes, larger)
}
