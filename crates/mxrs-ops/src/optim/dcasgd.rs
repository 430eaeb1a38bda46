//! Delay-compensated gradient descent: corrects the gradient for the change of the weight since the gradient was
//! computed. Zheng et al., arXiv:1609.08326.
//!
//! `h = clip(g)`, `d = lr · (h + wd · w + lamda · h² · (w - previous))`, `previous = w`, `w -= d`; with momentum
//! `mom = momentum · mom - d`, `w += mom`.

use crate::families::updates::{self, Rule, clip, single};
use mxrs_op::{InputNames, OpDef, op_params};

op_params! {
    /// Parameters of `_dcasgd_update` and `_dcasgd_mom_update`.
    pub struct Params for "_dcasgd_update" {
        /// Learning rate.
        lr: f32,
        /// Decay of the momentum.
        momentum: f32 = 0.0,
        /// Weight of the correction.
        lamda: f32 = 0.04,
        /// Weight decay.
        wd: f32 = 0.0,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
    }
}

impl Rule for Params {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let grad = clip(f64::from(self.rescale_grad) * grad, self.clip_gradient);
        let [mom @ .., previous] = states else { return weight };
        let correction = f64::from(self.lamda) * grad * grad * (weight - *previous);
        let step = -f64::from(self.lr) * (grad + f64::from(self.wd) * weight + correction);
        *previous = weight;
        let Some(mom) = mom.first_mut() else { return weight + step };
        *mom = f64::from(self.momentum) * *mom + step;
        weight + *mom
    }
}

const ALL: &[(&str, &str)] =
    &[("lr", "0.1"), ("momentum", "0.9"), ("wd", "0.01"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6")];

/// Defines the operator `_dcasgd_update`.
pub fn define() -> OpDef {
    updates::define::<Params, 3, false>(
        "_dcasgd_update",
        "step of gradient descent that compensates delays",
        InputNames::Fixed(&["weight", "grad", "previous"]),
        || single(&[("all", ALL), ("plain", &[("lr", "0.1")])], &[(-1.0, 1.0)], None),
    )
}

/// Defines the operator `_dcasgd_mom_update`.
pub fn define_mom() -> OpDef {
    updates::define::<Params, 4, false>(
        "_dcasgd_mom_update",
        "step of gradient descent with momentum that compensates delays",
        InputNames::Fixed(&["weight", "grad", "mom", "previous"]),
        || single(&[("all", ALL), ("plain", &[("lr", "0.1")])], &[(-0.5, 0.5), (-1.0, 1.0)], None),
    )
}
