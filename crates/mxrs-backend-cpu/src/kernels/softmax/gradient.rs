//! The gradients of softmax and its logarithm, over rows whose elements are neighbors and fit in a cache. The gradient of a
//! row is stored while the products of output and output gradient of the next row are added up.

use super::Problem;
use super::rows::{LANES, add_to_sums};
use crate::chunks::{CHUNK, Compute, Storing, each};
use crate::kernels::rows::halve_16;
use crate::level::Loop;
use crate::number::{Element, Float, Number, Stored};
use crate::split::in_ranges;
use crate::stream::AHEAD;
use crate::tensors::{Sink, Source};
use mxrs_op::KernelArgs;
use std::ops::Range;

/// Computes the gradient of all rows.
pub fn backward<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool>(
    args: &KernelArgs<'_>,
    p: &Problem,
    (ograd, output, out): (&Source<'_, I>, &Source<'_, I>, &Sink<'_, O>),
) {
    let size = p.rows.size;
    let scale = I::Wide::from_f64(p.scale);
    in_ranges(args.team, p.rows.outer, 4 * size, &|rows| {
        let mut last: Option<(Range<usize>, I::Wide)> = None;
        for row in rows {
            let at = row * size..row * size + p.length(args, row);
            let sum = p.level.run(RowLoop::<_, _, LOG> { ograd, output, out, at: Some(at.clone()), scale, last });
            let unused = at.end..(row + 1) * size;
            if !unused.is_empty() {
                // SAFETY: `in_ranges` gives each row to one thread. The inputs of these elements are not used.
                unsafe { out.write(unused, |_, to| to.fill(O::ZERO)) };
            }
            last = Some((at, sum));
        }
        p.level.run(RowLoop::<_, _, LOG> { ograd, output, out, at: None, scale, last });
    });
}

/// Adds up the products `g · y` of a row, and stores the gradient of the row before.
struct RowLoop<'a, 'b, I: Stored, O, const LOG: bool> {
    ograd: &'b Source<'a, I>,
    output: &'b Source<'a, I>,
    out: &'b Sink<'a, O>,
    /// The elements of the row; `None` after the last row.
    at: Option<Range<usize>>,
    scale: I::Wide,
    /// The row before, and its sum.
    last: Option<(Range<usize>, I::Wide)>,
}

impl<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool> Loop for RowLoop<'_, '_, I, O, LOG> {
    type Output = I::Wide;
    #[inline(always)]
    fn run(self) -> I::Wide {
        let Self { ograd, output, out, at, scale, last } = self;
        // SAFETY: only this thread uses this row and the row before, and reads each element before it stores the gradient
        // there.
        let mut last =
            last.map(|(at, sum)| unsafe { Storing::new(*out, at, Gradient::<I, LOG> { ograd, output, scale, sum }) });
        let at = at.unwrap_or(0..0);
        let mut sums = [0.0; LANES];
        let ahead = AHEAD / size_of::<I>();
        let chunks = at.start..at.start + at.len() / CHUNK * CHUNK;
        for start in chunks.clone().step_by(CHUNK) {
            ograd.prefetch::<CHUNK>(start + ahead);
            output.prefetch::<CHUNK>(start + ahead);
            // SAFETY: only this thread uses this row and the row before, and it reads each element before it stores a
            // gradient there.
            unsafe {
                add_products::<I, CHUNK, LOG>(ograd.chunk(start), output.chunk(start), &mut sums);
                if let Some(last) = &mut last {
                    last.step();
                }
            }
        }
        ograd.prefetch::<CHUNK>(chunks.end + ahead);
        output.prefetch::<CHUNK>(chunks.end + ahead);
        let small = chunks.end..chunks.end + (at.end - chunks.end) / LANES * LANES;
        for start in small.clone().step_by(LANES) {
            // SAFETY: only this thread uses this row and the row before, and it reads each element before it stores a
            // gradient there.
            unsafe { add_products::<I, LANES, LOG>(ograd.chunk(start), output.chunk(start), &mut sums) };
        }
        for (i, at) in (small.end..at.end).enumerate() {
            // SAFETY: only this thread uses this row and the row before, and it reads each element before it stores a
            // gradient there.
            let (g, y) = unsafe { (ograd.at(at).wide(), output.at(at).wide()) };
            sums[i] += if LOG { g.widen() } else { g.times(y).widen() };
        }
        if let Some(last) = last {
            // SAFETY: only this thread uses this row and the row before, and it reads each element before it stores a
            // gradient there.
            unsafe { last.finish() };
        }
        I::Wide::from_f64(halve_16(sums, |a, b| a + b))
    }
}

/// Adds the products `g · y` of a chunk, or with `LOG` only the gradients `g` of the output, to the sums of their lanes.
#[inline(always)]
pub fn add_products<I: Stored, const N: usize, const LOG: bool>(g: &[I; N], y: &[I; N], sums: &mut [f64; LANES]) {
    let products: [I::Wide; N] =
        each(I::Wide::ZERO, |l| if LOG { g[l].wide() } else { g[l].wide().times(y[l].wide()) });
    add_to_sums(&products, sums);
}

/// Computes the gradient `y (g - sum) / t`, or with `LOG` `(g - e^y sum) / t`, where `t` is the temperature.
pub struct Gradient<'a, 'b, I: Stored, const LOG: bool> {
    pub ograd: &'b Source<'a, I>,
    pub output: &'b Source<'a, I>,
    /// The inverse of `t`.
    pub scale: I::Wide,
    pub sum: I::Wide,
}

/// The gradient of an element.
#[inline(always)]
pub fn through<T: Float, const LOG: bool>(g: T, y: T, sum: T, scale: T) -> T {
    if LOG { g.minus(y.exp_below().times(sum)) } else { y.times(g.minus(sum)) }.times(scale)
}

impl<I: Stored, O: Stored<Wide = I::Wide>, const LOG: bool> Compute<O> for Gradient<'_, '_, I, LOG> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [O; N] {
        let Self { ograd, output, scale, sum } = *self;
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        let (g, y) = unsafe { (ograd.chunk::<N>(at), output.chunk::<N>(at)) };
        each(O::ZERO, |l| O::nearest(through::<_, LOG>(g[l].wide(), y[l].wide(), sum, scale)))
    }

    #[inline(always)]
    fn prefetch<const N: usize>(&self, at: usize) {
        self.ograd.prefetch::<N>(at);
        self.output.prefetch::<N>(at);
    }
}
