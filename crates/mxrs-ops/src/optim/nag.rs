//! Nesterov's accelerated gradient.
//!
//! `m' = momentum · m - lr · (clip(g) + wd · w)`, `w += (1 + momentum) · m' - momentum · m`, `m = m'`.
//! Sutskever et al., ICML 2013.
//!
//! MXNet: `nag_mom_update`, `mp_nag_mom_update`. Dtypes f32 f64 f16 bf16; mixed: f16 bf16.
//!
//! MXNet's mixed form takes the new weight for the decay within m; here it is the old one, as in the other form.

use super::sgd::{Step, WITH_MOMENTUM};
use crate::updates::{self, Rule, single};
use mxrs_op::{InputNames, OpDef, op_params};

op_params! {
    /// Parameters of `nag_mom_update` and `mp_nag_mom_update`.
    pub struct NagParams for "nag_mom_update" {
        /// Learning rate.
        lr: f32,
        /// What stays of the momentum.
        momentum: f32 = 0.0,
        /// Weight decay.
        wd: f32 = 0.0,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
    }
}

impl Rule for NagParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let (lr, wd, rescale_grad) = (self.lr.into(), self.wd.into(), self.rescale_grad.into());
        let descent = Step { lr, wd, rescale_grad, clip_gradient: self.clip_gradient }.descent(weight, grad);
        let (momentum, old) = (f64::from(self.momentum), states[0]);
        states[0] = momentum * old - descent;
        weight - momentum * old + (1.0 + momentum) * states[0]
    }
}

/// `nag_mom_update`.
pub fn define() -> OpDef {
    updates::define::<NagParams, 3, false>(
        "nag_mom_update",
        "step of Nesterov's accelerated gradient",
        InputNames::Fixed(&["weight", "grad", "mom"]),
        || single(WITH_MOMENTUM, &[(-0.5, 0.5)], None),
    )
}

/// `mp_nag_mom_update`.
pub fn define_mp() -> OpDef {
    updates::define::<NagParams, 4, true>(
        "mp_nag_mom_update",
        "step of Nesterov's accelerated gradient in mixed precision",
        InputNames::Fixed(&["weight", "grad", "mom", "weight32"]),
        || single(WITH_MOMENTUM, &[(-0.5, 0.5), (-1.0, 1.0)], None),
    )
}
