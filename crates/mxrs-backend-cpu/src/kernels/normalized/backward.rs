//! The gradients. With `y` the normalized element and `h = ograd · gamma`: data gets `(h - mean(h) - y · mean(h · y)) / std`,
//! gamma the sum of `ograd · y`, and beta the sum of `ograd`.

use super::{Moments, Problem, moments, sum_of, widened};
use crate::chunks::{CHUNK, Compute, Storing, chunk_of, each};
use crate::kernels::rows::halve_16;
use crate::kernels::softmax::{LANES, add_to_sums};
use crate::level::Loop;
use crate::number::{Element, Float, Number, Stored};
use crate::split::in_ranges;
use crate::stream::AHEAD;
use crate::tensors::{Scratch, Sink, Source};
use mxrs_op::KernelArgs;
use mxrs_types::Result;
use std::ops::Range;

/// The groups are cut into about this many blocks, each with sums for gamma and beta of its own.
const BLOCKS: usize = 64;

/// The gradient of a group's or an element's gamma, and of its beta.
type Pair = [f64; 2];

/// Number of groups of a block.
fn per_block(p: &Problem) -> usize {
    p.n_groups.div_ceil(BLOCKS).max(1)
}

/// Number of pairs that are joined into one pair of each element of gamma.
fn n_pairs(p: &Problem) -> usize {
    if p.is_per_element { p.n_groups.div_ceil(per_block(p)) * p.size } else { p.n_groups }
}

/// Bytes of scratch memory.
pub fn scratch_bytes(p: &Problem) -> usize {
    n_pairs(p) * size_of::<Pair>()
}

/// Computes all gradients.
pub fn run<I: Stored>(args: &KernelArgs<'_>, p: &Problem) -> Result<()> {
    let [ograd, data] = [0, 1].map(|input| Source::<I>::of(args, input));
    let [out, to_gamma, to_beta] =
        [Sink::of(args, 0, p.dtype)?, Sink::of(args, 1, p.dtype)?, Sink::of(args, 2, p.dtype)?];
    let gamma = widened::<I>(args, 2, p.n_gamma);
    let pairs = Scratch::<Pair>::of(args, 0, n_pairs(p));
    let n_blocks = p.n_groups.div_ceil(per_block(p));
    in_ranges(args.team, n_blocks, 6 * per_block(p) * p.size, &|blocks| {
        let mut last = None;
        for block in blocks {
            let groups = block * per_block(p)..((block + 1) * per_block(p)).min(p.n_groups);
            // SAFETY: each block, and each group, has pairs of its own, and `in_ranges` gives each block to one thread.
            let mine = unsafe {
                pairs.slice(match p.is_per_element {
                    true => block * p.size..(block + 1) * p.size,
                    false => groups.clone(),
                })
            };
            mine.fill([0.0; 2]);
            for group in groups.clone() {
                let (pairs, gamma) = match p.is_per_element {
                    true => (&mut *mine, &gamma[..]),
                    false => {
                        let (i, gamma_at) = (group - groups.start, group % p.n_gamma);
                        (&mut mine[i..i + 1], &gamma[gamma_at..gamma_at + 1])
                    }
                };
                let tensors = (&ograd, &data, &out);
                last = Some(p.level.run(GroupLoop { tensors, at: p.group(group), eps: p.eps, gamma, pairs, last }));
            }
        }
        if let Some(last) = last {
            p.level.run(LastLoop { out: &out, at: last.start..last.start + p.size, last });
        }
    });
    // SAFETY: the team has finished.
    let pairs = unsafe { pairs.written().slice(0..n_pairs(p)) };
    let mut sums = vec![[0.0; 2]; p.n_gamma];
    for pairs in pairs.chunks(p.n_gamma.max(1)) {
        for (sum, pair) in sums.iter_mut().zip(pairs) {
            *sum = [sum[0] + pair[0], sum[1] + pair[1]];
        }
    }
    for (i, sum) in sums.iter().enumerate() {
        let [gamma, beta] = sum.map(|sum| I::nearest(I::Wide::from_f64(sum)));
        // SAFETY: the team has finished, and these outputs are in the memory of no input that is still read.
        unsafe {
            to_gamma.put(i, [gamma]);
            to_beta.put(i, [beta]);
        }
    }
    Ok(())
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
        // SAFETY: the caller's contract.
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

/// Computes the sums of a group, and stores the gradient of the group before.
struct GroupLoop<'a, 'b, 'c, I: Stored> {
    tensors: (&'b Source<'a, I>, &'b Source<'a, I>, &'b Sink<'a, I>),
    at: Range<usize>,
    eps: f64,
    gamma: &'b [I::Wide],
    /// A pair for each element of gamma.
    pairs: &'c mut [Pair],
    last: Option<Group<'a, 'b, I>>,
}

impl<'a, 'b, I: Stored> Loop for GroupLoop<'a, 'b, '_, I> {
    type Output = Group<'a, 'b, I>;
    #[inline(always)]
    fn run(self) -> Group<'a, 'b, I> {
        let Self { tensors: (ograd, data, out), at, eps, gamma, pairs, last } = self;
        // SAFETY: this thread alone has this group and the group before, and reads each element of an input before it stores the
        // gradient there.
        let (g, x, mut last) = unsafe {
            let last = last.map(|last| Storing::new(*out, last.start..last.start + at.len(), last));
            (ograd.slice(at.clone()), data.slice(at.clone()), last)
        };
        let mut sums = [0.0; LANES];
        for (i, x) in x.as_chunks::<CHUNK>().0.iter().enumerate() {
            let soon = at.start + i * CHUNK + AHEAD / size_of::<I>();
            data.prefetch::<CHUNK>(soon);
            ograd.prefetch::<CHUNK>(soon);
            let wide: [I::Wide; CHUNK] = each(I::Wide::ZERO, |l| x[l].wide());
            add_to_sums(&wide, &mut sums);
            if let Some(last) = &mut last {
                // SAFETY: as above.
                unsafe { last.step() };
            }
        }
        for (l, x) in x.as_chunks::<CHUNK>().1.iter().enumerate() {
            sums[l % LANES] += x.wide().widen();
        }
        if let Some(last) = last {
            // SAFETY: as above.
            unsafe { last.finish() };
        }
        let n = x.len() as f64;
        let Moments { mean, squares } = moments(x, halve_16(sums, |a, b| a + b));
        let inverse = 1.0 / (squares / n + eps).sqrt();
        let [mean, scale] = [mean, inverse].map(I::Wide::from_f64);
        let [of_h, of_product] = if gamma.len() > 1 {
            add_elements(g, x, (mean, scale), pairs);
            sums_with_gamma(g, x, gamma, mean)
        } else {
            let [sum, product] = [sum_of(g, |g| g), sum_of_products(g, x, mean)];
            pairs[0] = [pairs[0][0] + product * inverse, pairs[0][1] + sum];
            let gamma = gamma[0].widen();
            [gamma * sum, gamma * product]
        };
        let shift = of_h / n;
        // `of_product` is the sum of `h (x - mean)`, so it lacks a factor of `1 / std`.
        let slope = of_product * inverse / n * inverse;
        let [shift, slope] = [shift, slope].map(I::Wide::from_f64);
        Group { ograd, data, start: at.start, gamma, mean, scale, shift, slope }
    }
}

/// Adds `g y` and `g` of each element to its pair.
#[inline(always)]
fn add_elements<I: Stored>(g: &[I], x: &[I], (mean, scale): (I::Wide, I::Wide), pairs: &mut [Pair]) {
    for ((pair, g), x) in pairs.iter_mut().zip(g).zip(x) {
        let g = g.wide();
        let y = x.wide().minus(mean).times(scale);
        *pair = [pair[0] + g.times(y).widen(), pair[1] + g.widen()];
    }
}

/// The sums of `h` and of `h (x - mean)`.
#[inline(always)]
fn sums_with_gamma<I: Stored>(g: &[I], x: &[I], gamma: &[I::Wide], mean: I::Wide) -> [f64; 2] {
    let mut sums = [[0.0; LANES]; 2];
    let ((g, g_rest), (x, x_rest)) = (g.as_chunks::<CHUNK>(), x.as_chunks::<CHUNK>());
    let (gamma, gamma_rest) = gamma.as_chunks::<CHUNK>();
    for ((g, x), gamma) in g.iter().zip(x).zip(gamma) {
        let h: [I::Wide; CHUNK] = each(I::Wide::ZERO, |l| g[l].wide().times(gamma[l]));
        add_to_sums(&h, &mut sums[0]);
        let products: [I::Wide; CHUNK] = each(I::Wide::ZERO, |l| h[l].times(x[l].wide().minus(mean)));
        add_to_sums(&products, &mut sums[1]);
    }
    for (l, ((g, x), gamma)) in g_rest.iter().zip(x_rest).zip(gamma_rest).enumerate() {
        let h = g.wide().times(*gamma);
        sums[0][l % LANES] += h.widen();
        sums[1][l % LANES] += h.times(x.wide().minus(mean)).widen();
    }
    sums.map(|sums| halve_16(sums, |a, b| a + b))
}

/// The sum of `g (x - mean)`.
#[inline(always)]
fn sum_of_products<I: Stored>(g: &[I], x: &[I], mean: I::Wide) -> f64 {
    let mut sums = [0.0; LANES];
    let ((g, g_rest), (x, x_rest)) = (g.as_chunks::<CHUNK>(), x.as_chunks::<CHUNK>());
    for (g, x) in g.iter().zip(x) {
        let products: [I::Wide; CHUNK] = each(I::Wide::ZERO, |l| g[l].wide().times(x[l].wide().minus(mean)));
        add_to_sums(&products, &mut sums);
    }
    for (l, (g, x)) in g_rest.iter().zip(x_rest).enumerate() {
        sums[l % LANES] += g.wide().times(x.wide().minus(mean)).widen();
    }
    halve_16(sums, |a, b| a + b)
}

/// Stores the gradient of the last group.
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
