//! RMSProp: divides the gradient by the root of its mean square, or of its variance.
//!
//! `h = clip(g + wd · w)`, `n = gamma1 · n + (1 - gamma1) · h²`. `rmsprop_update`: `w -= lr · h / sqrt(n + epsilon)`
//! (Tieleman and Hinton, 2012). `rmspropalex_update` (Graves, arXiv:1308.0850): `m = gamma1 · m + (1 - gamma1) · h` (m is
//! the state `g`), `delta = gamma2 · delta - lr · h / sqrt(n - m² + epsilon)`, `w += delta`. The new weight is limited to
//! ±`clip_weights`, unless that is negative.
//!
//! MXNet: `rmsprop_update`, `rmspropalex_update`. Dtypes f32 f64 f16 bf16.

use crate::families::updates::{self, Rule, clip, single};
use mxrs_op::{InputNames, OpDef, op_params};

op_params! {
    /// Parameters of `rmsprop_update`.
    pub struct RmsPropParams for "rmsprop_update" {
        /// Learning rate.
        lr: f32,
        /// Decay of the mean square.
        gamma1: f32 = 0.95,
        /// Added to the mean square, or to the variance, under the square root.
        epsilon: f32 = 1e-8,
        /// Weight decay.
        wd: f32 = 0.0,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
        /// Bound of the weight's elements; negative for none.
        clip_weights: f32 = -1.0,
    }
}

op_params! {
    /// Parameters of `rmspropalex_update`.
    pub struct RmsPropAlexParams for "rmspropalex_update" {
        /// Learning rate.
        lr: f32,
        /// Decay of mean and mean square.
        gamma1: f32 = 0.95,
        /// Decay of the step.
        gamma2: f32 = 0.9,
        /// Added to the mean square, or to the variance, under the square root.
        epsilon: f32 = 1e-8,
        /// Weight decay.
        wd: f32 = 0.0,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
        /// Bound of the weight's elements; negative for none.
        clip_weights: f32 = -1.0,
    }
}

impl Rule for RmsPropParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let grad = clip(f64::from(self.rescale_grad) * grad + f64::from(self.wd) * weight, self.clip_gradient);
        let gamma1 = f64::from(self.gamma1);
        states[0] = gamma1 * states[0] + (1.0 - gamma1) * grad * grad;
        clip(weight - f64::from(self.lr) * grad / (states[0] + f64::from(self.epsilon)).sqrt(), self.clip_weights)
    }
}

impl Rule for RmsPropAlexParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let grad = clip(f64::from(self.rescale_grad) * grad + f64::from(self.wd) * weight, self.clip_gradient);
        let gamma1 = f64::from(self.gamma1);
        states[0] = gamma1 * states[0] + (1.0 - gamma1) * grad * grad;
        states[1] = gamma1 * states[1] + (1.0 - gamma1) * grad;
        let root = (states[0] - states[1] * states[1] + f64::from(self.epsilon)).sqrt();
        states[2] = f64::from(self.gamma2) * states[2] - f64::from(self.lr) * grad / root;
        clip(weight + states[2], self.clip_weights)
    }
}

const ALL: &[(&str, &str)] =
    &[("lr", "0.1"), ("wd", "0.01"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6"), ("clip_weights", "0.75")];

/// Defines the operator `rmsprop_update`.
pub fn define() -> OpDef {
    updates::define::<RmsPropParams, 3, false>(
        "rmsprop_update",
        "step of RMSProp",
        InputNames::Fixed(&["weight", "grad", "n"]),
        || single(&[("all", ALL), ("plain", &[("lr", "0.001")])], &[(0.0, 1.0)], None),
    )
}

/// Defines the operator `rmspropalex_update`.
pub fn define_alex() -> OpDef {
    updates::define::<RmsPropAlexParams, 5, false>(
        "rmspropalex_update",
        "step of centered RMSProp",
        InputNames::Fixed(&["weight", "grad", "n", "g", "delta"]),
        || {
            let states = [(1.0, 2.0), (-0.5, 0.5), (-0.1, 0.1)];
            single(&[("all", ALL), ("plain", &[("lr", "0.001"), ("gamma2", "0.5")])], &states, None)
        },
    )
}
