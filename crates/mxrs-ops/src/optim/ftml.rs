//! Follow the moving leader (FTML). Zheng and Kwok, ICML 2017.
//!
//! `h = clip(g + wd · w)`, `v = beta2 · v + (1 - beta2) · h²`,
//! `d' = (1 - beta1^t) / lr · (sqrt(v / (1 - beta2^t)) + epsilon)`,
//! `z = beta1 · z + (1 - beta1) · h - (d' - beta1 · d) · w`, `w = -z / d'`, `d = d'`.
//!
//! MXNet: `ftml_update`, where the bound is spelled `clip_grad`. Dtypes f32 f64 f16 bf16.

use crate::families::updates::{self, Rule, clip, single};
use mxrs_op::{Accuracy, InputNames, OpDef, op_params};

op_params! {
    /// Parameters of `ftml_update`.
    pub struct FtmlParams for "ftml_update" {
        /// Learning rate.
        lr: f32,
        /// Decay of z and d.
        beta1: f32 = 0.6,
        /// Decay of the mean square.
        beta2: f32 = 0.999,
        /// Added to the square root of the mean square.
        epsilon: f64 = f64::from(1e-8f32),
        /// Index of the update, from 1.
        t: i32,
        /// Weight decay.
        wd: f32 = 0.0,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_grad: f32 = -1.0,
    }
}

impl Rule for FtmlParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let (beta1, beta2) = (f64::from(self.beta1), f64::from(self.beta2));
        let grad = clip(f64::from(self.rescale_grad) * grad + f64::from(self.wd) * weight, self.clip_grad);
        states[1] = beta2 * states[1] + (1.0 - beta2) * grad * grad;
        let root = (states[1] / (1.0 - beta2.powi(self.t))).sqrt();
        let d = (1.0 - beta1.powi(self.t)) / f64::from(self.lr) * (root + self.epsilon);
        states[2] = beta1 * states[2] + (1.0 - beta1) * grad - (d - beta1 * states[0]) * weight;
        states[0] = d;
        -states[2] / d
    }
}

/// Defines the operator `ftml_update`.
pub fn define() -> OpDef {
    const ALL: &[(&str, &str)] =
        &[("lr", "0.1"), ("t", "3"), ("wd", "0.01"), ("rescale_grad", "0.5"), ("clip_grad", "0.6")];
    OpDef {
        accuracy: Accuracy::Reduction,
        ..updates::define::<FtmlParams, 5, false>(
            "ftml_update",
            "step of follow the moving leader",
            InputNames::Fixed(&["weight", "grad", "d", "v", "z"]),
            || {
                let states = [(0.0, 1.0), (0.5, 1.0), (-1.0, 1.0)];
                single(&[("all", ALL), ("plain", &[("lr", "0.01"), ("t", "1")])], &states, None)
            },
        )
    }
}
