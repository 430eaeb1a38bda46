//! Follow the moving leader: `h = clip(g + wd · w)`, `v = beta2 · v + (1 - beta2) · h²`,
//! `d' = (1 - beta1^t) / lr · (sqrt(v / (1 - beta2^t)) + epsilon)`,
//! `z = beta1 · z + (1 - beta1) · h - (d' - beta1 · d) · w`, `w = -z / d'`. Zheng and Kwok, ICML 2017.

use super::{PerWeight, Rule, optimizer};
use crate::Param;
use crate::call::Call;

optimizer! {
    /// MXNet's `FTML`: follow the moving leader.
    pub struct Ftml["ftml", lr = 0.01, text None, Rule::new] {
        /// Decay rate of the moving average of the gradient: the share of its old value in the new one. Default: 0.6.
        beta1: f64 = 0.6, Fraction;
        /// Decay rate of the moving average of the squared gradient: the share of its old value in the new one.
        /// Default: 0.999.
        beta2: f64 = 0.999, Fraction;
        /// Added to the denominator. Default: 1e-8.
        epsilon: f64 = 1e-8, NotNegative;
    }
}

impl PerWeight for Rule<Ftml> {
    fn slots(&self) -> Vec<&'static str> {
        vec!["d", "v", "z"]
    }

    fn call(&self, param: &Param<'_>, t: u64) -> Call {
        Call::new("ftml_update")
            .rates(&self.common, param.name)
            .with("rescale_grad", self.common.rescale_grad)
            .with("beta1", self.config.beta1)
            .with("beta2", self.config.beta2)
            .with("epsilon", self.config.epsilon)
            .with("t", t)
            .with_some("clip_grad", self.common.clip())
    }
}
