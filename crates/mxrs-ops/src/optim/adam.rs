//! Adam: steps by the gradient's mean over the root of its mean square. Kingma and Ba, arXiv:1412.6980.
//!
//! `h = clip(g + wd · w)`, `mean = beta1 · mean + (1 - beta1) · h`, `var = beta2 · var + (1 - beta2) · h²`,
//! `w -= lr · mean / (sqrt(var) + epsilon)`. The optimizer includes the bias correction in lr.
//!
//! MXNet: `adam_update`. Dtypes f32 f64 f16 bf16.

use crate::families::updates::{self, Rule, clip, single};
use mxrs_op::{InputNames, OpDef, op_params};

op_params! {
    /// Parameters of `adam_update`.
    pub struct AdamParams for "adam_update" {
        /// Learning rate.
        lr: f32,
        /// Decay of the mean.
        beta1: f32 = 0.9,
        /// Decay of the mean square.
        beta2: f32 = 0.999,
        /// Added to the square root of the mean square.
        epsilon: f32 = 1e-8,
        /// Weight decay.
        wd: f32 = 0.0,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
        /// Read and ignored (sparse gradients).
        lazy_update: bool = true,
    }
}

/// Moves the mean and the mean square toward a gradient.
pub(crate) fn move_moments(states: &mut [f64], grad: f64, beta1: f32, beta2: f32) {
    let (beta1, beta2) = (f64::from(beta1), f64::from(beta2));
    states[0] = beta1 * states[0] + (1.0 - beta1) * grad;
    states[1] = beta2 * states[1] + (1.0 - beta2) * grad * grad;
}

impl Rule for AdamParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let grad = clip(f64::from(self.rescale_grad) * grad + f64::from(self.wd) * weight, self.clip_gradient);
        move_moments(states, grad, self.beta1, self.beta2);
        weight - f64::from(self.lr) * states[0] / (states[1].sqrt() + f64::from(self.epsilon))
    }
}

/// Defines the operator `adam_update`.
pub fn define() -> OpDef {
    const SAMPLES: &[(&str, &[(&str, &str)])] = &[
        ("all", &[("lr", "0.1"), ("wd", "0.01"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6")]),
        ("plain", &[("lr", "0.001")]),
        ("betas", &[("lr", "0.01"), ("beta1", "0.5"), ("beta2", "0.9"), ("epsilon", "0.001")]),
    ];
    OpDef {
        aliases: &["_sparse_adam_update"],
        ..updates::define::<AdamParams, 4, false>(
            "adam_update",
            "step of Adam",
            InputNames::Fixed(&["weight", "grad", "mean", "var"]),
            || single(SAMPLES, &[(-0.5, 0.5), (0.0, 1.0)], None),
        )
    }
}
