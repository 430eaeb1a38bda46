//! Batch normalization in training and its gradient, on row-major data with the channels along any axis. A plane is the
//! run of neighboring elements of one channel.
//!
//! Sums are made per plane, in pieces: in the type of the data within a piece, in `f64` over the pieces. Then they are
//! joined per channel in the order of the planes, so results have the same bits on any number of threads.

use super::{around, for_float};
use crate::level::{Level, Loop};
use crate::number::Float;
use crate::plan::{Build, Planned, row_major};
use crate::split::in_ranges;
use crate::tensors::{Scratch, Sink, Source};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_types::{DType, Result};
use std::ops::Range;

/// Number of elements that are summed in the type of the data.
const PIECE: usize = 1024;
/// Number of sums that a loop keeps, so that it fills registers of every width.
const LANES: usize = 32;
/// Number of outputs of `BatchNorm` before the inputs that it rewrites.
const N_OUTPUTS: usize = 3;

/// Plans batch normalization in training or its gradient.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let data = match call.op.name {
        "BatchNorm" if call.is_train => 0,
        "_backward_BatchNorm" => 1,
        _ => return None,
    };
    let p = call.params.get::<BatchNormParams>();
    let (shape, dtype) = (&call.inputs[data].shape, call.inputs[data].dtype);
    if let Some(other) = call.inputs.iter().chain(call.outputs).find(|desc| desc.dtype != dtype) {
        return Some(Err(format!("{} of {dtype} with {}", call.op.name, other.dtype)));
    }
    let Ok(axis) = shape.axis(i64::from(p.axis)) else {
        return Some(Err(format!("{} has no axis {}", shape, p.axis)));
    };
    let (outer, channels, inner) = around(shape, axis);
    if outer * inner == 0 {
        return Some(Err("there are no elements to normalize".into()));
    }
    let problem = Problem {
        outer,
        channels,
        inner,
        eps: p.eps,
        momentum: f64::from(p.momentum),
        fix_gamma: p.fix_gamma,
        uses_batch: p.uses_batch(call.is_train),
        level,
        dtype,
    };
    Some(match data {
        0 => for_float!(call, dtype, T => forward::<T>(call, problem)),
        _ => for_float!(call, dtype, T => backward::<T>(call, problem)),
    })
}

/// Sizes of the data, and the settings.
#[derive(Clone, Copy)]
struct Problem {
    outer: usize,
    channels: usize,
    inner: usize,
    eps: f64,
    momentum: f64,
    fix_gamma: bool,
    /// Whether the statistics are those of the batch, not the moving ones.
    uses_batch: bool,
    level: Level,
    dtype: DType,
}

/// Two numbers for each plane: mean and sum of squared distances from it, or two sums of the gradient.
type Pair = [f64; 2];

impl Problem {
    fn planes(&self) -> usize {
        self.outer * self.channels
    }

    /// Number of elements of a channel.
    fn count(&self) -> f64 {
        (self.outer * self.inner) as f64
    }

    fn scratch_bytes(&self) -> usize {
        (self.planes() + 2 * self.channels) * size_of::<Pair>()
    }

    /// Computes two numbers for each plane.
    fn for_planes(&self, args: &KernelArgs<'_>, of: &(dyn Fn(Range<usize>, usize) -> Pair + Sync)) {
        let pairs = Scratch::<Pair>::of(args, 0, self.planes());
        in_ranges(args.team, self.planes(), 2 * self.inner, &|planes| {
            // SAFETY: `in_ranges` gives each plane to one thread.
            let pairs = unsafe { pairs.slice(planes.clone()) };
            for (plane, pair) in planes.zip(pairs) {
                *pair = of(plane * self.inner..(plane + 1) * self.inner, plane % self.channels);
            }
        });
    }

    /// Writes each plane, with the factors of its channel, by `fill`.
    fn write<'a, T: Float>(&self, args: &KernelArgs<'a>, out: Sink<'a, T>, fill: &Fill<'_, T>) {
        let factors = Scratch::<Pair>::of(args, 0, self.planes() + 2 * self.channels).written();
        in_ranges(args.team, self.planes(), 2 * self.inner, &|planes| {
            for plane in planes {
                let at = self.planes() + 2 * (plane % self.channels);
                // SAFETY: the factors are complete, and nothing writes them. `in_ranges` gives each plane to one thread.
                // `fill` reads a piece of the inputs before the piece is written, and not after that.
                unsafe {
                    let factors = Factors::of(factors.slice(at..at + 2));
                    let range = plane * self.inner..(plane + 1) * self.inner;
                    out.write(range, |piece, to| fill(piece, to, &factors));
                }
            }
        });
    }
}

/// Computes a piece of the output: its elements, the piece, and the factors of its channel.
type Fill<'a, T> = dyn Fn(Range<usize>, &mut [T], &Factors<T>) + Sync + 'a;

/// What a plane is computed with. Forward: `(x - mean) * scale + shift`. Backward:
/// `(ograd - shift - (x - mean) * slope) * scale`.
struct Factors<T> {
    mean: T,
    scale: T,
    shift: T,
    slope: T,
}

impl<T: Float> Factors<T> {
    fn of(pairs: &[Pair]) -> Self {
        let [mean, scale, shift, slope] = [pairs[0][0], pairs[0][1], pairs[1][0], pairs[1][1]].map(T::from_f64);
        Self { mean, scale, shift, slope }
    }
}

fn forward<T: Float>(call: &OpCall<'_>, problem: Problem) -> Build {
    let rewrites = (call.op.rewrites)(call.params, call.is_train);
    row_major(call, problem.scratch_bytes(), move |args| run_forward::<T>(args, problem, rewrites))
}

fn run_forward<T: Float>(args: &KernelArgs<'_>, p: Problem, rewrites: &[usize]) -> Result<()> {
    let data = Source::<T>::of(args, 0);
    // SAFETY: only the output, which is written last, may be in the memory of the data.
    let elements = |range: Range<usize>| unsafe { data.slice(range) };
    if p.uses_batch {
        p.for_planes(args, &|range, _| p.level.run(Moments { x: elements(range) }));
    }
    let all = Scratch::<Pair>::of(args, 0, p.planes() + 2 * p.channels);
    for channel in 0..p.channels {
        // SAFETY: no other thread runs now. Each value of an input is read before its address is written.
        unsafe {
            let given = |input: usize| Source::<T>::of(args, input).at(channel).widen();
            let (mean, variance) = match p.uses_batch {
                true => {
                    let (mean, squares) = joined(p, all.written().slice(0..p.planes()), channel);
                    (mean, squares / p.count())
                }
                false => (given(3), given(4)),
            };
            let inverse = 1.0 / (variance + p.eps).sqrt();
            let gamma = if p.fix_gamma { 1.0 } else { given(1) };
            let at = p.planes() + 2 * channel;
            all.slice(at..at + 2).copy_from_slice(&[[mean, gamma * inverse], [given(2), 0.0]]);
            put::<T>(args, 1, p, channel, mean)?;
            put::<T>(args, 2, p, channel, inverse)?;
            for (output, input) in rewrites.iter().enumerate() {
                let moved = |batch: f64| p.momentum * given(*input) + (1.0 - p.momentum) * batch;
                let value = match input {
                    3 => moved(mean),
                    4 => moved(variance),
                    _ => 1.0,
                };
                put::<T>(args, N_OUTPUTS + output, p, channel, value)?;
            }
        }
    }
    let out = Sink::<T>::of(args, 0, p.dtype)?;
    p.write(args, out, &|range, to, factors| p.level.run(Normalize { x: elements(range), to, factors }));
    Ok(())
}

fn backward<T: Float>(call: &OpCall<'_>, problem: Problem) -> Build {
    row_major(call, problem.scratch_bytes(), move |args| run_backward::<T>(args, problem))
}

fn run_backward<T: Float>(args: &KernelArgs<'_>, p: Problem) -> Result<()> {
    let [ograd, data, gamma, mean, inverse] = [0, 1, 2, 3, 4].map(|input| Source::<T>::of(args, input));
    // SAFETY: only the output, which is written last, may be in the memory of an input.
    let elements = |range: Range<usize>| unsafe { (ograd.slice(range.clone()), data.slice(range)) };
    p.for_planes(args, &|range, channel| {
        let (ograd, x) = elements(range);
        // SAFETY: nothing writes the inputs now.
        p.level.run(Products { ograd, x, mean: unsafe { mean.at(channel) } })
    });
    let all = Scratch::<Pair>::of(args, 0, p.planes() + 2 * p.channels);
    for channel in 0..p.channels {
        // SAFETY: no other thread runs now, and the outputs that are written here are not in the memory of an input.
        unsafe {
            let pairs = all.written().slice(0..p.planes());
            let planes = || pairs.iter().skip(channel).step_by(p.channels);
            let (sum, product) = (planes().map(|pair| pair[0]).sum::<f64>(), planes().map(|pair| pair[1]).sum::<f64>());
            let (inverse, mean) = (inverse.at(channel).widen(), mean.at(channel).widen());
            let scale = if p.fix_gamma { inverse } else { inverse * gamma.at(channel).widen() };
            let to_gamma = product * inverse;
            // The statistics of the batch depend on the data; moving statistics are constants.
            let through = if p.uses_batch { [sum / p.count(), to_gamma * inverse / p.count()] } else { [0.0, 0.0] };
            let at = p.planes() + 2 * channel;
            all.slice(at..at + 2).copy_from_slice(&[[mean, scale], through]);
            put::<T>(args, 1, p, channel, if p.fix_gamma { 0.0 } else { to_gamma })?;
            put::<T>(args, 2, p, channel, sum)?;
        }
    }
    let out = Sink::<T>::of(args, 0, p.dtype)?;
    p.write(args, out, &|range, to, factors| {
        let (ograd, x) = elements(range);
        p.level.run(Gradient { ograd, x, to, factors });
    });
    Ok(())
}

/// Joins the moments of the planes of a channel: mean, and sum of squared distances from it. The formula is that of Chan,
/// Golub and LeVeque, Updating formulae and a pairwise algorithm for computing sample variances, 1979.
fn joined(p: Problem, pairs: &[Pair], channel: usize) -> (f64, f64) {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for pair in pairs.iter().skip(channel).step_by(p.channels) {
        join((&mut count, &mut mean, &mut squares), p.inner as f64, *pair);
    }
    (mean, squares)
}

#[inline(always)]
fn join((count, mean, squares): (&mut f64, &mut f64, &mut f64), n: f64, [other, more]: Pair) {
    let (all, delta) = (*count + n, other - *mean);
    *mean += delta * (n / all);
    *squares += more + delta * delta * (*count * n / all);
    *count = all;
}

/// Writes the value of a channel to an output with one value per channel, as its request says.
///
/// # Safety
/// No other thread may use the output.
unsafe fn put<T: Float>(args: &KernelArgs<'_>, output: usize, p: Problem, channel: usize, value: f64) -> Result<()> {
    if output >= args.outputs.len() {
        return Ok(());
    }
    let out = Sink::<T>::of(args, output, p.dtype)?;
    // SAFETY: the caller excludes other threads, and `fill` reads nothing.
    unsafe { out.write(channel..channel + 1, |_, to| to[0] = T::from_f64(value)) };
    Ok(())
}

/// Computes the mean of a plane and the sum of squared distances from it.
struct Moments<'a, T> {
    x: &'a [T],
}

impl<T: Float> Loop for Moments<'_, T> {
    type Output = Pair;
    #[inline(always)]
    fn run(self) -> Pair {
        let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
        for piece in self.x.chunks(PIECE) {
            let n = piece.len() as f64;
            let average = T::from_f64(in_lanes(piece, piece, |sum, x, _| sum.plus(x)) / n);
            let spread = in_lanes(piece, piece, |sum, x, _| {
                let distance = x.minus(average);
                distance.mul_add(distance, sum)
            });
            join((&mut count, &mut mean, &mut squares), n, [average.widen(), spread]);
        }
        [mean, squares]
    }
}

/// Computes the sum of a plane of the gradient, and the sum of its products with the distance of the data from the mean.
struct Products<'a, T> {
    ograd: &'a [T],
    x: &'a [T],
    mean: T,
}

impl<T: Float> Loop for Products<'_, T> {
    type Output = Pair;
    #[inline(always)]
    fn run(self) -> Pair {
        let mean = self.mean;
        let mut sums = [0.0; 2];
        for (ograd, x) in self.ograd.chunks(PIECE).zip(self.x.chunks(PIECE)) {
            sums[0] += in_lanes(ograd, x, |sum, g, _| sum.plus(g));
            sums[1] += in_lanes(ograd, x, |sum, g, x| g.mul_add(x.minus(mean), sum));
        }
        sums
    }
}

/// Adds up elements of two slices by `add`, in several sums that do not depend on each other.
#[inline(always)]
fn in_lanes<T: Float>(a: &[T], b: &[T], add: impl Fn(T, T, T) -> T) -> f64 {
    let mut sums = [T::ZERO; LANES];
    let (chunks, others) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = chunks.remainder().iter().zip(others.remainder());
    for (a, b) in chunks.zip(others) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum = add(*sum, *a, *b);
        }
    }
    let rest = rest.fold(T::ZERO, |sum, (a, b)| add(sum, *a, *b));
    sums.iter().map(|sum| sum.widen()).sum::<f64>() + rest.widen()
}

/// Normalizes a piece of a plane.
struct Normalize<'a, T> {
    x: &'a [T],
    to: &'a mut [T],
    factors: &'a Factors<T>,
}

impl<T: Float> Loop for Normalize<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Factors { mean, scale, shift, .. } = *self.factors;
        self.to.iter_mut().zip(self.x).for_each(|(to, x)| *to = x.minus(mean).mul_add(scale, shift));
    }
}

/// Computes the gradient of a piece of a plane.
struct Gradient<'a, T> {
    ograd: &'a [T],
    x: &'a [T],
    to: &'a mut [T],
    factors: &'a Factors<T>,
}

impl<T: Float> Loop for Gradient<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Factors { mean, scale, shift, slope } = *self.factors;
        for ((to, g), x) in self.to.iter_mut().zip(self.ograd).zip(self.x) {
            *to = slope.negative().mul_add(x.minus(mean), g.minus(shift)).times(scale);
        }
    }
}
