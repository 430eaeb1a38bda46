//! Rows of neighbors that are longer than a cache, in blocks of fixed size. The data of a row is read twice: for the largest
//! element and the sum of each block, and for the results. If there are fewer rows than threads, the threads share the
//! blocks of each row.

use super::gradient::{Gradient, add_products};
use super::rows::{LANES, LONGEST, add_powers, largest};
use super::{Problem, Rows, from_sum, power};
use crate::chunks::{CHUNK, Compute, Storing, each};
use crate::kernels::rows::halve_16;
use crate::level::Loop;
use crate::number::{Element, Number, Stored};
use crate::split::in_ranges;
use crate::stream::AHEAD;
use crate::tensors::{Scratch, Sink, Source};
use mxrs_op::KernelArgs;
use std::ops::Range;

/// Number of elements of a block. A block is read twice while it is in the first-level cache.
const BLOCK: usize = 4096;

/// What is known of a block. Forward: its largest element, and the sum of the exponentials relative to it. Backward: 0, and
/// the sum of the products `g · y` of output gradient and output.
type Part = [f64; 2];

/// Bytes of scratch memory: a part for each block.
pub fn scratch_bytes(rows: Rows) -> usize {
    if rows.size > LONGEST { rows.outer * rows.size.div_ceil(BLOCK) * size_of::<Part>() } else { 0 }
}

/// What the three parts of a call compute.
struct Steps<'a, T> {
    /// The part of a block, from its elements.
    part: &'a (dyn Fn(Range<usize>) -> Part + Sync),
    /// Combines the parts of a row into the values from which the results of the row are computed.
    join: &'a (dyn Fn(&[Part]) -> T + Sync),
    /// Writes the results of a block of a row.
    write: &'a (dyn Fn(Range<usize>, &T) + Sync),
}

impl<T: Send + Sync> Steps<'_, T> {
    /// Computes all rows.
    fn run(&self, args: &KernelArgs<'_>, p: &Problem, zero: &(dyn Fn(Range<usize>) + Sync)) {
        let (outer, size) = (p.rows.outer, p.rows.size);
        let n_blocks = size.div_ceil(BLOCK);
        let parts = Scratch::<Part>::of(args, 0, outer * n_blocks);
        // The used elements of a block.
        let block = |unit: usize| {
            let (row, first) = (unit / n_blocks, unit % n_blocks * BLOCK);
            let len = p.length(args, row);
            row * size + first.min(len)..row * size + (first + BLOCK).min(len)
        };
        // SAFETY: each unit has its own part, and one thread has each unit.
        let sum = |unit: usize| unsafe { parts.slice(unit..unit + 1)[0] = (self.part)(block(unit)) };
        // SAFETY: the parts of this row have been written, and nothing changes them.
        let joined = |row: usize| (self.join)(unsafe { parts.written().slice(row * n_blocks..(row + 1) * n_blocks) });
        let write = |unit: usize, with: &T| {
            let (row, last) = (unit / n_blocks, (unit % n_blocks + 1) * BLOCK);
            let used = block(unit);
            (self.write)(used.clone(), with);
            zero(used.end..row * size + last.min(size).max(used.end - row * size));
        };
        if outer >= 2 * args.team.size() {
            in_ranges(args.team, outer, 4 * size, &|rows| {
                for row in rows {
                    let units = row * n_blocks..(row + 1) * n_blocks;
                    units.clone().for_each(sum);
                    let with = joined(row);
                    units.for_each(|unit| write(unit, &with));
                }
            });
            return;
        }
        in_ranges(args.team, outer * n_blocks, 2 * BLOCK, &|units| units.for_each(sum));
        let all: Vec<T> = (0..outer).map(joined).collect();
        in_ranges(args.team, outer * n_blocks, 2 * BLOCK, &|units| {
            units.for_each(|unit| write(unit, &all[unit / n_blocks]));
        });
    }
}

/// Writes zeros to elements that belong to this thread.
fn write_zeros<O: Stored>(out: &Sink<'_, O>, unused: Range<usize>) {
    if !unused.is_empty() {
        // SAFETY: only the calling thread uses these elements. Elements of inputs in the same memory are not read.
        unsafe { out.write(unused, |_, to| to.fill(O::ZERO)) };
    }
}

/// Computes softmax or its logarithm.
pub fn forward<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool>(
    args: &KernelArgs<'_>,
    p: &Problem,
    (data, out): (&Source<'_, I>, &Sink<'_, O>),
) {
    let scale = I::Wide::from_f64(p.scale);
    let join = |parts: &[Part]| {
        let most = parts.iter().fold(f64::NEG_INFINITY, |most, part| most.max(part[0]));
        // A block without used elements has the sum 0.
        let term = |[largest, sum]: &Part| match *sum == 0.0 && *largest < most {
            true => 0.0,
            false => sum * ((largest - most) * p.scale).exp(),
        };
        let terms = parts.iter().map(term);
        [most, from_sum::<LOG>(terms.sum())].map(I::Wide::from_f64)
    };
    Steps {
        part: &|at| p.level.run(PartLoop { data, at, scale }),
        join: &join,
        write: &|at, [largest, sum]: &[I::Wide; 2]| {
            let results = Results::<I, LOG> { data, largest: *largest, scale, sum: *sum };
            p.level.run(WriteLoop { out, at, results });
        },
    }
    .run(args, p, &|unused| write_zeros(out, unused));
}

/// Computes the part of a block.
struct PartLoop<'a, 'b, I: Stored> {
    data: &'b Source<'a, I>,
    at: Range<usize>,
    scale: I::Wide,
}

impl<I: Stored> Loop for PartLoop<'_, '_, I> {
    type Output = Part;
    #[inline(always)]
    fn run(self) -> Part {
        let Self { data, at, scale } = self;
        // SAFETY: nothing writes the data before all parts are computed, or in this row before its parts are computed.
        let row = unsafe { data.slice(at.clone()) };
        let most = largest(row);
        // If all elements of the block are -∞, the base is 0, so that their exponentials are 0 and not NaN.
        let base = if most == I::Wide::LOWEST { I::Wide::ZERO } else { most };
        let mut sums = [0.0; LANES];
        let mut unused = [I::Wide::ZERO; CHUNK];
        let (chunks, rest) = row.as_chunks::<CHUNK>();
        for (i, x) in chunks.iter().enumerate() {
            data.prefetch::<CHUNK>(at.start + BLOCK.max(AHEAD / size_of::<I>()) + i * CHUNK);
            add_powers::<I, CHUNK, false>(x, &mut unused, (base, scale), &mut sums);
        }
        for (i, x) in rest.iter().enumerate() {
            sums[i % LANES] += power(x.wide(), base, scale).widen();
        }
        [most.widen(), halve_16(sums, |a, b| a + b)]
    }
}

/// Computes the results of a block from the data.
struct Results<'a, 'b, I: Stored, const LOG: bool> {
    data: &'b Source<'a, I>,
    largest: I::Wide,
    scale: I::Wide,
    /// The value that [`from_sum`] returns for the sum of the row.
    sum: I::Wide,
}

impl<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool> Compute<O> for Results<'_, '_, I, LOG> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [O; N] {
        let Self { data, largest, scale, sum } = *self;
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        let x = unsafe { data.chunk::<N>(at) };
        each(O::ZERO, |l| {
            let x = x[l].wide();
            O::nearest(match LOG {
                true => x.minus(largest).times(scale).minus(sum),
                false => power(x, largest, scale).times(sum),
            })
        })
    }

    #[inline(always)]
    fn prefetch<const N: usize>(&self, at: usize) {
        self.data.prefetch::<N>(at);
    }
}

/// Writes the results of a block.
struct WriteLoop<'a, 'b, O, C> {
    out: &'b Sink<'a, O>,
    at: Range<usize>,
    results: C,
}

impl<O: Stored, C: Compute<O>> Loop for WriteLoop<'_, '_, O, C> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: `Steps::run` gives each block to one thread, after the parts of its row have been computed.
        unsafe { Storing::new(*self.out, self.at, self.results).finish() };
    }
}

/// Computes the gradient.
pub fn backward<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool>(
    args: &KernelArgs<'_>,
    p: &Problem,
    (ograd, output, out): (&Source<'_, I>, &Source<'_, I>, &Sink<'_, O>),
) {
    let scale = I::Wide::from_f64(p.scale);
    Steps {
        part: &|at| [0.0, p.level.run(ProductLoop::<_, LOG> { ograd, output, at })],
        join: &|parts| I::Wide::from_f64(parts.iter().map(|part| part[1]).sum()),
        write: &|at, sum: &I::Wide| {
            let results = Gradient::<I, LOG> { ograd, output, scale, sum: *sum };
            p.level.run(WriteLoop { out, at, results });
        },
    }
    .run(args, p, &|unused| write_zeros(out, unused));
}

/// Computes the sum of the products `g · y` of a block, or with `LOG` of the gradients `g`.
struct ProductLoop<'a, 'b, I, const LOG: bool> {
    ograd: &'b Source<'a, I>,
    output: &'b Source<'a, I>,
    at: Range<usize>,
}

impl<I: Stored, const LOG: bool> Loop for ProductLoop<'_, '_, I, LOG> {
    type Output = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        let Self { ograd, output, at } = self;
        let mut sums = [0.0; LANES];
        let n_chunks = at.len() / CHUNK;
        for start in (0..n_chunks).map(|i| at.start + i * CHUNK) {
            ograd.prefetch::<CHUNK>(start + AHEAD / size_of::<I>());
            output.prefetch::<CHUNK>(start + AHEAD / size_of::<I>());
            // SAFETY: nothing writes the inputs before the sums of this row are computed.
            unsafe { add_products::<I, CHUNK, LOG>(ograd.chunk(start), output.chunk(start), &mut sums) };
        }
        for (i, at) in (at.start + n_chunks * CHUNK..at.end).enumerate() {
            // SAFETY: nothing writes the inputs before the sums of this row are computed.
            let (g, y) = unsafe { (ograd.at(at).wide(), output.at(at).wide()) };
            sums[i % LANES] += if LOG { g.widen() } else { g.times(y).widen() };
        }
        halve_16(sums, |a, b| a + b)
    }
}
