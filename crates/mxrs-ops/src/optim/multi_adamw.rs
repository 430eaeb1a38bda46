//! Steps of Adam with decoupled weight decay on several weights: the rule of `adamw.rs`, with rates for each weight.
//!
//! Inputs are `weight_0, grad_0, mean_0, var_0, (weight32_0), weight_1, …, rescale_grad`.
//!
//! MXNet: `_multi_adamw_update`, `_multi_mp_adamw_update`. Dtypes f32 f64 f16 bf16; mixed: f16 bf16; the scale is f32.

use super::adamw::{Step, is_unusable};
use crate::families::updates::{self, Rule, grouped, numbered};
use mxrs_op::param::Floats;
use mxrs_op::{OpDef, Sample, op_params};

op_params! {
    /// Parameters of `_multi_adamw_update` and `_multi_mp_adamw_update`.
    pub struct MultiAdamwParams for "_multi_adamw_update" {
        /// Learning rates of the gradients' parts of the steps.
        lrs: Floats,
        /// Decay of the means.
        beta1: f32 = 0.9,
        /// Decay of the mean squares.
        beta2: f32 = 0.999,
        /// Added to the square roots of the mean squares.
        epsilon: f32 = 1e-8,
        /// Weight decays.
        wds: Floats,
        /// Factors of the whole steps.
        etas: Floats,
        /// Bound of the gradients' elements; negative for none.
        clip_gradient: f32 = -1.0,
        /// Number of weights.
        num_weights: i32 = 1,
    }
}

impl Rule for MultiAdamwParams {
    fn n_weights(&self) -> i32 {
        self.num_weights
    }

    fn shared_sizes(&self) -> Vec<usize> {
        vec![1]
    }

    fn lists(&self) -> Vec<(&'static str, usize)> {
        vec![("lrs", self.lrs.0.len()), ("wds", self.wds.0.len()), ("etas", self.etas.0.len())]
    }

    fn is_skipped(&self, shared: &[Vec<f64>]) -> bool {
        is_unusable(shared)
    }

    fn step(&self, which: usize, shared: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let rates = [self.lrs.0[which], self.wds.0[which], self.etas.0[which]];
        let betas = [self.beta1, self.beta2];
        let step = Step { rates, betas, epsilon: self.epsilon, clip_gradient: self.clip_gradient };
        step.apply(shared[0][0], weight, grad, states)
    }
}

/// Defines the operator `_multi_adamw_update`.
pub fn define() -> OpDef {
    updates::define::<MultiAdamwParams, 4, false>(
        "_multi_adamw_update",
        "steps of Adam with decoupled weight decay on several weights",
        numbered::<MultiAdamwParams>(&["weight", "grad", "mean", "var"], &["rescale_grad"]),
        || samples(&[(-0.5, 0.5), (0.0, 1.0)]),
    )
}

/// Defines the operator `_multi_mp_adamw_update`.
pub fn define_mp() -> OpDef {
    updates::define::<MultiAdamwParams, 5, true>(
        "_multi_mp_adamw_update",
        "steps of Adam with decoupled weight decay on several weights in mixed precision",
        numbered::<MultiAdamwParams>(&["weight", "grad", "mean", "var", "weight32"], &["rescale_grad"]),
        || samples(&[(-0.5, 0.5), (0.0, 1.0), (-1.0, 1.0)]),
    )
}

fn samples(states: &[updates::Filled]) -> Vec<Sample> {
    let lists = [("lrs", ["0.1", "0.05", "0.2"]), ("wds", ["0", "0.01", "0.001"]), ("etas", ["1", "0.5", "0.25"])];
    grouped("num_weights", &lists, &[("clip_gradient", "0.6")], states, &[(false, (0.5, 1.5))])
}
