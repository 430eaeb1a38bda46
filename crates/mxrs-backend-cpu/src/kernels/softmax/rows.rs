//! Softmax and its logarithm over rows whose elements are neighbors and fit in a cache.
//!
//! A row is read from memory once: the exponentials `e^((x - largest) / t)`, or with `LOG` the elements, are kept in a
//! buffer until their sum is known. The results of a row are stored while the exponentials of the next row are computed.

use super::{Problem, from_sum, power};
use crate::chunks::{CHUNK, Compute, Storing, chunk_of, each};
use crate::kernels::rows::halve_16;
use crate::level::Loop;
use crate::number::{Element, Float, Number, Stored};
use crate::split::in_ranges;
use crate::stream::AHEAD;
use crate::tensors::{Sink, Source};
use mxrs_op::KernelArgs;
use std::ops::Range;

/// Rows of at most this many elements are kept in a cache: two buffers, and the row that is read.
pub const LONGEST: usize = 1 << 15;

/// Number of partial sums, and of the elements that are computed together at the end of a row.
pub const LANES: usize = 16;

/// Computes all rows.
pub fn forward<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool>(
    args: &KernelArgs<'_>,
    p: &Problem,
    (data, out): (&Source<'_, I>, &Sink<'_, O>),
) {
    let size = p.rows.size;
    let scale = I::Wide::from_f64(p.scale);
    // A row costs about as much as four passes over its elements.
    in_ranges(args.team, p.rows.outer, 4 * size, &|rows| {
        let mut buffers = [vec![I::Wide::ZERO; size], vec![I::Wide::ZERO; size]];
        let mut last: Option<Waiting<I::Wide>> = None;
        for row in rows {
            let [now, before] = &mut buffers;
            let at = row * size..row * size + p.length(args, row);
            let (to, waiting) = (&mut now[..at.len()], last.take().map(|last| (last, &before[..])));
            let next = RowLoop::<_, _, LOG> { data, out, at: at.clone(), size, scale, to, waiting };
            last = Some(p.level.run(next));
            let unused = at.end..(row + 1) * size;
            if !unused.is_empty() {
                // SAFETY: `in_ranges` gives each row to one thread. The elements of the row are in the buffer.
                unsafe { out.write(unused, |_, to| to.fill(O::ZERO)) };
            }
            buffers.swap(0, 1);
        }
        if let Some(last) = last {
            p.level.run(LastLoop::<_, LOG> { out, values: &buffers[1], waiting: last });
        }
    });
}

/// A row whose exponentials are in a buffer.
struct Waiting<T> {
    /// Its elements.
    at: Range<usize>,
    largest: T,
    scale: T,
    /// The value that [`from_sum`] returns for the sum of the row.
    sum: T,
}

/// Computes the results of a row from its buffer.
struct Results<'a, T, const LOG: bool> {
    values: &'a [T],
    start: usize,
    largest: T,
    scale: T,
    sum: T,
}

impl<O: Stored, const LOG: bool> Compute<O> for Results<'_, O::Wide, LOG> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [O; N] {
        let values = chunk_of::<_, N>(self.values, at - self.start);
        each(O::ZERO, |l| O::nearest(if LOG { self.logarithm(values[l]) } else { values[l].times(self.sum) }))
    }
}

impl<T: Float, const LOG: bool> Results<'_, T, LOG> {
    #[inline(always)]
    fn logarithm(&self, x: T) -> T {
        x.minus(self.largest).times(self.scale).minus(self.sum)
    }
}

/// Begins to store the results of a row.
///
/// # Safety
/// Until the last step, no other code may use these elements of the output.
#[inline(always)]
unsafe fn storing<'a, O: Stored, const LOG: bool>(
    out: &Sink<'a, O>,
    row: Waiting<O::Wide>,
    values: &'a [O::Wide],
) -> Storing<'a, O, Results<'a, O::Wide, LOG>> {
    let Waiting { at, largest, scale, sum } = row;
    let results = Results { values, start: at.start, largest, scale, sum };
    // SAFETY: the caller guarantees that no other code uses these elements; the results are computed from a buffer.
    unsafe { Storing::new(*out, at, results) }
}

/// A row whose results wait to be stored, and its exponentials.
type Before<'a, T> = (Waiting<T>, &'a [T]);

/// Computes the exponentials of a row, and stores the results of the row before.
struct RowLoop<'a, 'b, I: Stored, O, const LOG: bool> {
    data: &'b Source<'a, I>,
    out: &'b Sink<'a, O>,
    at: Range<usize>,
    /// Number of elements from the beginning of this row to the beginning of the next row.
    size: usize,
    scale: I::Wide,
    to: &'b mut [I::Wide],
    waiting: Option<Before<'b, I::Wide>>,
}

impl<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool> Loop for RowLoop<'_, '_, I, O, LOG> {
    type Output = Waiting<I::Wide>;
    #[inline(always)]
    fn run(self) -> Waiting<I::Wide> {
        let Self { data, out, at, size, scale, to, waiting } = self;
        // SAFETY: only this thread uses this row and the row before. Nothing writes the row until its results are stored,
        // after this loop.
        let row = unsafe { data.slice(at.clone()) };
        let largest = largest(row);
        // SAFETY: only this thread uses the row before, whose results are computed from its buffer.
        let mut before = waiting.map(|(waiting, values)| unsafe { storing::<O, LOG>(out, waiting, values) });
        // Rows that follow each other are prefetched at least `AHEAD` bytes before they are read.
        let soon = at.start + size.max(AHEAD / size_of::<I>());
        let mut sums = [0.0; LANES];
        let (from, from_rest) = row.as_chunks::<CHUNK>();
        let (to, to_rest) = to.as_chunks_mut::<CHUNK>();
        for (i, (x, to)) in from.iter().zip(to).enumerate() {
            data.prefetch::<CHUNK>(soon + i * CHUNK);
            add_powers::<I, CHUNK, LOG>(x, to, (largest, scale), &mut sums);
            if let Some(before) = &mut before {
                // SAFETY: only this thread uses the row before, whose results are computed from its buffer.
                unsafe { before.step() };
            }
        }
        data.prefetch::<CHUNK>(soon + from.len() * CHUNK);
        let (from, from_rest) = from_rest.as_chunks::<LANES>();
        let (to, to_rest) = to_rest.as_chunks_mut::<LANES>();
        for (x, to) in from.iter().zip(to) {
            add_powers::<I, LANES, LOG>(x, to, (largest, scale), &mut sums);
        }
        if !from_rest.is_empty() {
            // The chunk is filled with the lowest number, whose exponential is 0, so the added elements do not change the
            // sum.
            let (mut x, mut last) = ([I::nearest(I::Wide::LOWEST); LANES], [I::Wide::ZERO; LANES]);
            x[..from_rest.len()].copy_from_slice(from_rest);
            add_powers::<I, LANES, LOG>(&x, &mut last, (largest, scale), &mut sums);
            to_rest.copy_from_slice(&last[..from_rest.len()]);
        }
        if let Some(before) = before {
            // SAFETY: only this thread uses the row before, whose results are computed from its buffer.
            unsafe { before.finish() };
        }
        let sum = I::Wide::from_f64(from_sum::<LOG>(halve_16(sums, |a, b| a + b)));
        Waiting { at, largest, scale, sum }
    }
}

/// Computes the exponentials of a chunk, or with `LOG` copies its elements, and adds the exponentials to the sums of their
/// lanes.
#[inline(always)]
pub fn add_powers<I: Stored, const N: usize, const LOG: bool>(
    x: &[I; N],
    to: &mut [I::Wide; N],
    (largest, scale): (I::Wide, I::Wide),
    sums: &mut [f64; LANES],
) {
    let mut powers = [I::Wide::ZERO; N];
    for l in 0..N {
        let x = x[l].wide();
        powers[l] = power(x, largest, scale);
        to[l] = if LOG { x } else { powers[l] };
    }
    add_to_sums(&powers, sums);
}

/// Adds 16 or 64 terms to the sums of their lanes: four terms in their own type, and their sum in `f64`.
#[inline(always)]
pub fn add_to_sums<T: Float, const N: usize>(terms: &[T; N], sums: &mut [f64; LANES]) {
    for l in 0..LANES {
        let mut sum = terms[l];
        if N == CHUNK {
            sum = sum.plus(terms[l + N / 4]).plus(terms[l + N / 2].plus(terms[l + N / 2 + N / 4]));
        }
        sums[l] += sum.widen();
    }
}

/// Stores the results of the last row.
struct LastLoop<'a, 'b, O: Stored, const LOG: bool> {
    out: &'b Sink<'a, O>,
    values: &'b [O::Wide],
    waiting: Waiting<O::Wide>,
}

impl<O: Stored, const LOG: bool> Loop for LastLoop<'_, '_, O, LOG> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: only this thread uses this row, whose elements are in the buffer.
        unsafe { storing::<O, LOG>(self.out, self.waiting, self.values).finish() };
    }
}

/// The largest element. A NaN may be ignored here, because its exponential is NaN too, and so is every result of the row.
#[inline(always)]
pub fn largest<I: Stored>(row: &[I]) -> I::Wide {
    let larger = |a: I::Wide, b: I::Wide| if b > a { b } else { a };
    let mut found = [I::Wide::LOWEST; CHUNK];
    let (chunks, rest) = row.as_chunks::<CHUNK>();
    for x in chunks {
        for l in 0..CHUNK {
            found[l] = larger(found[l], x[l].wide());
        }
    }
    let half: [I::Wide; CHUNK / 2] = each(I::Wide::ZERO, |l| larger(found[l], found[l + CHUNK / 2]));
    let mut lanes: [I::Wide; LANES] = each(I::Wide::ZERO, |l| larger(half[l], half[l + CHUNK / 4]));
    let (chunks, rest) = rest.as_chunks::<LANES>();
    for x in chunks {
        for l in 0..LANES {
            lanes[l] = larger(lanes[l], x[l].wide());
        }
    }
    rest.iter().fold(halve_16(lanes, larger), |found, x| larger(found, x.wide()))
}
