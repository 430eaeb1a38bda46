//! RMSProp: `h = clip(g + wd · w)`, `n = gamma1 · n + (1 - gamma1) · h²`, `w -= lr · h / sqrt(n + epsilon)`. With
//! `centered`, `m = gamma1 · m + (1 - gamma1) · h` (slot `g`), `delta = gamma2 · delta - lr · h / sqrt(n - m² + epsilon)`,
//! `w += delta`. The new weight is limited to ±`clip_weights`, if that is set.

use super::{PerWeight, Rule, optimizer};
use crate::Param;
use crate::call::Call;

optimizer! {
    /// MXNet's `RMSProp`: steps divided by the root of a moving average of squared gradients.
    pub struct RmsProp["rmsprop", lr = 0.001, text Some(0.001), Rule::new] {
        /// Decay rate of the moving averages: the share of the old value in the new one. Default: 0.9.
        gamma1: f64 = 0.9, Fraction;
        /// Momentum, if `centered`: the share of the last step that is added to the next one. Default: 0.9.
        gamma2: f64 = 0.9, NotNegative;
        /// Added to the denominator. Default: 1e-8.
        epsilon: f64 = 1e-8, NotNegative;
        /// Whether the gradient's mean is subtracted (Graves' form). Default: false.
        centered: bool = false, Any;
        /// New weights are limited to ± this bound; `None` or 0 for no limit.
        clip_weights: Option<f64> = None, NotNegative;
    }
}

impl PerWeight for Rule<RmsProp> {
    fn slots(&self) -> Vec<&'static str> {
        if self.config.centered { vec!["n", "g", "delta"] } else { vec!["n"] }
    }

    fn call(&self, param: &Param<'_>, _: u64) -> Call {
        let op = if self.config.centered { "rmspropalex_update" } else { "rmsprop_update" };
        Call::of(op, &self.common)
            .rates(&self.common, param.name)
            .with("gamma1", self.config.gamma1)
            .with("epsilon", self.config.epsilon)
            .with_some("gamma2", self.config.centered.then_some(self.config.gamma2))
            .with_some("clip_weights", self.config.clip_weights.filter(|bound| *bound > 0.0))
    }
}
