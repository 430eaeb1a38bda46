//! Nadam: Adam with Nesterov's momentum. Dozat, ICLR 2016 workshop.
//!
//! `h = clip(g + wd · w)`, `mean = beta1 · mean + rest1 · h`, `var = beta2 · var + rest2 · h²`, and `w -= lr · (by_grad
//! · h + by_mean · mean) / (sqrt(var · by_var) + epsilon)`. The optimizer computes `by_grad`, `by_mean` and `by_var`
//! from its momentum schedule and the index of the step. Like MXNet's optimizer, it computes `rest1 = 1 - beta1` and
//! `rest2 = 1 - beta2` in double precision, because 1 minus 0.999 in single precision has a relative error of 1.3e-5.

use crate::families::updates::{self, Rule, clip, single};
use mxrs_op::{Accuracy, InputNames, OpDef, op_params};

op_params! {
    /// Parameters of `_nadam_update`.
    pub struct Params for "_nadam_update" {
        /// Learning rate.
        lr: f32,
        /// Factor of the gradient in the step.
        by_grad: f32,
        /// Factor of the mean in the step.
        by_mean: f32,
        /// Factor of the mean square in the step.
        by_var: f32,
        /// Decay of the mean.
        beta1: f32 = 0.9,
        /// Decay of the mean square.
        beta2: f32 = 0.999,
        /// Share of the gradient in the new mean: 1 - beta1.
        rest1: f32 = 0.1,
        /// Share of the squared gradient in the new mean square: 1 - beta2.
        rest2: f32 = 0.001,
        /// Added to the square root of the mean square.
        epsilon: f32 = 1e-8,
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
        let grad = clip(f64::from(self.rescale_grad) * grad + f64::from(self.wd) * weight, self.clip_gradient);
        states[0] = f64::from(self.beta1) * states[0] + f64::from(self.rest1) * grad;
        states[1] = f64::from(self.beta2) * states[1] + f64::from(self.rest2) * grad * grad;
        let step = f64::from(self.by_grad) * grad + f64::from(self.by_mean) * states[0];
        weight - f64::from(self.lr) * step / ((states[1] * f64::from(self.by_var)).sqrt() + f64::from(self.epsilon))
    }
}

/// Defines the operator `_nadam_update`.
pub fn define() -> OpDef {
    const ALL: &[(&str, &str)] = &[
        ("lr", "0.1"),
        ("by_grad", "0.4"),
        ("by_mean", "0.5"),
        ("by_var", "2"),
        ("wd", "0.01"),
        ("rescale_grad", "0.5"),
        ("clip_gradient", "0.6"),
    ];
    OpDef {
        accuracy: Accuracy::Reduction,
        ..updates::define::<Params, 4, false>(
            "_nadam_update",
            "step of Nadam",
            InputNames::Fixed(&["weight", "grad", "mean", "var"]),
            || single(&[("all", ALL), ("corrected", &ALL[..4])], &[(-0.5, 0.5), (0.0, 1.0)], None),
        )
    }
}
