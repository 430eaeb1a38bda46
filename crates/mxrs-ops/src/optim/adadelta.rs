//! AdaDelta: the length of a step follows from the lengths of earlier steps. Zeiler, arXiv:1212.5701.
//!
//! `h = clip(g)`, `n = rho · n + (1 - rho) · h²`, `step = sqrt(delta + epsilon) / sqrt(n + epsilon) · h`,
//! `delta = rho · delta + (1 - rho) · step²`, `w -= step + wd · w`. There is no learning rate.

use crate::families::updates::{self, Rule, clip, single};
use mxrs_op::{Accuracy, InputNames, OpDef, op_params};

op_params! {
    /// Parameters of `_adadelta_update`.
    pub struct Params for "_adadelta_update" {
        /// Decay of the mean squares.
        rho: f32 = 0.9,
        /// Added to the mean squares under the square roots.
        epsilon: f32 = 1e-5,
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
        let (rho, epsilon) = (f64::from(self.rho), f64::from(self.epsilon));
        let grad = clip(f64::from(self.rescale_grad) * grad, self.clip_gradient);
        states[0] = rho * states[0] + (1.0 - rho) * grad * grad;
        let step = (states[1] + epsilon).sqrt() / (states[0] + epsilon).sqrt() * grad;
        states[1] = rho * states[1] + (1.0 - rho) * step * step;
        weight - (step + f64::from(self.wd) * weight)
    }
}

/// Defines the operator `_adadelta_update`.
pub fn define() -> OpDef {
    const ALL: &[(&str, &str)] = &[("rho", "0.8"), ("wd", "0.01"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6")];
    OpDef {
        accuracy: Accuracy::Reduction,
        ..updates::define::<Params, 4, false>(
            "_adadelta_update",
            "step of AdaDelta",
            InputNames::Fixed(&["weight", "grad", "n", "delta"]),
            || single(&[("all", ALL), ("plain", &[])], &[(0.0, 1.0), (0.0, 1.0)], None),
        )
    }
}
