//! Steps by the sign of the gradient, or of its momentum. Bernstein et al., arXiv:1802.04434.
//!
//! `signsgd_update`: `w = (1 - lr · wd) · w - lr · sign(grad)`. `signum_update`:
//! `m = momentum · m - (1 - momentum) · (wd · w + clip(g))`, `w = (1 - lr · wd_lh) · w + lr · sign(m)`.
//!
//! MXNet: `signsgd_update`, `signum_update`. Dtypes f32 f64 f16 bf16.

use crate::families::updates::{self, Rule, clip, single};
use crate::numeric::sign;
use mxrs_op::{InputNames, OpDef, Pointwise, op_params};

op_params! {
    /// Parameters of `signsgd_update`.
    pub struct SignSgdParams for "signsgd_update" {
        /// Learning rate.
        lr: f32,
        /// Weight decay.
        wd: f32 = 0.0,
        /// Factor of the gradient; only its sign has an effect.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; has no effect, because only the sign of an element counts.
        clip_gradient: f32 = -1.0,
    }
}

op_params! {
    /// Parameters of `signum_update`.
    pub struct SignumParams for "signum_update" {
        /// Learning rate.
        lr: f32,
        /// Decay of the momentum.
        momentum: f32 = 0.0,
        /// Weight decay, in the momentum.
        wd: f32 = 0.0,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
        /// Weight decay outside the momentum.
        wd_lh: f32 = 0.0,
    }
}

impl Rule for SignSgdParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, _: &mut [f64]) -> f64 {
        let lr = f64::from(self.lr);
        (1.0 - lr * f64::from(self.wd)) * weight - lr * sign(grad)
    }
}

impl Rule for SignumParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let (lr, momentum) = (f64::from(self.lr), f64::from(self.momentum));
        let grad = clip(f64::from(self.rescale_grad) * grad, self.clip_gradient);
        states[0] = momentum * states[0] - (1.0 - momentum) * (f64::from(self.wd) * weight + grad);
        (1.0 - lr * f64::from(self.wd_lh)) * weight + lr * sign(states[0])
    }
}

/// Defines the operator `signsgd_update`.
pub fn define() -> OpDef {
    OpDef {
        pointwise: Pointwise::Yes,
        ..updates::define::<SignSgdParams, 2, false>(
            "signsgd_update",
            "step by the gradient's sign",
            InputNames::Fixed(&["weight", "grad"]),
            || single(&[("all", &[("lr", "0.1"), ("wd", "0.01")]), ("plain", &[("lr", "0.01")])], &[], None),
        )
    }
}

/// Defines the operator `signum_update`.
pub fn define_mom() -> OpDef {
    const ALL: &[(&str, &str)] = &[
        ("lr", "0.1"),
        ("momentum", "0.9"),
        ("wd", "0.01"),
        ("rescale_grad", "0.5"),
        ("clip_gradient", "0.6"),
        ("wd_lh", "0.1"),
    ];
    updates::define::<SignumParams, 3, false>(
        "signum_update",
        "step by the momentum's sign",
        InputNames::Fixed(&["weight", "grad", "mom"]),
        || single(&[("all", ALL), ("plain", &[("lr", "0.01")])], &[(-0.5, 0.5)], None),
    )
}
