//! `LeakyReLU` with a slope per channel (prelu), and its gradients.

use super::for_float;
use crate::level::{Level, Loop};
use crate::number::Float;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::{in_ranges, in_rows};
use crate::tensors::{Sink, Source};
use crate::walk::{broadcast, coalesce};
use mxrs_op::OpCall;
use mxrs_ops::elemwise::leaky_relu::{LeakyReluParams, LeakyType};
use mxrs_types::Shape;

/// Plans `LeakyReLU` with gamma, and its gradients.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let (data, is_sum) = match call.op.name {
        "LeakyReLU" => (0, false),
        "_backward_LeakyReLU" => (1, false),
        "_backward_LeakyReLU_gamma" => (1, true),
        _ => return None,
    };
    if call.params.get::<LeakyReluParams>().act_type != LeakyType::PRelu {
        return None;
    }
    let dtype = call.outputs[0].dtype;
    Some(match is_sum {
        false => for_float!(call, dtype, T => sloped::<T>(call, level, data)),
        true => for_float!(call, dtype, T => sums::<T>(call, level)),
    })
}

/// The axis of the channels.
fn channel_axis(data: &Shape) -> usize {
    1.min(data.ndim().saturating_sub(1))
}

/// Builds the kernel of `LeakyReLU` (`x` where `x` is above 0, otherwise `gamma · x`), or of the gradient of its data (`g`
/// where `x` is above 0, otherwise `gamma · g`).
fn sloped<T: Float>(call: &OpCall<'_>, level: Level, data: usize) -> Build {
    let (shape, dtype) = (&call.inputs[data].shape, call.outputs[0].dtype);
    let n_gammas = call.inputs[data + 1].shape.n_elements();
    let axis = channel_axis(shape);
    let gamma_shape: Shape = (0..shape.ndim()).map(|i| if i == axis { n_gammas } else { 1 }).collect();
    let axes = coalesce(broadcast([shape, &gamma_shape], shape));
    let step = axes.last().map_or(0, |inner| inner.strides[1]);
    out_of_place(call, 0, move |args| {
        let (x, gamma) = (Source::<T>::of(args, data), Source::<T>::of(args, data + 1));
        let (ograd, out) = (Source::<T>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
        in_rows(args.team, &axes, &|start, len, [from, slope]| {
            let fill = |piece: std::ops::Range<usize>, to: &mut [T]| {
                let at = piece.start - start;
                let part = from + at..from + at + to.len();
                let slopes = if step == 0 { slope..slope + 1 } else { slope + at..slope + at + to.len() };
                // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes an input.
                let (x, g, gamma) = unsafe { (x.slice(part.clone()), ograd.slice(part), gamma.slice(slopes)) };
                match step {
                    0 => level.run(OneSlope { x, g, gamma: gamma[0], to }),
                    _ => level.run(Slopes { x, g, gamma, to }),
                }
            };
            // SAFETY: rows are disjoint and each belongs to one thread. The inputs share no memory with the output.
            unsafe { out.write(start..start + len, fill) };
        });
        Ok(())
    })
}

/// The sums of `g · x` over the elements of each channel that are not above 0.
fn sums<T: Float>(call: &OpCall<'_>, level: Level) -> Build {
    let (shape, dtype) = (&call.inputs[1].shape, call.outputs[0].dtype);
    let (mut outer, mut channels, mut inner) = super::around(shape, channel_axis(shape));
    if call.outputs[0].shape.n_elements() != channels {
        (outer, channels, inner) = (1, 1, shape.n_elements());
    }
    out_of_place(call, 0, move |args| {
        let (ograd, x) = (Source::<T>::of(args, 0), Source::<T>::of(args, 1));
        let out = Sink::<T>::of(args, 0, dtype)?;
        in_ranges(args.team, channels, outer * inner, &|range| {
            // SAFETY: ranges are disjoint and each belongs to one thread. The kernel never runs in place (`out_of_place`),
            // so nothing writes an input.
            unsafe {
                out.write(range, |piece, to| {
                    for (to, channel) in to.iter_mut().zip(piece) {
                        let mut lanes = [0.0; LANES];
                        for o in 0..outer {
                            let start = (o * channels + channel) * inner;
                            let part = start..start + inner;
                            level.run(SumLoop { g: ograd.slice(part.clone()), x: x.slice(part), lanes: &mut lanes });
                        }
                        *to = T::from_f64(lanes.iter().sum());
                    }
                });
            }
        });
        Ok(())
    })
}

/// Number of partial sums.
const LANES: usize = 16;

struct OneSlope<'a, T> {
    x: &'a [T],
    g: &'a [T],
    gamma: T,
    to: &'a mut [T],
}

impl<T: Float> Loop for OneSlope<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for ((to, x), g) in self.to.iter_mut().zip(self.x).zip(self.g) {
            *to = if *x > T::ZERO { *g } else { self.gamma.times(*g) };
        }
    }
}

struct Slopes<'a, T> {
    x: &'a [T],
    g: &'a [T],
    gamma: &'a [T],
    to: &'a mut [T],
}

impl<T: Float> Loop for Slopes<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (((to, x), g), gamma) in self.to.iter_mut().zip(self.x).zip(self.g).zip(self.gamma) {
            *to = if *x > T::ZERO { *g } else { gamma.times(*g) };
        }
    }
}

struct SumLoop<'a, T> {
    g: &'a [T],
    x: &'a [T],
    lanes: &'a mut [f64; LANES],
}

impl<T: Float> Loop for SumLoop<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let term = |g: T, x: T| if x <= T::ZERO { g.widen() * x.widen() } else { 0.0 };
        let ((g, g_rest), (x, x_rest)) = (self.g.as_chunks::<LANES>(), self.x.as_chunks::<LANES>());
        for (g, x) in g.iter().zip(x) {
            for l in 0..LANES {
                self.lanes[l] += term(g[l], x[l]);
            }
        }
        for (lane, (g, x)) in self.lanes.iter_mut().zip(g_rest.iter().zip(x_rest)) {
            *lane += term(*g, *x);
        }
    }
}
