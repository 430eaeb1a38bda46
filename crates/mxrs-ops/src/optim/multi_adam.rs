//! Steps of Adam on several weights. Learning rates and weight decays are tensors, so that they can change from call to
//! call without a new kernel. See `adam.rs` for one weight, the only form that MXNet has.
//!
//! Inputs are `weight_0, grad_0, mean_0, var_0, weight_1, …, lrs, wds`; the last two are `[n]` of f32.

use crate::families::updates::{self, Rule, clip, grouped, numbered};
use crate::optim::adam::move_moments;
use mxrs_op::{OpDef, op_params};

op_params! {
    /// Parameters of `_preloaded_multi_adam_update`.
    pub struct PreloadedAdamParams for "_preloaded_multi_adam_update" {
        /// Decay of the means.
        beta1: f32 = 0.9,
        /// Decay of the mean squares.
        beta2: f32 = 0.999,
        /// Added to the square roots of the mean squares.
        epsilon: f32 = 1e-8,
        /// Factor of the gradients.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradients' elements; negative for none.
        clip_gradient: f32 = -1.0,
        /// Number of weights.
        num_weights: i32 = 1,
    }
}

impl Rule for PreloadedAdamParams {
    fn n_weights(&self) -> i32 {
        self.num_weights
    }

    fn shared_sizes(&self) -> Vec<usize> {
        vec![usize::try_from(self.num_weights).unwrap_or(0); 2]
    }

    fn step(&self, which: usize, shared: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let (lr, wd) = (shared[0][which], shared[1][which]);
        let grad = clip(f64::from(self.rescale_grad) * grad + wd * weight, self.clip_gradient);
        move_moments(states, grad, self.beta1, self.beta2);
        weight - lr * states[0] / (states[1].sqrt() + f64::from(self.epsilon))
    }
}

/// Defines the operator `_preloaded_multi_adam_update`.
pub fn define() -> OpDef {
    updates::define::<PreloadedAdamParams, 4, false>(
        "_preloaded_multi_adam_update",
        "steps of Adam on several weights, rates as tensors",
        numbered::<PreloadedAdamParams>(&["weight", "grad", "mean", "var"], &["lrs", "wds"]),
        || {
            let attrs = [("rescale_grad", "0.5"), ("clip_gradient", "0.6")];
            let rates = [(true, (0.01, 0.2)), (true, (0.0, 0.01))];
            grouped("num_weights", &[], &attrs, &[(-0.5, 0.5), (0.0, 1.0)], &rates)
        },
    )
}
