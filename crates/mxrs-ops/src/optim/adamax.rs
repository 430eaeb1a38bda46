//! Adamax: Adam with the largest gradient instead of the mean square. Kingma and Ba, arXiv:1412.6980, section 7.
//!
//! `h = clip(g + wd · w)`, `mean = beta1 · mean + (1 - beta1) · h`, `var = max(beta2 · var, |h|)`, `w -= lr · mean /
//! var`. The optimizer divides lr by `1 - beta1^t`. If the gradient was 0 in every step so far, the weight becomes NaN,
//! as in MXNet.

use crate::families::updates::{self, Rule, clip, single};
use crate::numeric::max_nan;
use mxrs_op::{InputNames, OpDef, op_params};

op_params! {
    /// Parameters of `_adamax_update`.
    pub struct Params for "_adamax_update" {
        /// Learning rate.
        lr: f32,
        /// Decay of the mean.
        beta1: f32 = 0.9,
        /// Decay of the largest gradient.
        beta2: f32 = 0.999,
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
        let (beta1, beta2) = (f64::from(self.beta1), f64::from(self.beta2));
        let grad = clip(f64::from(self.rescale_grad) * grad + f64::from(self.wd) * weight, self.clip_gradient);
        states[0] = beta1 * states[0] + (1.0 - beta1) * grad;
        states[1] = max_nan(beta2 * states[1], grad.abs());
        weight - f64::from(self.lr) * states[0] / states[1]
    }
}

/// Defines the operator `_adamax_update`.
pub fn define() -> OpDef {
    const ALL: &[(&str, &str)] = &[("lr", "0.1"), ("wd", "0.01"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6")];
    updates::define::<Params, 4, false>(
        "_adamax_update",
        "step of Adamax",
        InputNames::Fixed(&["weight", "grad", "mean", "var"]),
        || single(&[("all", ALL), ("plain", &[("lr", "0.002")])], &[(-0.5, 0.5), (0.5, 1.0)], None),
    )
}
