//! `out = (x - mean) / std · gamma + beta`.

use super::{Moments, Problem, moments, widened};
use crate::chunks::{Compute, Storing, chunk_of, each};
use crate::level::Loop;
use crate::number::{Float, Number, Stored};
use crate::split::in_ranges;
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
        for group in groups {
            let at = p.group(group);
            // SAFETY: `in_ranges` gives each group to one thread, and the results are stored after this use of the slice.
            let Moments { mean, squares } = p.level.run(MomentsLoop(unsafe { data.slice(at.clone()) }));
            let variance = squares / p.size as f64;
            let std = (variance + p.eps).sqrt();
            let spread = if p.is_variance { variance } else { std };
            // SAFETY: `in_ranges` gives each group to one thread.
            unsafe {
                means.put(group, [I::nearest(I::Wide::from_f64(mean))]);
                spreads.put(group, [I::nearest(I::Wide::from_f64(spread))]);
            }
            let [mean, scale] = [mean, 1.0 / std].map(I::Wide::from_f64);
            // A group uses all elements of gamma, or only one.
            let mine = if p.is_per_element { 0..p.n_gamma } else { group % p.n_gamma..group % p.n_gamma + 1 };
            let (gamma, beta) = (&gamma[mine.clone()], &beta[mine]);
            let group = Group { data: &data, start: at.start, mean, scale, gamma, beta };
            p.level.run(StoreLoop { out: &out, at, group });
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
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        let x = unsafe { self.data.chunk::<N>(at) };
        if let ([gamma], [beta]) = (self.gamma, self.beta) {
            return each(I::ZERO, |l| I::nearest(x[l].wide().minus(mean).times(scale).mul_add(*gamma, *beta)));
        }
        let at = at - self.start;
        let (gamma, beta) = (chunk_of::<_, N>(self.gamma, at), chunk_of::<_, N>(self.beta, at));
        each(I::ZERO, |l| I::nearest(x[l].wide().minus(mean).times(scale).mul_add(gamma[l], beta[l])))
    }

    #[inline(always)]
    fn prefetch<const N: usize>(&self, at: usize) {
        self.data.prefetch::<N>(at);
    }
}

/// Computes the moments of a group.
struct MomentsLoop<'a, I>(&'a [I]);

impl<I: Stored> Loop for MomentsLoop<'_, I> {
    type Output = Moments;
    #[inline(always)]
    fn run(self) -> Moments {
        moments(self.0)
    }
}

/// Stores the results of a group.
struct StoreLoop<'a, 'b, I: Stored> {
    out: &'b Sink<'a, I>,
    at: Range<usize>,
    group: Group<'a, 'b, I>,
}

impl<I: Stored> Loop for StoreLoop<'_, '_, I> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: only this thread uses this group.
        unsafe { Storing::new(*self.out, self.at, self.group).finish() };
    }
}
