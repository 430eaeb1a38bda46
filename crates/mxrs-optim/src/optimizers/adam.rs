//! Adam: `h = clip(g + wd · w)`, `mean = beta1 · mean + (1 - beta1) · h`, `var = beta2 · var + (1 - beta2) · h²`,
//! `w -= lr · sqrt(1 - beta2^t) / (1 - beta1^t) · mean / (sqrt(var) + epsilon)`. Kingma and Ba, arXiv:1412.6980.

use super::{MOST_WEIGHTS, Rule, correction, described, device_of, interleaved, optimizer, vector, weights};
use crate::call::Call;
use crate::{Optimizer, Param};
use mxrs_ndarray::Invoke;
use mxrs_types::Result;

optimizer! {
    /// MXNet's `Adam`: steps computed from moving averages of the gradient and of its square.
    pub struct Adam["adam", lr = 0.001, text Some(0.001), Rule::new] {
        /// Decay rate of the moving average of the gradient: the share of its old value in the new one. Default: 0.9.
        beta1: f64 = 0.9, Fraction;
        /// Decay rate of the moving average of the squared gradient: the share of its old value in the new one.
        /// Default: 0.999.
        beta2: f64 = 0.999, Fraction;
        /// Added to the denominator. Default: 1e-8.
        epsilon: f64 = 1e-8, NotNegative;
        /// MXNet's switch for sparse gradients; it has no effect on dense ones.
        lazy_update: bool = true, Any;
    }
}

impl Optimizer for Rule<Adam> {
    described!();

    fn slots(&self) -> Vec<&'static str> {
        vec!["mean", "var"]
    }

    fn aggregates(&self) -> usize {
        MOST_WEIGHTS
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
        let counts: Vec<u64> = batch.iter().map(|param| self.common.count(param.name)).collect();
        let rate = |(param, t): (&Param<'_>, &u64)| {
            self.common.lr(param.name) * correction(self.config.beta2, *t).sqrt() / correction(self.config.beta1, *t)
        };
        // The rates are tensors. If they were attributes, every update would have to prepare another kernel.
        let lrs = vector(nd, device_of(batch), batch.iter().zip(&counts).map(rate))?;
        let wds = vector(nd, device_of(batch), batch.iter().map(|param| self.common.wd(param.name)))?;
        let call = Call::of("_preloaded_multi_adam_update", &self.common)
            .with("beta1", self.config.beta1)
            .with("beta2", self.config.beta2)
            .with("epsilon", self.config.epsilon)
            .with("num_weights", batch.len());
        let mut inputs = interleaved(batch);
        inputs.extend([&lrs, &wds]);
        call.into(nd, &inputs, &weights(batch))
    }
}
