//! Softmax and its logarithm over rows whose elements are neighbors. With `LOG` a function computes the logarithm.
//!
//! A row is read from memory once. The powers `e^((x - largest) / t)` are kept in the L1 cache until their sum is known.

use super::rows::{LANES, Sum, join_lanes};
use super::softmax::{Rows, power};
use crate::level::{Level, Loop};
use crate::number::Float;
use crate::split::in_ranges;
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
        for row in mine {
            let elements = row * rows.size..(row + 1) * rows.size;
            // SAFETY: `in_ranges` gives each row to one thread. If the data is in the output's memory, the row is computed in
            // the buffer, and copied when the data is no longer used.
            unsafe {
                let row = data.slice(elements.clone());
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
        let mut lanes = [0.0; LANES];
        let (chunks, to_chunks) = (row.chunks_exact(LANES), to.chunks_exact_mut(LANES));
        let rest = chunks.remainder();
        for (chunk, to) in chunks.zip(to_chunks) {
            for l in 0..LANES {
                let power = power(chunk[l], largest, scale);
                lanes[l] += power.widen();
                to[l] = power;
            }
        }
        let done = row.len() - rest.len();
        for ((lane, x), to) in lanes.iter_mut().zip(rest).zip(&mut to[done..]) {
            let power = power(*x, largest, scale);
            *lane += power.widen();
            *to = power;
        }
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
    let chunks = row.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for l in 0..LANES {
            lanes[l] = if chunk[l] > lanes[l] { chunk[l] } else { lanes[l] };
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane = if *x > *lane { *x } else { *lane };
    }
    lanes.iter().fold(T::LOWEST, |a, b| if *b > a { *b } else { a })
}
