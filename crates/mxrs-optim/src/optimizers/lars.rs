//! LARS: SGD with a learning rate for each layer, `lr · eta · |w| / (|g| + wd · |w| + eps)`, but only `lr` if the
//! parameter's name ends in `gamma`, `beta` or `bias`, or if a norm is 0. You, Gitman and Ginsburg, arXiv:1708.03888.
//!
//! By default, only names that end in `_weight` have a weight decay. With `momentum_correction`, the momentum is
//! multiplied by the schedule's current rate divided by the schedule's rate at the previous update (arXiv:1706.02677).
//! This is the previous update of any parameter.

use super::sgd::descend_by;
use super::{MOST_WEIGHTS, Rule, described, device_of, optimizer, vector, weights};
use crate::call::Call;
use crate::mult::Decayed;
use crate::{Common, Optimizer, Param};
use mxrs_ndarray::{Invoke, NdArray};
use mxrs_types::Result;

optimizer! {
    /// MXNet's `LARS`: SGD with a learning rate for each layer.
    pub struct Lars["lars", lr = 0.01, text None, weights_decay] {
        /// Momentum: the share of the last step that is added to the next one. Default: 0.
        momentum: f64 = 0.0, NotNegative;
        /// MXNet's switch for sparse gradients; it has no effect on dense ones.
        lazy_update: bool = true, Any;
        /// Number that the learning rate of each layer is multiplied by. Default: 0.001.
        eta: f64 = 0.001, NotNegative;
        /// Added to the denominator. Default: 0.0.
        eps: f64 = 0.0, NotNegative;
        /// Whether the momentum is multiplied by the ratio of the current to the previous learning rate. Default: true.
        momentum_correction: bool = true, Any;
    }
}

/// Makes the optimizer. By default, only names that end in `_weight` have a weight decay.
fn weights_decay(mut common: Common, config: Lars) -> Rule<Lars> {
    common.mult.decayed = Decayed::Weights;
    Rule::new(common, config)
}

impl Rule<Lars> {
    /// The momentum of the current update.
    fn momentum_now(&self) -> f64 {
        let now = self.common.num_update;
        let is_first = now <= self.common.begin_num_update + 1;
        let before = if is_first { self.common.lr_at(now) } else { self.common.lr_at(now - 1) };
        if self.config.momentum_correction && before != 0.0 {
            self.config.momentum * (self.common.lr_at(now) / before)
        } else {
            self.config.momentum
        }
    }
}

/// Whether the parameter with this name has a learning rate of its own.
fn is_layer(name: &str) -> bool {
    !["gamma", "beta", "bias"].iter().any(|end| name.ends_with(end))
}

impl Optimizer for Rule<Lars> {
    described!();

    fn is_elementwise(&self) -> bool {
        false
    }

    fn slots(&self) -> Vec<&'static str> {
        if self.config.momentum > 0.0 { vec!["mom"] } else { Vec::new() }
    }

    fn is_mixed(&self) -> bool {
        true
    }

    fn aggregates(&self) -> usize {
        MOST_WEIGHTS
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
        }
        // Layers with their own learning rates are updated first; one call computes the rates of all of them.
        let (layers, others): (Vec<Param<'_>>, Vec<Param<'_>>) = batch.iter().partition(|param| is_layer(param.name));
        for (group, has_own) in [(layers, true), (others, false)] {
            if group.is_empty() {
                continue;
            }
            let mut lrs = vector(nd, device_of(&group), group.iter().map(|param| self.common.lr(param.name)))?;
            let wds = vector(nd, device_of(&group), group.iter().map(|param| self.common.wd(param.name)))?;
            if has_own {
                let sums =
                    |arrays: &[&NdArray]| Call::new("multi_sum_sq").with("num_arrays", arrays.len()).make(nd, arrays);
                let grads: Vec<&NdArray> = group.iter().map(|param| param.grad).collect();
                let (of_weights, of_grads) = (sums(&weights(&group))?, sums(&grads)?);
                lrs = Call::new("multi_lars")
                    .with("eta", self.config.eta)
                    .with("eps", self.config.eps)
                    .with("rescale_grad", self.common.rescale_grad)
                    .make(nd, &[&lrs, &of_weights, &of_grads, &wds])?;
            }
            let momentum = (self.config.momentum > 0.0).then(|| self.momentum_now());
            descend_by(nd, &self.common, momentum, &group, (&lrs, &wds))?;
        }
        Ok(())
    }
}
