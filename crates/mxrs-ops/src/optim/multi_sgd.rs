//! Steps of gradient descent on several weights in one call: the rule of `sgd.rs`, with a learning rate and a weight decay
//! for each weight.
//!
//! Inputs are `weight_0, grad_0, (mom_0), (weight32_0), weight_1, …`. The results are those of the operators for one weight.
//!
//! MXNet: `multi_sgd_update`, `multi_sgd_mom_update`, `multi_mp_sgd_update`, `multi_mp_sgd_mom_update`.

use super::sgd::Step;
use crate::families::updates::{self, Rule, grouped, numbered};
use mxrs_op::param::Floats;
use mxrs_op::{OpDef, Sample, op_params};

op_params! {
    /// Parameters of `multi_sgd_update` and `multi_mp_sgd_update`.
    pub struct MultiSgdParams for "multi_sgd_update" {
        /// Learning rates.
        lrs: Floats,
        /// Weight decays.
        wds: Floats,
        /// Factor of the gradients.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradients' elements; negative for none.
        clip_gradient: f32 = -1.0,
        /// Number of weights.
        num_weights: i32 = 1,
    }
}

op_params! {
    /// Parameters of `multi_sgd_mom_update` and `multi_mp_sgd_mom_update`.
    pub struct MultiSgdMomParams for "multi_sgd_mom_update" {
        /// Learning rates.
        lrs: Floats,
        /// Weight decays.
        wds: Floats,
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

            fn lists(&self) -> Vec<(&'static str, usize)> {
                vec![("lrs", self.lrs.0.len()), ("wds", self.wds.0.len())]
            }

            fn step(&self, which: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
                let (lr, wd) = (self.lrs.0[which].into(), self.wds.0[which].into());
                let step = Step { lr, wd, rescale_grad: self.rescale_grad.into(), clip_gradient: self.clip_gradient };
                let momentum: fn(&Self) -> f32 = $momentum;
                step.apply(momentum(self), weight, grad, states)
            }
        }
    };
}
rule!(MultiSgdParams, |_| 0.0);
rule!(MultiSgdMomParams, |params| params.momentum);

/// Defines the operator `multi_sgd_update`.
pub fn define() -> OpDef {
    updates::define::<MultiSgdParams, 2, false>(
        "multi_sgd_update",
        "steps of gradient descent on several weights",
        numbered::<MultiSgdParams>(&["weight", "grad"], &[]),
        || samples(ALL, &[]),
    )
}

/// Defines the operator `multi_sgd_mom_update`.
pub fn define_mom() -> OpDef {
    updates::define::<MultiSgdMomParams, 3, false>(
        "multi_sgd_mom_update",
        "steps of gradient descent with momentum on several weights",
        numbered::<MultiSgdMomParams>(&["weight", "grad", "mom"], &[]),
        || samples(WITH_MOMENTUM, &[(-0.5, 0.5)]),
    )
}

/// Defines the operator `multi_mp_sgd_update`.
pub fn define_mp() -> OpDef {
    updates::define::<MultiSgdParams, 3, true>(
        "multi_mp_sgd_update",
        "steps of gradient descent on several weights in mixed precision",
        numbered::<MultiSgdParams>(&["weight", "grad", "weight32"], &[]),
        || samples(ALL, &[(-1.0, 1.0)]),
    )
}

/// Defines the operator `multi_mp_sgd_mom_update`.
pub fn define_mp_mom() -> OpDef {
    updates::define::<MultiSgdMomParams, 4, true>(
        "multi_mp_sgd_mom_update",
        "steps of gradient descent with momentum on several weights in mixed precision",
        numbered::<MultiSgdMomParams>(&["weight", "grad", "mom", "weight32"], &[]),
        || samples(WITH_MOMENTUM, &[(-0.5, 0.5), (-1.0, 1.0)]),
    )
}

const ALL: &[(&str, &str)] = &[("rescale_grad", "0.5"), ("clip_gradient", "0.6")];
const WITH_MOMENTUM: &[(&str, &str)] = &[("momentum", "0.9"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6")];

fn samples(attrs: &[(&str, &str)], states: &[updates::Filled]) -> Vec<Sample> {
    let lists = [("lrs", ["0.1", "0.05", "0.2"]), ("wds", ["0", "0.01", "0.001"])];
    grouped("num_weights", &lists, attrs, states, &[])
}
