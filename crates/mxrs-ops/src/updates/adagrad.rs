//! AdaGrad with weight decay beside the scaled gradient. Duchi, Hazan and Singer, JMLR 12 (2011).
//!
//! `h = clip(g)`, `history += h²`, `w -= lr · (h / sqrt(history + epsilon) + wd · w)`. MXNet's optimizer composes it.

use super::{Rule, clip, single};
use mxrs_op::{InputNames, OpDef, op_params};

op_params! {
    /// Parameters of `_adagrad_update`.
    pub struct Params for "_adagrad_update" {
        /// Learning rate.
        lr: f32,
        /// Added within the root.
        epsilon: f32 = 1e-7,
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
        states[0] += grad * grad;
        let scaled = grad / (states[0] + f64::from(self.epsilon)).sqrt();
        weight - f64::from(self.lr) * (scaled + f64::from(self.wd) * weight)
    }
}

/// `_adagrad_update`.
pub fn define() -> OpDef {
    const ALL: &[(&str, &str)] = &[("lr", "0.1"), ("wd", "0.01"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6")];
    super::define::<Params, 3, false>(
        "_adagrad_update",
        "step of AdaGrad with weight decay",
        InputNames::Fixed(&["weight", "grad", "history"]),
        || single(&[("all", ALL), ("plain", &[("lr", "0.1")])], &[(0.0, 1.0)], None),
    )
}
