//! Follow the regularized leader (FTRL), for sparse weights. McMahan et al., KDD 2013.
//!
//! `h = clip(g)`, `z += h - (sqrt(n + h²) - sqrt(n)) · w / lr`, `n += h²`, and the weight becomes `(sign(z) · lamda1 -
//! z) / ((beta + sqrt(n)) / lr + wd)` if `|z| > lamda1`, else 0.
//!
//! MXNet: `ftrl_update`. Dtypes f32 f64 f16 bf16.

use crate::families::updates::{self, Rule, clip, single};
use crate::numeric::sign;
use mxrs_op::{Accuracy, InputNames, OpDef, op_params};

op_params! {
    /// Parameters of `ftrl_update`.
    pub struct FtrlParams for "ftrl_update" {
        /// Learning rate.
        lr: f32,
        /// Weight of the sum of absolute values (L1 regularization).
        lamda1: f32 = 0.01,
        /// Added to the root that divides the learning rate.
        beta: f32 = 1.0,
        /// Weight decay.
        wd: f32 = 0.0,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
    }
}

impl Rule for FtrlParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let (lr, lamda1) = (f64::from(self.lr), f64::from(self.lamda1));
        let grad = clip(f64::from(self.rescale_grad) * grad, self.clip_gradient);
        let n = states[1] + grad * grad;
        states[0] += grad - (n.sqrt() - states[1].sqrt()) * weight / lr;
        states[1] = n;
        let z = states[0];
        if z.abs() <= lamda1 {
            return 0.0;
        }
        (sign(z) * lamda1 - z) / ((f64::from(self.beta) + n.sqrt()) / lr + f64::from(self.wd))
    }
}

/// Defines the operator `ftrl_update`.
pub fn define() -> OpDef {
    const ALL: &[(&str, &str)] = &[
        ("lr", "0.1"),
        ("wd", "0.01"),
        ("rescale_grad", "0.5"),
        ("clip_gradient", "0.6"),
        ("lamda1", "0.05"),
        ("beta", "0.5"),
    ];
    OpDef {
        aliases: &["_sparse_ftrl_update"],
        accuracy: Accuracy::Reduction,
        ..updates::define::<FtrlParams, 4, false>(
            "ftrl_update",
            "step of follow the regularized leader",
            InputNames::Fixed(&["weight", "grad", "z", "n"]),
            || single(&[("all", ALL), ("plain", &[("lr", "0.1")])], &[(-1.0, 1.0), (0.0, 1.0)], None),
        )
    }
}
