//! Nesterov's accelerated gradient.
//!
//! `m' = momentum · m - lr · (clip(g) + wd · w)`, `w += (1 + momentum) · m' - momentum · m`, `m = m'`.
//! Sutskever et al., ICML 2013.
//!
//! MXNet: `nag_mom_update`, `mp_nag_mom_update`. Dtypes f32 f64 f16 bf16; mixed: f16 bf16.
//!
//! MXNet's kernel first writes the new weight, and then reads the weight again to compute the m that it stores. If the
//! weight is written in place, as MXNet's optimizer does, that m contains the weight decay of the new weight: this form
//! is `_nag_mom_update`. If the weight is written to another array, m contains the weight decay of the old weight, as
//! in the formula above: this form is `nag_mom_update`. The form for mixed precision always uses the new weight.

use super::sgd::{Step, WITH_MOMENTUM};
use crate::families::updates::{self, Rule, single};
use mxrs_op::{Attrs, InputNames, OpDef, ParamSpec, Parameters, op_params};
use mxrs_types::Result;

op_params! {
    /// Parameters of steps of Nesterov's accelerated gradient.
    pub struct NagParams for "nag_mom_update" {
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
    }
}

/// Parameters of `mp_nag_mom_update` and `_nag_mom_update`, which are those of `nag_mom_update`.
#[derive(Clone, Debug, PartialEq)]
pub struct NagInPlaceParams(pub NagParams);

impl Parameters for NagInPlaceParams {
    fn parse(attrs: &Attrs) -> Result<Self> {
        NagParams::parse(attrs).map(Self)
    }

    fn specs() -> Vec<ParamSpec> {
        NagParams::specs()
    }

    const OP: &'static str = "mp_nag_mom_update";
}

impl NagParams {
    /// Returns the new weight. The stored m contains the weight decay of the new weight if `is_in_place`, otherwise that of
    /// the old weight.
    fn new_weight(&self, is_in_place: bool, weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let (lr, wd, rescale_grad) = (self.lr.into(), self.wd.into(), self.rescale_grad.into());
        let step = Step { lr, wd, rescale_grad, clip_gradient: self.clip_gradient };
        let (momentum, left) = (f64::from(self.momentum), f64::from(self.momentum) * states[0]);
        let new = weight - left + (1.0 + momentum) * (left - step.descent(weight, grad));
        states[0] = left - step.descent(if is_in_place { new } else { weight }, grad);
        new
    }
}

impl Rule for NagParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        self.new_weight(false, weight, grad, states)
    }
}

impl Rule for NagInPlaceParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        self.0.new_weight(true, weight, grad, states)
    }
}

/// Defines the operator `nag_mom_update`.
pub fn define() -> OpDef {
    updates::define::<NagParams, 3, false>(
        "nag_mom_update",
        "step of Nesterov's accelerated gradient",
        InputNames::Fixed(&["weight", "grad", "mom"]),
        || single(WITH_MOMENTUM, &[(-0.5, 0.5)], None),
    )
}

/// Defines the operator `_nag_mom_update`.
pub(crate) fn define_in_place() -> OpDef {
    updates::define::<NagInPlaceParams, 3, false>(
        "_nag_mom_update",
        "step of Nesterov's accelerated gradient in place",
        InputNames::Fixed(&["weight", "grad", "mom"]),
        || single(WITH_MOMENTUM, &[(-0.5, 0.5)], None),
    )
}

/// Defines the operator `mp_nag_mom_update`.
pub fn define_mp() -> OpDef {
    updates::define::<NagInPlaceParams, 4, true>(
        "mp_nag_mom_update",
        "step of Nesterov's accelerated gradient in mixed precision",
        InputNames::Fixed(&["weight", "grad", "mom", "weight32"]),
        || single(WITH_MOMENTUM, &[(-0.5, 0.5), (-1.0, 1.0)], None),
    )
}
