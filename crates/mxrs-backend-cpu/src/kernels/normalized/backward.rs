//! The gradients. With `y` the normalized element and `h = ograd · gamma`: data gets
//! `(h - mean(h) - y · mean(h · y)) / std`, gamma the sum of `ograd · y`, and beta the sum of `ograd`.

use super::{Moments, PIECE, Problem, in_lanes, moments, prefetch_around, widened};
use crate::chunks::{Compute, Storing, chunk_of, each};
use crate::kernels::rows::{LANES, Sum, join_lanes};
use crate::level::Loop;
use crate::number::{Element, Float, Number, Stored};
use crate::split::in_ranges;
use crate::stream::AHEAD;
use crate::tensors::{Scratch, Sink, Source};
use mxrs_op::KernelArgs;
use mxrs_types::Result;

/// The groups are cut into about this many blocks, each with sums for gamma and beta of its own.
const BLOCKS: usize = 64;
/// Number of groups whose terms of gamma and of beta are added up before they are added to the sums of the block.
const TILE: usize = 8;

/// Number of groups of a block.
fn per_block(p: &Problem) -> usize {
    p.n_groups.div_ceil(BLOCKS).max(1)
}

/// The number of sums for gamma, and as many for beta, that a block of `n` groups has: one for each element of gamma, or one
/// for each group.
fn sums_of_block(p: &Problem, n: usize) -> usize {
    if p.is_per_element { p.size } else { n }
}

/// Number of sums of all blocks.
fn n_sums(p: &Problem) -> usize {
    let (each, blocks) = (per_block(p), p.n_groups.div_ceil(per_block(p)));
    if p.is_per_element { 2 * sums_of_block(p, each) * blocks } else { 2 * p.n_groups }
}

/// Bytes of scratch memory.
pub fn scratch_bytes(p: &Problem) -> usize {
    n_sums(p) * size_of::<f64>()
}

/// Computes all gradients.
pub fn run<I: Stored>(args: &KernelArgs<'_>, p: &Problem) -> Result<()> {
    let [ograd, data] = [0, 1].map(|input| Source::<I>::of(args, input));
    let [out, to_gamma, to_beta] =
        [Sink::of(args, 0, p.dtype)?, Sink::of(args, 1, p.dtype)?, Sink::of(args, 2, p.dtype)?];
    let gamma = widened::<I>(args, 2, p.n_gamma);
    let scratch = Scratch::<f64>::of(args, 0, n_sums(p));
    let n_blocks = p.n_groups.div_ceil(per_block(p));
    let groups_of = |block: usize| block * per_block(p)..((block + 1) * per_block(p)).min(p.n_groups);
    let sums_of = |block: usize| {
        let (groups, first) = (groups_of(block), block * sums_of_block(p, per_block(p)));
        2 * first..2 * (first + sums_of_block(p, groups.len()))
    };
    let tensors = Tensors { ograd: &ograd, data: &data, out: &out, gamma: &gamma };
    in_ranges(args.team, n_blocks, 6 * per_block(p) * p.size, &|blocks| {
        for block in blocks {
            let groups = groups_of(block);
            // SAFETY: each block has sums of its own, and `in_ranges` gives each block to one thread.
            let sums = unsafe { scratch.slice(sums_of(block)) };
            sums.fill(0.0);
            let (gammas, betas) = sums.split_at_mut(sums.len() / 2);
            for first in groups.clone().step_by(TILE) {
                let n = TILE.min(groups.end - first);
                let own = if p.is_per_element { 0..p.size } else { first - groups.start..first - groups.start + n };
                let sums = [&mut gammas[own.clone()], &mut betas[own]];
                p.level.run(TileLoop { tensors, p, first, n, sums });
            }
        }
    });
    let mut totals = vec![[0.0; 2]; p.n_gamma];
    for block in 0..n_blocks {
        // SAFETY: all threads of the team have finished.
        let sums = unsafe { scratch.written().slice(sums_of(block)) };
        let (gammas, betas) = sums.split_at(sums.len() / 2);
        let first = if p.is_per_element { 0 } else { groups_of(block).start };
        for (i, (gamma, beta)) in gammas.iter().zip(betas).enumerate() {
            let total = &mut totals[(first + i) % p.n_gamma];
            *total = [total[0] + gamma, total[1] + beta];
        }
    }
    for (i, total) in totals.iter().enumerate() {
        let [gamma, beta] = total.map(|sum| I::nearest(I::Wide::from_f64(sum)));
        // SAFETY: all threads of the team have finished, and these outputs are in the memory of no input that is still read.
        unsafe {
            to_gamma.put(i, [gamma]);
            to_beta.put(i, [beta]);
        }
    }
    Ok(())
}

/// The tensors of a call.
struct Tensors<'a, 'b, I: Stored> {
    ograd: &'b Source<'a, I>,
    data: &'b Source<'a, I>,
    out: &'b Sink<'a, I>,
    gamma: &'b [I::Wide],
}

impl<I: Stored> Copy for Tensors<'_, '_, I> {}

impl<I: Stored> Clone for Tensors<'_, '_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

/// A group, and what the gradient of its data is computed with.
#[derive(Clone, Copy)]
struct Group<'a, 'b, I: Stored> {
    ograd: &'b Source<'a, I>,
    data: &'b Source<'a, I>,
    start: usize,
    gamma: &'b [I::Wide],
    mean: I::Wide,
    /// The inverse of `std`.
    scale: I::Wide,
    /// The mean of `h`.
    shift: I::Wide,
    /// The mean of `h · y`, divided by `std`.
    slope: I::Wide,
}

impl<I: Stored> Compute<I> for Group<'_, '_, I> {
    #[inline(always)]
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [I; N] {
        let Self { mean, scale, shift, slope, .. } = *self;
        // SAFETY: the caller guarantees that no other thread writes these elements of the inputs.
        let (g, x) = unsafe { (self.ograd.chunk::<N>(at), self.data.chunk::<N>(at)) };
        let result = |g: I, x: I, gamma: I::Wide| {
            let h = g.wide().times(gamma);
            I::nearest(slope.negative().mul_add(x.wide().minus(mean), h.minus(shift)).times(scale))
        };
        if let [gamma] = self.gamma {
            return each(I::ZERO, |l| result(g[l], x[l], *gamma));
        }
        let gamma = chunk_of::<_, N>(self.gamma, at - self.start);
        each(I::ZERO, |l| result(g[l], x[l], gamma[l]))
    }
}

/// Computes the gradients of the data of a few groups that follow each other, and adds to the sums of gamma and beta.
struct TileLoop<'a, 'b, 'c, I: Stored> {
    tensors: Tensors<'a, 'b, I>,
    p: &'c Problem,
    first: usize,
    n: usize,
    /// The sums of gamma and of beta: those of all elements, or those of the groups.
    sums: [&'c mut [f64]; 2],
}

impl<I: Stored> Loop for TileLoop<'_, '_, '_, I> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { tensors, p, first, n, sums: [gammas, betas] } = self;
        let Tensors { ograd, data, out, gamma } = tensors;
        let (zero, size) = (I::Wide::ZERO, p.size as f64);
        let empty = Group { ograd, data, start: 0, gamma, mean: zero, scale: zero, shift: zero, slope: zero };
        let mut groups = [empty; TILE];
        for (i, group) in groups.iter_mut().enumerate().take(n) {
            let at = p.group(first + i);
            let start = at.start;
            // SAFETY: only this thread uses these groups. The slices are no longer used when the gradient is stored.
            let (g, x) = unsafe { (ograd.slice(at.clone()), data.slice(at.clone())) };
            let Moments { mean, squares } = moments(x);
            let inverse = 1.0 / (squares / size + p.eps).sqrt();
            let [mean, scale] = [mean, inverse].map(I::Wide::from_f64);
            let mine = if p.is_per_element { gamma } else { &gamma[(first + i) % p.n_gamma..][..1] };
            let [of_h, of_product] = if p.is_per_element {
                sums_with_gamma(g, x, gamma, mean)
            } else {
                let [sum, product] = sums(g, x, mean);
                (gammas[i], betas[i]) = (product * inverse, sum);
                [sum, product].map(|sum| sum * mine[0].widen())
            };
            // `of_product` is the sum of `h (x - mean)`, so it lacks a factor of `1 / std`.
            let [shift, slope] = [of_h / size, of_product * inverse / size * inverse].map(I::Wide::from_f64);
            *group = Group { ograd, data, start, gamma: mine, mean, scale, shift, slope };
            if !p.is_per_element {
                // SAFETY: only this thread uses this group, and no slice of its inputs is used any more.
                unsafe { Storing::new(*out, at, *group).finish() };
            }
        }
        if p.is_per_element {
            add_elements(&groups[..n], p.size, [gammas, betas]);
            for group in &groups[..n] {
                // SAFETY: only this thread uses this group, and no slice of its inputs is used any more.
                unsafe { Storing::new(*out, group.start..group.start + p.size, *group).finish() };
            }
        }
    }
}

/// Adds `g y` and `g` of each element of the groups to the sums of the element.
#[inline(always)]
fn add_elements<I: Stored>(groups: &[Group<'_, '_, I>], size: usize, [gammas, betas]: [&mut [f64]; 2]) {
    let ((gammas, gammas_rest), (betas, betas_rest)) = (gammas.as_chunks_mut(), betas.as_chunks_mut());
    for (i, (gammas, betas)) in gammas.iter_mut().zip(betas).enumerate() {
        add_chunk::<I, LANES>(groups, i * LANES, gammas, betas);
    }
    let whole = size - gammas_rest.len();
    for (i, (gamma, beta)) in gammas_rest.iter_mut().zip(betas_rest).enumerate() {
        add_chunk::<I, 1>(groups, whole + i, std::array::from_mut(gamma), std::array::from_mut(beta));
    }
}

/// Does the same as [`add_elements`] for the `N` elements from element `at` of each group on.
#[inline(always)]
fn add_chunk<I: Stored, const N: usize>(
    groups: &[Group<'_, '_, I>],
    at: usize,
    gammas: &mut [f64; N],
    betas: &mut [f64; N],
) {
    let (mut of_gamma, mut of_beta) = ([I::Wide::ZERO; N], [I::Wide::ZERO; N]);
    for group in groups {
        // SAFETY: only the thread of the caller uses these groups, whose elements are within both tensors.
        let (g, x) = unsafe { (group.ograd.chunk::<N>(group.start + at), group.data.chunk::<N>(group.start + at)) };
        for l in 0..N {
            let g = g[l].wide();
            of_gamma[l] = g.mul_add(x[l].wide().minus(group.mean).times(group.scale), of_gamma[l]);
            of_beta[l] = of_beta[l].plus(g);
        }
    }
    for l in 0..N {
        gammas[l] += of_gamma[l].widen();
        betas[l] += of_beta[l].widen();
    }
}

/// The sums of `h` and of `h (x - mean)`.
#[inline(always)]
fn sums_with_gamma<I: Stored>(g: &[I], x: &[I], gamma: &[I::Wide], mean: I::Wide) -> [f64; 2] {
    let mut totals = [0.0; 2];
    for ((g, x), gamma) in g.chunks(PIECE).zip(x.chunks(PIECE)).zip(gamma.chunks(PIECE)) {
        prefetch_around(g.as_ptr().wrapping_add(AHEAD / size_of::<I>()), g.len());
        let (mut of_h, mut of_product) = ([I::Wide::ZERO; LANES], [I::Wide::ZERO; LANES]);
        let ((g, g_rest), (x, x_rest)) = (g.as_chunks::<LANES>(), x.as_chunks::<LANES>());
        let (gamma, gamma_rest) = gamma.as_chunks::<LANES>();
        for ((g, x), gamma) in g.iter().zip(x).zip(gamma) {
            for l in 0..LANES {
                let h = g[l].wide().times(gamma[l]);
                of_h[l] = of_h[l].plus(h);
                of_product[l] = h.mul_add(x[l].wide().minus(mean), of_product[l]);
            }
        }
        let [h, product] = [of_h, of_product].map(|sums| join_lanes::<I::Wide, Sum>(each(0.0, |l| sums[l].widen())));
        totals = [totals[0] + h, totals[1] + product];
        for ((g, x), gamma) in g_rest.iter().zip(x_rest).zip(gamma_rest) {
            let h = g.wide().times(*gamma);
            totals = [totals[0] + h.widen(), totals[1] + h.times(x.wide().minus(mean)).widen()];
        }
    }
    totals
}

/// The sums of `g` and of `g (x - mean)`.
#[inline(always)]
fn sums<I: Stored>(g: &[I], x: &[I], mean: I::Wide) -> [f64; 2] {
    let mut totals = [0.0; 2];
    for (g, x) in g.chunks(PIECE).zip(x.chunks(PIECE)) {
        prefetch_around(g.as_ptr().wrapping_add(AHEAD / size_of::<I>()), g.len());
        totals[0] += in_lanes(g, x, |sum, g, _| sum.plus(g));
        totals[1] += in_lanes(g, x, |sum, g, x| g.mul_add(x.minus(mean), sum));
    }
    totals
}
