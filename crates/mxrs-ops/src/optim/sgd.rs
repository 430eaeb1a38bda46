//! Stochastic gradient descent, with or without momentum.
//!
//! Without momentum: `w -= lr · (clip(g) + wd · w)`. With momentum: `m = momentum · m - lr · (clip(g) + wd · w)`, `w +=
//! m`, so that the momentum contains the learning rate. In mixed precision (`mp_`), m and the master weight are `f32`,
//! and the weight is the rounded master weight.
//!
//! MXNet: `sgd_update`, `sgd_mom_update`, `mp_sgd_update`, `mp_sgd_mom_update`. Dtypes f32 f64 f16 bf16; mixed: f16
//! bf16.

use crate::families::updates::{self, Rule, clip, single};
use mxrs_op::{InputNames, OpDef, Pointwise, Sample, op_params};

op_params! {
    /// Parameters of `sgd_update` and `mp_sgd_update`.
    pub struct SgdParams for "sgd_update" {
        /// Learning rate.
        lr: f32,
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

op_params! {
    /// Parameters of `sgd_mom_update` and `mp_sgd_mom_update`.
    pub struct SgdMomParams for "sgd_mom_update" {
        /// Learning rate.
        lr: f32,
        /// Decay of the momentum.
        momentum: f32 = 0.0,
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

/// The hyperparameters of one step, converted to `f64`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub lr: f64,
    pub wd: f64,
    pub rescale_grad: f64,
    pub clip_gradient: f32,
}

impl Step {
    /// The change without momentum: `lr · (clip(g) + wd · w)`.
    pub fn descent(self, weight: f64, grad: f64) -> f64 {
        self.lr * (clip(self.rescale_grad * grad, self.clip_gradient) + self.wd * weight)
    }

    /// Returns the weight after a step, with momentum if `states` is not empty.
    pub fn apply(self, momentum: f32, weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let descent = self.descent(weight, grad);
        let Some(mom) = states.first_mut() else { return weight - descent };
        *mom = f64::from(momentum) * *mom - descent;
        weight + *mom
    }
}

impl Rule for SgdParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let (lr, wd, rescale_grad) = (self.lr.into(), self.wd.into(), self.rescale_grad.into());
        Step { lr, wd, rescale_grad, clip_gradient: self.clip_gradient }.apply(0.0, weight, grad, states)
    }
}

impl Rule for SgdMomParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let (lr, wd, rescale_grad) = (self.lr.into(), self.wd.into(), self.rescale_grad.into());
        Step { lr, wd, rescale_grad, clip_gradient: self.clip_gradient }.apply(self.momentum, weight, grad, states)
    }
}

/// Defines the operator `sgd_update`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_sgd_update"],
        pointwise: Pointwise::Yes,
        ..updates::define::<SgdParams, 2, false>(
            "sgd_update",
            "step of gradient descent",
            InputNames::Fixed(&["weight", "grad"]),
            samples,
        )
    }
}

/// Defines the operator `sgd_mom_update`.
pub fn define_mom() -> OpDef {
    OpDef {
        aliases: &["_sparse_sgd_mom_update"],
        ..updates::define::<SgdMomParams, 3, false>(
            "sgd_mom_update",
            "step of gradient descent with momentum",
            InputNames::Fixed(&["weight", "grad", "mom"]),
            samples_mom,
        )
    }
}

/// Defines the operator `mp_sgd_update`.
pub fn define_mp() -> OpDef {
    updates::define::<SgdParams, 3, true>(
        "mp_sgd_update",
        "step of gradient descent in mixed precision",
        InputNames::Fixed(&["weight", "grad", "weight32"]),
        || single(PLAIN, &[(-1.0, 1.0)], None),
    )
}

/// Defines the operator `mp_sgd_mom_update`.
pub fn define_mp_mom() -> OpDef {
    updates::define::<SgdMomParams, 4, true>(
        "mp_sgd_mom_update",
        "step of gradient descent with momentum in mixed precision",
        InputNames::Fixed(&["weight", "grad", "mom", "weight32"]),
        || single(WITH_MOMENTUM, &[(-0.5, 0.5), (-1.0, 1.0)], None),
    )
}

const PLAIN: &[(&str, &[(&str, &str)])] = &[
    ("all", &[("lr", "0.1"), ("wd", "0.01"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6")]),
    ("plain", &[("lr", "0.05")]),
    ("clipped_to_zero", &[("lr", "0.5"), ("wd", "0.1"), ("clip_gradient", "0")]),
];

pub(crate) const WITH_MOMENTUM: &[(&str, &[(&str, &str)])] = &[
    ("all", &[("lr", "0.1"), ("momentum", "0.9"), ("wd", "0.01"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6")]),
    ("plain", &[("lr", "0.05")]),
    ("momentum", &[("lr", "0.05"), ("momentum", "0.8")]),
];

fn samples() -> Vec<Sample> {
    single(PLAIN, &[], None)
}

fn samples_mom() -> Vec<Sample> {
    single(WITH_MOMENTUM, &[(-0.5, 0.5)], None)
}
