//! Stochastic gradient Langevin dynamics. Patterson and Teh, NIPS 2013.
//!
//! `w += -lr / 2 · (clip(g) + wd · w) + sqrt(lr) · e`, where the numbers e are independent and normally distributed.
//! Element `i` computes its e from words `2 i` and `2 i + 1` of the call's random numbers, by the Box-Muller method.

use crate::families::updates::{self, Rule, clip, single};
use crate::numeric;
use mxrs_op::{InputNames, OpDef, OpParams, RandomCall, RefInput, RefOutput, RunMode, op_params};
use mxrs_types::{Error, Result};

op_params! {
    /// Parameters of `_sgld_update`.
    pub struct Params for "_sgld_update" {
        /// Learning rate.
        lr: f32,
        /// Weight decay.
        wd: f32 = 0.0,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
    }
}

impl Rule for Params {
    /// Returns the weight after a step without the noise.
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, _: &mut [f64]) -> f64 {
        let grad = clip(f64::from(self.rescale_grad) * grad, self.clip_gradient);
        weight - f64::from(self.lr) / 2.0 * (grad + f64::from(self.wd) * weight)
    }
}

/// Normally distributed number `i` of a call.
fn normal(random: RandomCall, i: u64) -> f64 {
    // One minus a number in [0, 1) is never 0, so its logarithm is finite.
    let radius = (-2.0 * (1.0 - f64::from(random.uniform(2 * i))).ln()).sqrt();
    radius * (std::f64::consts::TAU * f64::from(random.uniform(2 * i + 1))).cos()
}

fn noisy(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    let rule = params.get::<Params>();
    let random =
        mode.random.ok_or_else(|| Error::invalid("random numbers of _sgld_update", "none", "a seed and a number"))?;
    let [mut weight, grad] = [0, 1].map(|i| numeric::read(&inputs[i]));
    for (i, (w, g)) in weight.iter_mut().zip(&grad).enumerate() {
        *w = rule.step(0, &[], *w, *g, &mut []) + f64::from(rule.lr).sqrt() * normal(random, i as u64);
    }
    numeric::write(&mut outputs[0], &weight);
    Ok(())
}

/// Defines the operator `_sgld_update`.
pub fn define() -> OpDef {
    const ALL: &[(&str, &str)] = &[("lr", "0.1"), ("wd", "0.01"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6")];
    OpDef {
        is_random: |_, _| true,
        reference: Some(noisy),
        ..updates::define::<Params, 2, false>(
            "_sgld_update",
            "step of Langevin dynamics",
            InputNames::Fixed(&["weight", "grad"]),
            || single(&[("all", ALL), ("plain", &[("lr", "0.1")])], &[], None),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_standard_normal() {
        let random = RandomCall { seed: 5, number: 9 };
        let n = 20_000;
        let values: Vec<f64> = (0..n).map(|i| normal(random, i)).collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
        // The limits are four standard deviations of the estimated mean and variance.
        assert!(mean.abs() < 4.0 / (n as f64).sqrt(), "{mean}");
        assert!((variance - 1.0).abs() < 4.0 * (2.0 / n as f64).sqrt(), "{variance}");
    }
}
