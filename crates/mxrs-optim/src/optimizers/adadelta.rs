//! AdaDelta: `h = clip(g)`, `n = rho · n + (1 - rho) · h²`, `step = sqrt(delta + epsilon) / sqrt(n + epsilon) · h`,
//! `delta = rho · delta + (1 - rho) · step²`, `w -= step + wd · w`: the learning rate has no effect. Zeiler,
//! arXiv:1212.5701.

use super::{PerWeight, Rule, optimizer};
use crate::Param;
use crate::call::Call;

optimizer! {
    /// MXNet's `AdaDelta`: each step is scaled by the lengths of earlier steps; `lr` has no effect.
    pub struct AdaDelta["adadelta", lr = 0.01, text None, Rule::new] {
        /// Decay rate of the moving averages: the share of the old value in the new one. Default: 0.9.
        rho: f64 = 0.9, Fraction;
        /// Added to the denominator. Default: 1e-5.
        epsilon: f64 = 1e-5, NotNegative;
    }
}

impl PerWeight for Rule<AdaDelta> {
    fn slots(&self) -> Vec<&'static str> {
        vec!["n", "delta"]
    }

    fn call(&self, param: &Param<'_>, _: u64) -> Call {
        Call::of("_adadelta_update", &self.common)
            .with("wd", self.common.wd(param.name))
            .with("rho", self.config.rho)
            .with("epsilon", self.config.epsilon)
    }
}
