//! LAMB: a step in Adam's direction, with a length proportional to the norm of the weight. `h = clip(g)`, moments as in
//! Adam, `d = mean' / (sqrt(var') + epsilon) + wd · w`, where `mean'` and `var'` are the moments, divided by `1 - beta^t` if
//! `bias_correction` is set. `w -= lr · |w| / |d| · d`, with `|w|` limited to the two bounds; if a norm is 0, the ratio
//! `|w| / |d|` is 1. You et al., arXiv:1904.00962.

use super::{Rule, described, has_masters, interleaved, optimizer, weights};
use crate::call::Call;
use crate::{Optimizer, Param};
use mxrs_ndarray::Invoke;
use mxrs_types::Result;

optimizer! {
    /// MXNet's `LAMB`: Adam with steps whose length is proportional to the norm of the weight.
    pub struct Lamb["lamb", lr = 0.001, text Some(0.001), Rule::new] {
        /// Decay rate of the moving average of the gradient: the share of its old value in the new one. Default: 0.9.
        beta1: f64 = 0.9, Fraction;
        /// Decay rate of the moving average of the squared gradient: the share of its old value in the new one.
        /// Default: 0.999.
        beta2: f64 = 0.999, Fraction;
        /// Added to the denominator. Default: 1e-6.
        epsilon: f64 = 1e-6, NotNegative;
        /// Lower limit of a weight's norm; `None` or 0 for no limit.
        lower_bound: Option<f64> = None, NotNegative;
        /// Upper limit of a weight's norm; `None` or 0 for no limit.
        upper_bound: Option<f64> = None, NotNegative;
        /// Whether the moments are divided by `1 - beta^t`. Default: true.
        bias_correction: bool = true, Any;
    }
}

impl Optimizer for Rule<Lamb> {
    described!();

    fn is_elementwise(&self) -> bool {
        false
    }

    fn slots(&self) -> Vec<&'static str> {
        vec!["mean", "var"]
    }

    fn is_mixed(&self) -> bool {
        true
    }

    fn aggregates(&self) -> usize {
        45
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
        let counts: Vec<u64> = batch.iter().map(|param| self.common.count(param.name)).collect();
        let op = if has_masters(batch) { "_multi_mp_lamb_update" } else { "_multi_lamb_update" };
        let bound = |bound: Option<f64>| bound.filter(|bound| *bound > 0.0);
        let call = Call::of(op, &self.common)
            .list("learning_rates", batch.iter().map(|param| self.common.lr(param.name)))
            .list("wds", batch.iter().map(|param| self.common.wd(param.name)))
            .list("step_count", counts)
            .with("beta1", self.config.beta1)
            .with("beta2", self.config.beta2)
            .with("epsilon", self.config.epsilon)
            .with("bias_correction", self.config.bias_correction)
            .with("num_tensors", batch.len())
            .with_some("lower_bound", bound(self.config.lower_bound))
            .with_some("upper_bound", bound(self.config.upper_bound));
        call.into(nd, &interleaved(batch), &weights(batch))
    }
}
