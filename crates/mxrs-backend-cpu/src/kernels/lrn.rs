//! Local response normalization across channels, and its gradient.
//!
//! A tile is some neighboring elements of all channels of an image, few enough that the tile stays in the second-level cache
//! of a core. The elements of one channel of a tile are a line. Sums have `nsize` terms and are made in the type of the
//! data, so the relative error of a sum of squares in `f32` is at most `(nsize + 2) 2^-24`.

use super::for_float;
use crate::level::{Level, Loop};
use crate::number::Float;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::in_ranges;
use crate::tensors::{Sink, Source};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::nn::lrn::LrnParams;
use mxrs_types::Result;
use std::ops::Range;

/// Number of elements of a tile.
const TILE: usize = 1 << 16;
/// The most neighboring elements of one channel in a tile.
const WIDEST: usize = 512;

/// A planned call.
#[derive(Clone, Copy)]
struct Problem {
    images: usize,
    channels: usize,
    /// Number of elements of a channel of an image.
    cells: usize,
    /// Number of channels of a window on each side of its channel.
    reach: usize,
    /// `alpha / nsize`.
    scale: f64,
    beta: f64,
    knorm: f64,
    level: Level,
}

/// Plans `LRN` or its gradient.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let data = match call.op.name {
        "LRN" => 0,
        "_backward_LRN" => 1,
        _ => return None,
    };
    let params = call.params.get::<LrnParams>();
    let (shape, dtype) = (&call.inputs[data].shape, call.inputs[data].dtype);
    let p = Problem {
        images: shape[0],
        channels: shape[1],
        cells: shape[2..].iter().product(),
        reach: params.nsize as usize / 2,
        scale: f64::from(params.alpha) / f64::from(params.nsize),
        beta: f64::from(params.beta),
        knorm: f64::from(params.knorm),
        level,
    };
    Some(for_float!(call, dtype, T => build::<T>(call, p, data == 0)))
}

fn build<T: Float + 'static>(call: &OpCall<'_>, p: Problem, is_forward: bool) -> Build {
    let dtype = call.outputs[0].dtype;
    out_of_place(call, 0, move |args| match is_forward {
        true => forward::<T>(args, &p, [Sink::of(args, 0, dtype)?, Sink::of(args, 1, dtype)?]),
        false => backward::<T>(args, &p, Sink::of(args, 0, dtype)?),
    })
}

impl Problem {
    /// The most neighboring elements of one channel in a tile.
    fn width(&self) -> usize {
        (TILE / self.channels.max(1)).clamp(16, WIDEST)
    }

    /// Calls `tile` for each tile, with the positions of the first channel's elements.
    fn in_tiles(&self, args: &KernelArgs<'_>, tile: &(dyn Fn(Range<usize>) + Sync)) {
        let per_image = self.cells.div_ceil(self.width());
        in_ranges(args.team, self.images * per_image, 8 * self.channels * self.width(), &|tiles| {
            for index in tiles {
                let first = index % per_image * self.width();
                let start = index / per_image * self.channels * self.cells + first;
                tile(start..start + self.width().min(self.cells - first));
            }
        });
    }

    /// The channels of the window around a channel.
    fn window(&self, channel: usize) -> Range<usize> {
        channel.saturating_sub(self.reach)..channel.saturating_add(self.reach).saturating_add(1).min(self.channels)
    }
}

/// Returns `norm^-beta`.
#[inline(always)]
fn power<T: Float>(norm: T, beta: f64) -> T {
    let one = T::from_f64(1.0);
    match beta {
        0.5 => one.over(norm.sqrt()),
        0.75 => one.over(norm.sqrt().times(norm.sqrt().sqrt())),
        1.0 => one.over(norm),
        _ => T::from_f64(norm.widen().powf(-beta)),
    }
}

fn forward<T: Float + 'static>(args: &KernelArgs<'_>, p: &Problem, [out, norms]: [Sink<'_, T>; 2]) -> Result<()> {
    let data = Source::<T>::of(args, 0);
    p.in_tiles(args, &|tile| {
        let mut norm = vec![T::ZERO; tile.len()];
        for channel in 0..p.channels {
            let at = tile.start + channel * p.cells..tile.end + channel * p.cells;
            // SAFETY: `out_of_place` plans the kernel so that it never runs in place, so nothing writes the input;
            // `in_tiles` gives each tile to one thread.
            unsafe {
                p.level.run(NormLoop { p, data: &data, tile: &tile, channel, norm: &mut norm });
                norms.write(at.clone(), |part, to| to.copy_from_slice(&norm[part.start - at.start..][..to.len()]));
                out.write(at.clone(), |part, to| {
                    let norm = &norm[part.start - at.start..];
                    p.level.run(PowerLoop { x: data.slice(part), norm, beta: p.beta, to });
                });
            }
        }
    });
    Ok(())
}

/// Computes `norm` of the elements of a channel of a tile.
struct NormLoop<'a, 'b, T> {
    p: &'b Problem,
    data: &'b Source<'a, T>,
    tile: &'b Range<usize>,
    channel: usize,
    norm: &'b mut [T],
}

impl<T: Float> Loop for NormLoop<'_, '_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { p, data, tile, channel, norm } = self;
        norm.fill(T::ZERO);
        for channel in p.window(channel) {
            // SAFETY: nothing writes the input while the call runs.
            let x = unsafe { data.slice(tile.start + channel * p.cells..tile.end + channel * p.cells) };
            norm.iter_mut().zip(x).for_each(|(sum, x)| *sum = x.mul_add(*x, *sum));
        }
        let (scale, knorm) = (T::from_f64(p.scale), T::from_f64(p.knorm));
        norm.iter_mut().for_each(|sum| *sum = scale.mul_add(*sum, knorm));
    }
}

/// Computes `x · norm^-beta`.
struct PowerLoop<'a, T> {
    x: &'a [T],
    norm: &'a [T],
    beta: f64,
    to: &'a mut [T],
}

impl<T: Float> Loop for PowerLoop<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { x, norm, beta, to } = self;
        // The most frequent exponents get loops of their own, which the compiler vectorizes: 0.75 (AlexNet's), 0.5 and 1.
        match beta {
            0.75 => times_power(x, norm, 0.75, to),
            0.5 => times_power(x, norm, 0.5, to),
            1.0 => times_power(x, norm, 1.0, to),
            _ => times_power(x, norm, beta, to),
        }
    }
}

#[inline(always)]
fn times_power<T: Float>(x: &[T], norm: &[T], beta: f64, to: &mut [T]) {
    for ((to, x), norm) in to.iter_mut().zip(x).zip(norm) {
        *to = x.times(power(*norm, beta));
    }
}

fn backward<T: Float + 'static>(args: &KernelArgs<'_>, p: &Problem, out: Sink<'_, T>) -> Result<()> {
    let (ograd, data) = (Source::<T>::of(args, 0), Source::<T>::of(args, 1));
    p.in_tiles(args, &|tile| {
        let width = tile.len();
        let (mut norm, mut powers) = (vec![T::ZERO; width], vec![T::ZERO; width * p.channels]);
        let mut terms = powers.clone();
        let line = |channel: usize| tile.start + channel * p.cells..tile.end + channel * p.cells;
        for channel in 0..p.channels {
            let own = channel * width..(channel + 1) * width;
            p.level.run(NormLoop { p, data: &data, tile: &tile, channel, norm: &mut norm });
            // SAFETY: `out_of_place` plans the kernel so that it never runs in place, so nothing writes the inputs.
            let (g, x) = unsafe { (ograd.slice(line(channel)), data.slice(line(channel))) };
            p.level.run(PowerLoop { x: g, norm: &norm, beta: p.beta, to: &mut powers[own.clone()] });
            p.level.run(TermLoop { x, powers: &powers[own.clone()], norm: &norm, to: &mut terms[own] });
        }
        for channel in 0..p.channels {
            norm.fill(T::ZERO);
            for near in p.window(channel) {
                p.level.run(AddLoop { from: &terms[near * width..(near + 1) * width], to: &mut norm });
            }
            let (at, powers) = (line(channel), &powers[channel * width..(channel + 1) * width]);
            let factor = T::from_f64(-2.0 * p.scale * p.beta);
            // SAFETY: `in_tiles` gives each tile to one thread, and the inputs share no memory with the output.
            unsafe {
                out.write(at.clone(), |part, to| {
                    let own = part.start - at.start..part.end - at.start;
                    let (sums, powers) = (&norm[own.clone()], &powers[own]);
                    p.level.run(GradientLoop { x: data.slice(part), sums, powers, factor, to });
                });
            }
        }
    });
    Ok(())
}

/// Computes `ograd · x · norm^(-beta - 1)`, where `powers` are `ograd · norm^-beta`.
struct TermLoop<'a, T> {
    x: &'a [T],
    powers: &'a [T],
    norm: &'a [T],
    to: &'a mut [T],
}

impl<T: Float> Loop for TermLoop<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (((to, x), power), norm) in self.to.iter_mut().zip(self.x).zip(self.powers).zip(self.norm) {
            *to = x.times(*power).over(*norm);
        }
    }
}

/// Adds the elements of one line to those of another.
struct AddLoop<'a, T> {
    from: &'a [T],
    to: &'a mut [T],
}

impl<T: Float> Loop for AddLoop<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.to.iter_mut().zip(self.from).for_each(|(to, from)| *to = to.plus(*from));
    }
}

/// Computes `powers + factor · x · sums`.
struct GradientLoop<'a, T> {
    x: &'a [T],
    sums: &'a [T],
    powers: &'a [T],
    factor: T,
    to: &'a mut [T],
}

impl<T: Float> Loop for GradientLoop<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (((to, x), sum), power) in self.to.iter_mut().zip(self.x).zip(self.sums).zip(self.powers) {
            *to = self.factor.times(*x).mul_add(*sum, *power);
        }
    }
}
