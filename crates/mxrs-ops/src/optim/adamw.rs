//! Adam with decoupled weight decay. Loshchilov and Hutter, arXiv:1711.05101.
//!
//! `h = clip(scale · grad)`, moments as in `adam.rs`, `w -= eta · (lr · mean / (sqrt(var) + epsilon) + wd · w)`. The
//! scale of the gradient is a tensor of one element; if it is 0 or not finite, nothing changes.
//!
//! MXNet: `_adamw_update`, `_mp_adamw_update`. Dtypes f32 f64 f16 bf16; mixed: f16 bf16; the scale is f32.

use super::adam::move_moments;
use crate::families::updates::{self, Rule, clip, single};
use mxrs_op::{InputNames, OpDef, op_params};

op_params! {
    /// Parameters of `_adamw_update` and `_mp_adamw_update`.
    pub struct AdamwParams for "_adamw_update" {
        /// Learning rate of the gradient's part of the step.
        lr: f32,
        /// Decay of the mean.
        beta1: f32 = 0.9,
        /// Decay of the mean square.
        beta2: f32 = 0.999,
        /// Added to the square root of the mean square.
        epsilon: f32 = 1e-8,
        /// Weight decay.
        wd: f32 = 0.0,
        /// Factor of the whole step.
        eta: f32,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
    }
}

/// The hyperparameters of one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub rates: [f32; 3],
    pub betas: [f32; 2],
    pub epsilon: f32,
    pub clip_gradient: f32,
}

impl Step {
    /// Updates the moments and returns the new weight. The field `rates` holds lr, wd and eta, in this order.
    pub fn apply(self, scale: f64, weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let [lr, wd, eta] = self.rates.map(f64::from);
        move_moments(states, clip(scale * grad, self.clip_gradient), self.betas[0], self.betas[1]);
        weight - eta * (lr * states[0] / (states[1].sqrt() + f64::from(self.epsilon)) + wd * weight)
    }
}

/// Whether the gradient cannot be used because its scale is 0 or not finite.
pub(crate) fn is_unusable(shared: &[Vec<f64>]) -> bool {
    shared.iter().flatten().any(|scale| !scale.is_finite() || *scale == 0.0)
}

impl Rule for AdamwParams {
    fn shared_sizes(&self) -> Vec<usize> {
        vec![1]
    }

    fn is_skipped(&self, shared: &[Vec<f64>]) -> bool {
        is_unusable(shared)
    }

    fn step(&self, _: usize, shared: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let (rates, betas) = ([self.lr, self.wd, self.eta], [self.beta1, self.beta2]);
        let step = Step { rates, betas, epsilon: self.epsilon, clip_gradient: self.clip_gradient };
        step.apply(shared[0][0], weight, grad, states)
    }
}

/// Defines the operator `_adamw_update`.
pub fn define() -> OpDef {
    updates::define::<AdamwParams, 4, false>(
        "_adamw_update",
        "step of Adam with decoupled weight decay",
        InputNames::Fixed(&["weight", "grad", "mean", "var", "rescale_grad"]),
        || single(SAMPLES, &[(-0.5, 0.5), (0.0, 1.0)], Some((0.5, 1.5))),
    )
}

/// Defines the operator `_mp_adamw_update`.
pub fn define_mp() -> OpDef {
    updates::define::<AdamwParams, 5, true>(
        "_mp_adamw_update",
        "step of Adam with decoupled weight decay in mixed precision",
        InputNames::Fixed(&["weight", "grad", "mean", "var", "weight32", "rescale_grad"]),
        || single(SAMPLES, &[(-0.5, 0.5), (0.0, 1.0), (-1.0, 1.0)], Some((0.5, 1.5))),
    )
}

const SAMPLES: &[(&str, &[(&str, &str)])] = &[
    ("all", &[("lr", "0.1"), ("eta", "0.5"), ("wd", "0.01"), ("clip_gradient", "0.6")]),
    ("plain", &[("lr", "0.001"), ("eta", "1")]),
    ("betas", &[("lr", "0.01"), ("eta", "1"), ("beta1", "0.5"), ("beta2", "0.9"), ("epsilon", "0.001")]),
];
