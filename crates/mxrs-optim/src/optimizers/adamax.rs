//! Adamax: `h = clip(g + wd · w)`, `mean = beta1 · mean + (1 - beta1) · h`, `var = max(beta2 · var, |h|)`,
//! `w -= lr / (1 - beta1^t) · mean / var`. Kingma and Ba, arXiv:1412.6980, section 7. As in MXNet, a weight whose gradient
//! was 0 in every update so far becomes NaN.

use super::{PerWeight, Rule, correction, optimizer};
use crate::Param;
use crate::call::Call;

optimizer! {
    /// MXNet's `Adamax`: Adam with the largest gradient in place of the squared one.
    pub struct Adamax["adamax", lr = 0.002, text Some(0.002), Rule::new] {
        /// Decay rate of the moving average of the gradient: the share of its old value in the new one. Default: 0.9.
        beta1: f64 = 0.9, Fraction;
        /// Decay rate of the largest gradient so far: each update multiplies it by this. Default: 0.999.
        beta2: f64 = 0.999, Fraction;
    }
}

impl PerWeight for Rule<Adamax> {
    fn slots(&self) -> Vec<&'static str> {
        vec!["mean", "var"]
    }

    fn call(&self, param: &Param<'_>, t: u64) -> Call {
        Call::of("_adamax_update", &self.common)
            .with("lr", self.common.lr(param.name) / correction(self.config.beta1, t))
            .with("wd", self.common.wd(param.name))
            .with("beta1", self.config.beta1)
            .with("beta2", self.config.beta2)
    }
}
