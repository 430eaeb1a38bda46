//! Adam with decoupled weight decay: `h = clip(g)`, moments as in Adam,
//! `w -= lr · sqrt(1 - beta2^t) / (1 - beta1^t) · (mean / (sqrt(var) + epsilon) + wd · w)`. Loshchilov and Hutter,
//! arXiv:1711.05101. MXNet 1.9.1 has only the operators. The settings are those of the optimizer in MXNet 2.0.

use super::{Rule, correction, described, device_of, has_masters, interleaved, optimizer, vector, weights};
use crate::call::Call;
use crate::{Optimizer, Param};
use mxrs_ndarray::Invoke;
use mxrs_types::Result;

optimizer! {
    /// `AdamW`: Adam with a decoupled weight decay.
    pub struct AdamW["adamw", lr = 0.001, text Some(0.001), Rule::new] {
        /// Decay rate of the moving average of the gradient: the share of its old value in the new one. Default: 0.9.
        beta1: f64 = 0.9, Fraction;
        /// Decay rate of the moving average of the squared gradient: the share of its old value in the new one.
        /// Default: 0.999.
        beta2: f64 = 0.999, Fraction;
        /// Added to the denominator. Default: 1e-6.
        epsilon: f64 = 1e-6, NotNegative;
        /// Whether the moments are divided by `1 - beta^t`. Default: true.
        correct_bias: bool = true, Any;
    }
}

impl Optimizer for Rule<AdamW> {
    described!();

    fn slots(&self) -> Vec<&'static str> {
        vec!["mean", "var"]
    }

    fn is_mixed(&self) -> bool {
        true
    }

    fn aggregates(&self) -> usize {
        50
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
        let counts: Vec<u64> = batch.iter().map(|param| self.common.count(param.name)).collect();
        let rate = |(param, t): (&Param<'_>, &u64)| {
            let lr = self.common.lr(param.name);
            let factor = || correction(self.config.beta2, *t).sqrt() / correction(self.config.beta1, *t);
            if self.config.correct_bias { lr * factor() } else { lr }
        };
        let scale = vector(nd, device_of(batch), std::iter::once(self.common.rescale_grad))?;
        let op = if has_masters(batch) { "_multi_mp_adamw_update" } else { "_multi_adamw_update" };
        let call = Call::new(op)
            .bounded(&self.common)
            .list("lrs", batch.iter().map(|_| 1))
            .list("etas", batch.iter().zip(&counts).map(rate))
            .list("wds", batch.iter().map(|param| self.common.wd(param.name)))
            .with("beta1", self.config.beta1)
            .with("beta2", self.config.beta2)
            .with("epsilon", self.config.epsilon)
            .with("num_weights", batch.len());
        let mut inputs = interleaved(batch);
        inputs.push(&scale);
        call.into(nd, &inputs, &weights(batch))
    }
}
