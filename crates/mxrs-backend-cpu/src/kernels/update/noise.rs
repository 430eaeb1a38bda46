//! Steps with normally distributed noise: `_sgld_update`. Element `i` computes its noise from the words `2 i` and `2 i + 1`
//! of the call's random numbers by the Box-Muller method.

use super::io::{Io, Types};
use super::step::clip;
use super::{LINE, PIECE};
use crate::chunks::each;
use crate::kernels::philox::{BLOCKS, uniform_blocks};
use crate::level::{Level, Loop};
use crate::math;
use crate::plan::{Planned, row_major};
use crate::split::Tensors;
use mxrs_op::{OpCall, RandomCall};
use mxrs_ops::SgldParams;
use mxrs_types::Error;
use std::f32::consts::FRAC_PI_2;
use std::ops::Range;

/// Plans the call.
pub fn plan(call: &OpCall<'_>, level: Level) -> Planned {
    let types = Types::of(call)?;
    let p = call.params.get::<SgldParams>();
    let bound = if p.clip_gradient >= 0.0 { p.clip_gradient } else { f32::INFINITY };
    let noisy = Noisy { lr: p.lr, wd: p.wd, rescale_grad: p.rescale_grad, bound, level };
    let weight = Tensors::new(vec![call.outputs[0].shape.n_elements()], LINE);
    Ok(row_major(call, 0, move |args| {
        let none = || Error::invalid("random numbers of _sgld_update", "none", "a seed and a number");
        let random = args.random.ok_or_else(none)?;
        let io = types.io(args, level)?;
        // SAFETY: `in_ranges` gives these elements of both tensors to this thread alone.
        weight.in_ranges(args.team, &|_, at| unsafe { noisy.update(&io, random, at) });
        Ok(())
    }))
}

struct Noisy {
    lr: f32,
    wd: f32,
    rescale_grad: f32,
    bound: f32,
    level: Level,
}

impl Noisy {
    /// Updates the elements `at`, which begin at an even index.
    ///
    /// # Safety
    /// No other thread may use these elements of the tensors.
    unsafe fn update(&self, io: &Io<'_>, random: RandomCall, at: Range<usize>) {
        let (mut weights, mut grads) = ([0.0; PIECE], [0.0; PIECE]);
        for start in at.clone().step_by(PIECE) {
            let piece = start..at.end.min(start + PIECE);
            // SAFETY: the caller gives this thread these elements.
            let (weight, grad) =
                unsafe { (io.open((0, 0), piece.clone(), &mut weights), io.read(1, piece.clone(), &mut grads)) };
            let first_block = start as u64 / 2;
            self.level.run(Step { of: self, weight: &mut *weight, grad, random, first_block });
            if !io.is_in_place(0, 0) {
                // SAFETY: the caller gives this thread these elements.
                unsafe { io.store(0, piece, weight) };
            }
        }
    }
}

struct Step<'a> {
    of: &'a Noisy,
    weight: &'a mut [f32],
    grad: &'a [f32],
    random: RandomCall,
    /// The block of random numbers of the first two elements. Each block has the four numbers of two elements.
    first_block: u64,
}

impl Loop for Step<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Noisy { lr, wd, rescale_grad, bound, .. } = *self.of;
        let (half, root) = (lr / 2.0, lr.sqrt());
        let pieces = self.weight.chunks_mut(2 * BLOCKS).zip(self.grad.chunks(2 * BLOCKS));
        for (i, (weight, grad)) in pieces.enumerate() {
            let [a, b, c, d] = uniform_blocks(self.random, self.first_block + (i * BLOCKS) as u64);
            let (even, odd) = (normal(a, b), normal(c, d));
            let noise: [f32; 2 * BLOCKS] = each(0.0, |i| if i % 2 == 0 { even[i / 2] } else { odd[i / 2] });
            for ((w, g), noise) in weight.iter_mut().zip(grad).zip(&noise) {
                let step = half * (clip(rescale_grad * *g, bound) + wd * *w);
                *w = *w - step + root * noise;
            }
        }
    }
}

/// Normally distributed numbers from two uniform numbers each.
#[inline(always)]
fn normal(first: [f32; BLOCKS], second: [f32; BLOCKS]) -> [f32; BLOCKS] {
    each(0.0, |b| {
        // One minus a number in [0, 1) is never 0, so its logarithm is finite.
        let radius = (-2.0 * math::ln(1.0 - first[b])).sqrt();
        radius * cos_of_turns(second[b])
    })
}

/// Computes `cos(2 π x)` for `x` from 0 to 1, with 24 bits after the point, so that the reduction to quarters of a turn is
/// exact. The series of sine and cosine end where the next term is below 3e-9.
#[inline(always)]
fn cos_of_turns(x: f32) -> f32 {
    let quarters = 4.0 * x;
    let quarter = (quarters + 0.5) as i32;
    let r = quarters - quarter as f32;
    // The series are in the square of the angle.
    let angle = r * FRAC_PI_2;
    let z = angle * angle;
    let sine = (1.0f32 / 362_880.0).mul_add(z, -1.0 / 5040.0).mul_add(z, 1.0 / 120.0).mul_add(z, -1.0 / 6.0);
    let sine = (angle * z).mul_add(sine, angle);
    let cosine = (-1.0f32 / 3_628_800.0).mul_add(z, 1.0 / 40_320.0).mul_add(z, -1.0 / 720.0);
    let cosine = cosine.mul_add(z, 1.0 / 24.0).mul_add(z, -0.5).mul_add(z, 1.0);
    // A quarter turn makes a cosine a negative sine; half a turn changes the sign.
    let value = if quarter & 1 == 0 { cosine } else { -sine };
    if quarter & 2 == 0 { value } else { -value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::ulps;

    #[test]
    fn cosines_are_within_3_units() {
        for i in 0..=200_000 {
            let x = (i * 83) as f32 / 16_777_216.0;
            let expected = (std::f64::consts::TAU * f64::from(x)).cos();
            // At quarters of a turn the exact result is 0, and the expected one is the rounding error of the angle.
            let is_close = (f64::from(cos_of_turns(x)) - expected).abs() < 1e-15;
            assert!(is_close || ulps(cos_of_turns(x), expected) <= 3.0, "cos of {x} turns");
        }
    }
}
