//! Follow the regularized leader: `h = clip(g)`, `z += h - (sqrt(n + h²) - sqrt(n)) · w / lr`, `n += h²`,
//! `w = (sign(z) · lamda1 - z) / ((beta + sqrt(n)) / lr + wd)` where `|z| > lamda1`, else 0. McMahan et al., KDD 2013.

use super::{PerWeight, Rule, optimizer};
use crate::Param;
use crate::call::Call;

optimizer! {
    /// MXNet's `Ftrl`: follow the regularized leader.
    pub struct Ftrl["ftrl", lr = 0.1, text Some(0.1), Rule::new] {
        /// Strength of the regularization that makes weights 0. Default: 0.01.
        lamda1: f64 = 0.01, NotNegative;
        /// Limits the learning rate of a weight while its gradients are small. Default: 1.
        beta: f64 = 1.0, NotNegative;
    }
}

impl PerWeight for Rule<Ftrl> {
    fn slots(&self) -> Vec<&'static str> {
        vec!["z", "n"]
    }

    fn call(&self, param: &Param<'_>, _: u64) -> Call {
        Call::of("ftrl_update", &self.common)
            .rates(&self.common, param.name)
            .with("lamda1", self.config.lamda1)
            .with("beta", self.config.beta)
    }
}
