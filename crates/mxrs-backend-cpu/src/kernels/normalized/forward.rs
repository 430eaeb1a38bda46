//! `out = (x - mean) / std · gamma + beta`.

use super::{Moments, Problem, moments, widened};
use crate::chunks::{CHUNK, Compute, Storing, chunk_of, each};
use crate::kernels::rows::halve_16;
use crate::kernels::softmax::{LANES, add_to_sums};
use crate::level::Loop;
use crate::number::{Element, Float, Number, Stored};
use crate::split::in_ranges;
use crate::stream::AHEAD;
use crate::tensors::{Sink, Source};
use mxrs_op::KernelArgs;
use mxrs_types::Result;
use std::ops::Range;

/// Computes all groups.
pub fn run<I: Stored>(args: &KernelArgs<'_>, p: &Problem) -> Result<()> {
    let data = Source::<I>::of(args, 0);
    let [out, means, spreads] = [Sink::of(args, 0, p.dtype)?, Sink::of(args, 1, p.dtype)?, Sink::of(args, 2, p.dtype)?];
    let [gamma, beta] = [1, 2].map(|input| widened::<I>(args, input, p.n_gamma));
    in_ranges(args.team, p.n_groups, 4 * p.size, &|groups| {
        let mut last = None;
        for group in groups {
            // A group has all elements of gamma, or one.
            let mine = if p.is_per_element { 0..p.n_gamma } else { group % p.n_gamma..group % p.n_gamma + 1 };
            let Moments { mean, squares } =
                p.level.run(MomentsLoop { data: &data, out: &out, at: p.group(group), last });
            let variance = squares / p.size as f64;
            let std = (variance + p.eps).sqrt();
            let spread = if p.is_variance { variance } else { std };
            // SAFETY: `in_ranges` gives each group to one thread.
            unsafe {
                means.put(group, [I::nearest(I::Wide::from_f64(mean))]);
                spreads.put(group, [I::nearest(I::Wide::from_f64(spread))]);
            }
            let [mean, scale] = [mean, 1.0 / std].map(I::Wide::from_f64);
            let at = p.group(group);
            last = Some(Group {
                data: &data,
                start: at.start,
                mean,
                scale,
                gamma: &gamma[mine.clone()],
                beta: &beta[mine],
            });
        }
        if let Some(last) = last {
            p.level.run(LastLoop { out: &out, at: last.start..last.start + p.size, last });
        }
    });
    Ok(())
}

/// A group, and what its results are computed with.
#[derive(Clone, Copy)]
struct Group<'a, 'b, I: Stored> {
    data: &'b Source<'a, I>,
    start: usize,
    mean: I::Wide,
    /// The inverse of `std`.
    scale: I::Wide,
    gamma: &'b [I::Wide],
    beta: &'b [I::Wide],
}

impl<I: Stored> Compute<I> for Group<'_, '_, I> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [I; N] {
        let (mean, scale) = (self.mean, self.scale);
        // SAFETY: the caller's contract.
        let x = unsafe { self.data.chunk::<N>(at) };
        if let ([gamma], [beta]) = (self.gamma, self.beta) {
            return each(I::ZERO, |l| I::nearest(x[l].wide().minus(mean).times(scale).mul_add(*gamma, *beta)));
        }
        let at = at - self.start;
        let (gamma, beta) = (chunk_of::<_, N>(self.gamma, at), chunk_of::<_, N>(self.beta, at));
        each(I::ZERO, |l| I::nearest(x[l].wide().minus(mean).times(scale).mul_add(gamma[l], beta[l])))
    }
}

/// Computes the moments of a group, and stores the results of the group before.
struct MomentsLoop<'a, 'b, I: Stored> {
    data: &'b Source<'a, I>,
    out: &'b Sink<'a, I>,
    at: Range<usize>,
    last: Option<Group<'a, 'b, I>>,
}

impl<I: Stored> Loop for MomentsLoop<'_, '_, I> {
    type Output = Moments;
    #[inline(always)]
    fn run(self) -> Moments {
        let Self { data, out, at, last } = self;
        // SAFETY: this thread alone has this group and the group before, and reads each element of the data before it stores the
        // result there.
        let (x, mut last) = unsafe {
            let last = last.map(|last| Storing::new(*out, last.start..last.start + at.len(), last));
            (data.slice(at.clone()), last)
        };
        let mut sums = [0.0; LANES];
        let (chunks, rest) = x.as_chunks::<CHUNK>();
        for (i, x) in chunks.iter().enumerate() {
            data.prefetch::<CHUNK>(at.start + i * CHUNK + AHEAD / size_of::<I>());
            let wide: [I::Wide; CHUNK] = each(I::Wide::ZERO, |l| x[l].wide());
            add_to_sums(&wide, &mut sums);
            if let Some(last) = &mut last {
                // SAFETY: as above.
                unsafe { last.step() };
            }
        }
        for (l, x) in rest.iter().enumerate() {
            sums[l % LANES] += x.wide().widen();
        }
        if let Some(last) = last {
            // SAFETY: as above.
            unsafe { last.finish() };
        }
        moments(x, halve_16(sums, |a, b| a + b))
    }
}

/// Stores the results of the last group.
struct LastLoop<'a, 'b, I: Stored> {
    out: &'b Sink<'a, I>,
    at: Range<usize>,
    last: Group<'a, 'b, I>,
}

impl<I: Stored> Loop for LastLoop<'_, '_, I> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: this thread alone has this group.
        unsafe { Storing::new(*self.out, self.at, self.last).finish() };
    }
}
