//! SGD for large batches: the gradients of `batch_scale` updates are summed, and their mean makes one step of SGD. The
//! learning rate is multiplied by a factor, which grows during a warm-up or is computed for each layer.
//!
//! Over `n = warmup_epochs · updates_per_epoch` updates the factor grows from 1 to `batch_scale`: linearly (`linear`), as a
//! square (`power2`) or a square root (`sqrt`). With `lars` it is `sqrt(|w|² / (|g|² + wd · |w|² + 1e-18))`, between 0.01
//! and 100.

use super::{Rule, described, interleaved, optimizer};
use crate::call::Call;
use crate::settings::Value;
use crate::{Common, Optimizer, Param};
use mxrs_ndarray::{Invoke, NdArray};
use mxrs_types::Result;

/// How [`LbSgd`] computes the factor of the learning rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WarmupStrategy {
    /// The factor grows linearly with the number of updates.
    #[default]
    Linear,
    /// The factor grows with the square of the number of updates.
    Power2,
    /// The factor grows with the square root of the number of updates.
    Sqrt,
    /// The factor of each layer is computed from the norms of weight and gradient.
    Lars,
}

impl Value for WarmupStrategy {
    const EXPECTED: &'static str = "linear, power2, sqrt or lars";

    fn parse(text: &str) -> Option<Self> {
        // Upper case is accepted, because descriptions and files of states contain the names of the variants, such as
        // `Power2`.
        Some(match text.to_ascii_lowercase().as_str() {
            "linear" => Self::Linear,
            "power2" => Self::Power2,
            "sqrt" => Self::Sqrt,
            "lars" => Self::Lars,
            _ => return None,
        })
    }
}

optimizer! {
    /// MXNet's `LBSGD`: SGD for large batches.
    pub struct LbSgd["lbsgd", lr = 0.01, text None, logged] {
        /// Momentum: the share of the last step that is added to the next one. Default: 0.
        momentum: f64 = 0.0, NotNegative;
        /// How the factor of the learning rate is computed. Default: linear.
        warmup_strategy: WarmupStrategy = WarmupStrategy::Linear, Any;
        /// Number of epochs until the factor reaches `batch_scale`. Default: 5.
        warmup_epochs: u64 = 5, Any;
        /// The gradients of this many updates are summed for one step. Default: 1.
        batch_scale: u64 = 1, Positive;
        /// Number of updates of an epoch. Default: 32.
        updates_per_epoch: u64 = 32, Any;
        /// Number of epochs done before the first update. Default: 0.
        begin_epoch: u64 = 0, Any;
        /// MXNet's number of epochs, which has no effect. Default: 60.
        num_epochs: u64 = 60, Any;
    }
}

/// Makes the optimizer, and logs the same two lines as MXNet does.
fn logged(common: Common, config: LbSgd) -> Rule<LbSgd> {
    tracing::info!("Running Large-Batch SGD Algorithm");
    tracing::info!(
        "(Batch_scale={:.6}, warmup_epochs={}, warmup_strategy={}, updates_per_epoch={})",
        config.batch_scale as f64,
        config.warmup_epochs,
        format!("{:?}", config.warmup_strategy).to_lowercase(),
        config.updates_per_epoch
    );
    Rule::new(common, config)
}

impl Rule<LbSgd> {
    /// The number of updates of a parameter whose counter is `count`, including the updates of the `begin_epoch` epochs
    /// before this training. The number is below 1 if the counter was restored from a file and is smaller than
    /// `begin_num_update`.
    fn n_updates(&self, count: u64) -> i128 {
        let before = i128::from(self.config.begin_epoch).saturating_mul(i128::from(self.config.updates_per_epoch));
        before.saturating_add(i128::from(count)) - i128::from(self.common.begin_num_update)
    }

    /// The factor after `n` updates, for strategies that depend on the number of updates.
    fn factor(&self, n: u64) -> f64 {
        let (warm, most) =
            (self.config.warmup_epochs.saturating_mul(self.config.updates_per_epoch), self.config.batch_scale as f64);
        if n >= warm {
            return most;
        }
        let part = n as f64 / warm as f64;
        match self.config.warmup_strategy {
            _ if warm <= 1 => 1.0,
            WarmupStrategy::Linear => 1.0 + (most - 1.0) * part,
            WarmupStrategy::Power2 => 1.0 + (most - 1.0) * part * part,
            WarmupStrategy::Sqrt => 1.0 + (most - 1.0) * part.sqrt(),
            WarmupStrategy::Lars => 1.0,
        }
    }

    /// The factor of a layer, for the strategy `lars`. Waits until weight and gradient are computed.
    fn factor_of(&self, nd: &dyn Invoke, weight: &NdArray, grad: &NdArray, wd: f64) -> Result<f64> {
        let sums = Call::new("multi_sum_sq").with("num_arrays", 2).make(nd, &[weight, grad])?.to_vec::<f32>()?;
        let [weight, grad] = [0, 1].map(|i| sums.get(i).copied().map_or(0.0, f64::from));
        Ok((weight / (grad + wd * weight + 1e-18)).sqrt().clamp(0.01, 100.0))
    }
}

impl Optimizer for Rule<LbSgd> {
    described!();

    fn is_elementwise(&self) -> bool {
        false
    }

    fn slots(&self) -> Vec<&'static str> {
        let momentum = (self.config.momentum > 0.0).then_some("mom");
        momentum.into_iter().chain((self.config.batch_scale > 1).then_some("sum")).collect()
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            // The learning rate is read before the update is counted.
            let (lr, wd) = (self.common.lr(param.name), self.common.wd(param.name));
            let count = self.common.count(param.name);
            let (n, scale) = (self.n_updates(count), i128::from(self.config.batch_scale));
            let mut grad = param.grad.clone();
            if let Some(sum) = param.state.slot("sum") {
                if (n - 1).rem_euclid(scale) == 0 {
                    sum.copy_from_array(param.grad)?;
                } else {
                    Call::new("elemwise_add").into(nd, &[sum, param.grad], &[sum])?;
                }
                if n.rem_euclid(scale) != 0 {
                    continue;
                }
                grad = Call::new("_div_scalar").with("scalar", self.config.batch_scale).make(nd, &[sum])?;
            }
            let factor = match self.config.warmup_strategy {
                WarmupStrategy::Lars => self.factor_of(nd, param.weight, &grad, wd)?,
                _ => self.factor(u64::try_from(n.max(0)).unwrap_or(u64::MAX)),
            };
            let momentum = (self.config.momentum > 0.0).then_some(self.config.momentum);
            let (op, n_inputs) = if momentum.is_some() { ("sgd_mom_update", 3) } else { ("sgd_update", 2) };
            let call = Call::of(op, &self.common).with("lr", lr * factor).with("wd", wd);
            let inputs = interleaved(&[Param { grad: &grad, ..*param }]);
            call.with_some("momentum", momentum).into(nd, &inputs[..n_inputs], &[param.weight])?;
        }
        Ok(())
    }
}
