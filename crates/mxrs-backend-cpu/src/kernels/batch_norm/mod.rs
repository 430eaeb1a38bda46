//! Batch normalization and its gradient, on row-major data with the channels along any axis. A plane is the run of
//! neighboring elements of one channel.
//!
//! Long planes are summed in pieces: within a piece in the type of the data, over the pieces in `f64`. The sums of the
//! planes of a channel are then combined in the order of the planes. If there are enough channels, a thread computes the
//! sums and the results of one channel after the other, so that the data of a channel is still in a cache when it is read
//! again.
//!
//! `columns.rs` has the kernel for short planes. If the channels are the last axis, a plane has one element.
//!
//! Results have the same bits on any number of threads.

mod columns;
mod planes;

use super::{around, for_float};
use crate::level::Level;
use crate::number::Float;
use crate::plan::{Build, Planned, row_major};
use crate::split::in_ranges;
use crate::tensors::{Scratch, Sink, Source};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_types::{DType, Result};
pub use planes::join;
use planes::{Gradient, Moments, Normalize, Products, joined};

/// Number of outputs of `BatchNorm` before the inputs that it rewrites.
const N_OUTPUTS: usize = 3;
/// Planes of fewer elements are short.
const SHORT_PLANE: usize = 16;

/// Plans batch normalization or its gradient.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let data = match call.op.name {
        "BatchNorm" => 0,
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

/// Two numbers of a plane or a channel: mean and sum of squared distances from it, or two sums of the gradient.
type Pair = [f64; 2];

/// What the elements of a channel are computed with. Forward: `(x - mean) * scale + shift`. Backward:
/// `(ograd - shift - (x - mean) * slope) * scale`.
#[derive(Clone, Copy)]
struct Factors<T> {
    mean: T,
    scale: T,
    shift: T,
    slope: T,
}

impl Problem {
    fn planes(&self) -> usize {
        self.outer * self.channels
    }

    /// Number of elements of a channel.
    fn count(&self) -> f64 {
        (self.outer * self.inner) as f64
    }

    /// The next plane of the same channel, which is prefetched while this plane is summed. After the last plane, this plane
    /// itself.
    fn next(&self, plane: usize) -> usize {
        if plane + self.channels < self.planes() { plane + self.channels } else { plane }
    }

    fn is_short(&self) -> bool {
        self.inner < SHORT_PLANE
    }

    fn scratch_bytes(&self) -> usize {
        if self.is_short() { columns::scratch_bytes(self) } else { self.planes() * size_of::<Pair>() }
    }

    /// Runs the three parts of a call with long planes: two numbers for each plane, the factors of each channel from these
    /// numbers of its planes, and the elements of each plane. `steps.write` gets the factors. If each thread has several
    /// channels, the parts run channel by channel.
    fn run<T: Float>(&self, args: &KernelArgs<'_>, steps: &Steps<'_, T>) {
        let pairs = Scratch::<Pair>::of(args, 0, self.planes());
        let sum_plane = |plane: usize| {
            if self.uses_batch || steps.always_sums {
                // SAFETY: each plane is summed once, by one thread.
                unsafe { pairs.slice(plane..plane + 1)[0] = (steps.sum)(plane) };
            }
        };
        let factors_of = |channel: usize| {
            // SAFETY: the planes of this channel have been summed, and nothing writes their numbers.
            let pair = |plane: usize| unsafe { pairs.written().at(plane) };
            (steps.factors)(channel, &mut (0..self.outer).map(|n| pair(n * self.channels + channel)))
        };
        let planes_of = |channel: usize| (0..self.outer).map(move |n| n * self.channels + channel);
        if self.channels >= 2 * args.team.size() {
            in_ranges(args.team, self.channels, 4 * self.outer * self.inner, &|channels| {
                for channel in channels {
                    planes_of(channel).for_each(sum_plane);
                    let factors = factors_of(channel);
                    // The planes that were summed last are most likely to be in a cache.
                    planes_of(channel).rev().for_each(|plane| (steps.write)(plane, &factors));
                }
            });
            return;
        }
        in_ranges(args.team, self.planes(), 2 * self.inner, &|planes| planes.for_each(sum_plane));
        let factors: Vec<Factors<T>> = (0..self.channels).map(factors_of).collect();
        in_ranges(args.team, self.planes(), 2 * self.inner, &|planes| {
            planes.for_each(|plane| (steps.write)(plane, &factors[plane % self.channels]));
        });
    }
}

/// The parts of a call with long planes.
struct Steps<'a, T> {
    /// Whether planes are summed even if the statistics are not those of the batch.
    always_sums: bool,
    /// Computes the two numbers of a plane that [`Pair`] describes.
    sum: &'a (dyn Fn(usize) -> Pair + Sync),
    /// Writes the statistics of a channel, and returns its factors.
    factors: &'a FactorsOf<'a, T>,
    /// Writes the elements of a plane.
    write: &'a (dyn Fn(usize, &Factors<T>) + Sync),
}

/// Computes the factors of a channel from the numbers of its planes.
type FactorsOf<'a, T> = dyn Fn(usize, &mut dyn Iterator<Item = Pair>) -> Factors<T> + Sync + 'a;

/// The outputs that have one value for each channel.
struct Statistics<'a, T> {
    sinks: Vec<Sink<'a, T>>,
}

impl<'a, T: Float> Statistics<'a, T> {
    /// The outputs of the call after the first, which is the normalized data or its gradient.
    fn of(args: &KernelArgs<'a>, p: &Problem) -> Result<Self> {
        let sinks = (1..args.outputs.len()).map(|output| Sink::of(args, output, p.dtype));
        Ok(Self { sinks: sinks.collect::<Result<_>>()? })
    }

    /// Writes the value of a channel to output number `output` of the call.
    ///
    /// # Safety
    /// No other thread may use this value of the output.
    unsafe fn put(&self, output: usize, channel: usize, value: f64) {
        if let Some(sink) = self.sinks.get(output - 1) {
            // SAFETY: the caller excludes other threads, and `fill` reads nothing.
            unsafe { sink.write(channel..channel + 1, |_, to| to[0] = T::from_f64(value)) };
        }
    }
}

fn forward<T: Float + 'static>(call: &OpCall<'_>, problem: Problem) -> Build {
    let rewrites = (call.op.rewrites)(call.params, call.is_train);
    row_major(call, problem.scratch_bytes(), move |args| run_forward::<T>(args, &problem, rewrites))
}

fn run_forward<T: Float + 'static>(args: &KernelArgs<'_>, p: &Problem, rewrites: &[usize]) -> Result<()> {
    let data = Source::<T>::of(args, 0);
    let (out, statistics) = (Sink::<T>::of(args, 0, p.dtype)?, Statistics::<T>::of(args, p)?);
    let factors = |channel: usize, of_batch: Option<(f64, f64)>| {
        // SAFETY: one thread computes each channel, and reads each value of an input before it writes to the same address.
        unsafe {
            let given = |input: usize| Source::<T>::of(args, input).at(channel).widen();
            let (mean, variance) = match of_batch {
                Some((mean, squares)) => (mean, squares / p.count()),
                None => (given(3), given(4)),
            };
            let inverse = 1.0 / (variance + p.eps).sqrt();
            let gamma = if p.fix_gamma { 1.0 } else { given(1) };
            let shift = given(2);
            statistics.put(1, channel, mean);
            statistics.put(2, channel, inverse);
            for (output, input) in rewrites.iter().enumerate() {
                let moved = |batch: f64| p.momentum * given(*input) + (1.0 - p.momentum) * batch;
                let value = match input {
                    3 => moved(mean),
                    4 => moved(variance),
                    _ => 1.0,
                };
                statistics.put(N_OUTPUTS + output, channel, value);
            }
            let [mean, scale, shift] = [mean, gamma * inverse, shift].map(T::from_f64);
            Factors { mean, scale, shift, slope: T::ZERO }
        }
    };
    if p.is_short() {
        columns::forward(args, p, (&data, &out), &factors);
        return Ok(());
    }
    let plane = |plane: usize| plane * p.inner..(plane + 1) * p.inner;
    // SAFETY: only the output, which is written last, may be in the memory of the data.
    let elements = |at: usize| unsafe { data.slice(plane(at)) };
    p.run(
        args,
        &Steps {
            always_sums: false,
            sum: &|at| p.level.run(Moments { x: elements(at), next: elements(p.next(at)) }),
            factors: &|channel, pairs| factors(channel, p.uses_batch.then(|| joined(pairs, p.inner))),
            write: &|at, factors| p.level.run(Normalize { data: &data, out: &out, at: plane(at), factors }),
        },
    );
    Ok(())
}

fn backward<T: Float + 'static>(call: &OpCall<'_>, problem: Problem) -> Build {
    row_major(call, problem.scratch_bytes(), move |args| run_backward::<T>(args, &problem))
}

fn run_backward<T: Float + 'static>(args: &KernelArgs<'_>, p: &Problem) -> Result<()> {
    let [ograd, data, gamma, mean, inverse] = [0, 1, 2, 3, 4].map(|input| Source::<T>::of(args, input));
    let (out, statistics) = (Sink::<T>::of(args, 0, p.dtype)?, Statistics::<T>::of(args, p)?);
    let factors = |channel: usize, [sum, product]: Pair| {
        // SAFETY: one thread computes each channel, and the outputs that are written here are not in the memory of an
        // input.
        unsafe {
            let (inverse, mean) = (inverse.at(channel).widen(), mean.at(channel).widen());
            let scale = if p.fix_gamma { inverse } else { inverse * gamma.at(channel).widen() };
            let to_gamma = product * inverse;
            // The statistics of the batch depend on the data, so a part of the gradient goes through them. Moving statistics
            // are constants.
            let through = if p.uses_batch { [sum / p.count(), to_gamma * inverse / p.count()] } else { [0.0, 0.0] };
            statistics.put(1, channel, if p.fix_gamma { 0.0 } else { to_gamma });
            statistics.put(2, channel, sum);
            let [mean, scale, shift, slope] = [mean, scale, through[0], through[1]].map(T::from_f64);
            Factors { mean, scale, shift, slope }
        }
    };
    if p.is_short() {
        columns::backward(args, p, (&ograd, &data, &mean, &out), &factors);
        return Ok(());
    }
    let plane = |plane: usize| plane * p.inner..(plane + 1) * p.inner;
    // SAFETY: only the output, which is written last, may be in the memory of an input.
    let elements = |at: usize| unsafe { [ograd.slice(plane(at)), data.slice(plane(at))] };
    p.run(
        args,
        &Steps {
            always_sums: true,
            sum: &|at| {
                let ([ograd, x], next) = (elements(at), elements(p.next(at)));
                // SAFETY: the outputs are written later, so nothing writes the inputs now.
                p.level.run(Products { ograd, x, next, mean: unsafe { mean.at(at % p.channels) } })
            },
            factors: &|channel, pairs| {
                let sums = pairs.fold([0.0, 0.0], |sums, pair| [sums[0] + pair[0], sums[1] + pair[1]]);
                factors(channel, sums)
            },
            write: &|at, factors| {
                p.level.run(Gradient { ograd: &ograd, data: &data, out: &out, at: plane(at), factors });
            },
        },
    );
    Ok(())
}
