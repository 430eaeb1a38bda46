//! Steps of gradient descent on several weights, with learning rates and weight decays in tensors.
//!
//! The rule is that of `multi_sgd.rs`; the inputs `lrs` and `wds`, each `[n]` of f32, follow the groups.
//!
//! MXNet: `preloaded_multi_sgd_update`, `preloaded_multi_sgd_mom_update`, `preloaded_multi_mp_sgd_update`,
//! `preloaded_multi_mp_sgd_mom_update`.

use super::sgd::Step;
use crate::families::updates::{self, Rule, grouped, numbered};
use mxrs_op::{OpDef, Sample, op_params};

op_params! {
    /// Parameters of `preloaded_multi_sgd_update` and `preloaded_multi_mp_sgd_update`.
    pub struct PreloadedSgdParams for "preloaded_multi_sgd_update" {
        /// Factor of the gradients.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradients' elements; negative for none.
        clip_gradient: f32 = -1.0,
        /// Number of weights.
        num_weights: i32 = 1,
    }
}

op_params! {
    /// Parameters of `preloaded_multi_sgd_mom_update` and `preloaded_multi_mp_sgd_mom_update`.
    pub struct PreloadedSgdMomParams for "preloaded_multi_sgd_mom_update" {
        /// Decay of the momentum.
        momentum: f32 = 0.0,
        /// Factor of the gradients.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradients' elements; negative for none.
        clip_gradient: f32 = -1.0,
        /// Number of weights.
        num_weights: i32 = 1,
    }
}

macro_rules! rule {
    ($params:ident, $momentum:expr) => {
        impl Rule for $params {
            fn n_weights(&self) -> i32 {
                self.num_weights
            }

            fn shared_sizes(&self) -> Vec<usize> {
                vec![usize::try_from(self.num_weights).unwrap_or(0); 2]
            }

            fn step(&self, which: usize, shared: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
                let (lr, wd) = (shared[0][which], shared[1][which]);
                let step = Step { lr, wd, rescale_grad: self.rescale_grad.into(), clip_gradient: self.clip_gradient };
                let momentum: fn(&Self) -> f32 = $momentum;
                step.apply(momentum(self), weight, grad, states)
            }
        }
    };
}
rule!(PreloadedSgdParams, |_| 0.0);
rule!(PreloadedSgdMomParams, |params| params.momentum);

const SHARED: &[&str] = &["lrs", "wds"];

/// Defines the operator `preloaded_multi_sgd_update`.
pub fn define() -> OpDef {
    updates::define::<PreloadedSgdParams, 2, false>(
        "preloaded_multi_sgd_update",
        "steps of gradient descent on several weights, rates as tensors",
        numbered::<PreloadedSgdParams>(&["weight", "grad"], SHARED),
        || samples(ALL, &[]),
    )
}

/// Defines the operator `preloaded_multi_sgd_mom_update`.
pub fn define_mom() -> OpDef {
    updates::define::<PreloadedSgdMomParams, 3, false>(
        "preloaded_multi_sgd_mom_update",
        "steps of gradient descent with momentum on several weights, rates as tensors",
        numbered::<PreloadedSgdMomParams>(&["weight", "grad", "mom"], SHARED),
        || samples(WITH_MOMENTUM, &[(-0.5, 0.5)]),
    )
}

/// Defines the operator `preloaded_multi_mp_sgd_update`.
pub fn define_mp() -> OpDef {
    updates::define::<PreloadedSgdParams, 3, true>(
        "preloaded_multi_mp_sgd_update",
        "steps of gradient descent on several weights in mixed precision, rates as tensors",
        numbered::<PreloadedSgdParams>(&["weight", "grad", "weight32"], SHARED),
        || samples(ALL, &[(-1.0, 1.0)]),
    )
}

/// Defines the operator `preloaded_multi_mp_sgd_mom_update`.
pub fn define_mp_mom() -> OpDef {
    updates::define::<PreloadedSgdMomParams, 4, true>(
        "preloaded_multi_mp_sgd_mom_update",
        "steps of gradient descent with momentum on several weights in mixed precision, rates as tensors",
        numbered::<PreloadedSgdMomParams>(&["weight", "grad", "mom", "weight32"], SHARED),
        || samples(WITH_MOMENTUM, &[(-0.5, 0.5), (-1.0, 1.0)]),
    )
}

const ALL: &[(&str, &str)] = &[("rescale_grad", "0.5"), ("clip_gradient", "0.6")];
const WITH_MOMENTUM: &[(&str, &str)] = &[("momentum", "0.9"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6")];

fn samples(attrs: &[(&str, &str)], states: &[updates::Filled]) -> Vec<Sample> {
    grouped("num_weights", &[], attrs, states, &[(true, (0.01, 0.2)), (true, (0.0, 0.01))])
}
