//! SGD for large batches: gradients of `batch_scale` updates are summed and make one step of SGD with their mean, and the
//! learning rate is multiplied by a factor that warms up, or that is chosen for each layer.
//!
//! Over `n = warmup_epochs · updates_per_epoch` updates the factor goes from 1 to `batch_scale`: `linear`ly, as a square
//! (`power2`) or a square root (`sqrt`). With `lars` it is `sqrt(|w|² / (|g|² + wd · |w|² + 1e-18))`, between 0.01 and 100.

use super::{described, interleaved};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::Result;

/// How the factor of the learning rate is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    Linear,
    Power2,
    Sqrt,
    Lars,
}

/// MXNet's `LBSGD`.
#[derive(Clone, Debug)]
pub struct LbSgd {
    common: Common,
    momentum: f64,
    warmup_strategy: Strategy,
    warmup_epochs: u64,
    batch_scale: u64,
    updates_per_epoch: u64,
    begin_epoch: u64,
    num_epochs: u64,
}

impl LbSgd {
    /// Reads momentum (0), warmup_strategy (linear), warmup_epochs (5), batch_scale (1), updates_per_epoch (32),
    /// begin_epoch (0) and num_epochs (60, without effect).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        let warmup_strategy = match settings.text("warmup_strategy").unwrap_or("linear") {
            "linear" => Strategy::Linear,
            "power2" => Strategy::Power2,
            "sqrt" => Strategy::Sqrt,
            "lars" => Strategy::Lars,
            other => return Err(settings.refuse("warmup_strategy", "linear, power2, sqrt or lars", other)),
        };
        let batch_scale = settings.count_or("batch_scale", 1)?;
        if batch_scale == 0 {
            return Err(settings.refuse("batch_scale", "1 or more", "0"));
        }
        let made = Self {
            common: Common::read(settings, None)?,
            momentum: settings.positive_or("momentum", 0.0)?,
            warmup_strategy,
            warmup_epochs: settings.count_or("warmup_epochs", 5)?,
            batch_scale,
            updates_per_epoch: settings.count_or("updates_per_epoch", 32)?,
            begin_epoch: settings.count_or("begin_epoch", 0)?,
            num_epochs: settings.count_or("num_epochs", 60)?,
        };
        tracing::info!("Running Large-Batch SGD Algorithm");
        tracing::info!(
            "(Batch_scale={:.6}, warmup_epochs={}, warmup_strategy={}, updates_per_epoch={})",
            batch_scale as f64,
            made.warmup_epochs,
            format!("{warmup_strategy:?}").to_lowercase(),
            made.updates_per_epoch
        );
        Ok(made)
    }

    /// Updates of a parameter at this count of them, those of the epochs before included. Below 1 where counts were restored
    /// that are smaller than the one to begin at.
    fn n_updates(&self, count: u64) -> i128 {
        let before = i128::from(self.begin_epoch).saturating_mul(i128::from(self.updates_per_epoch));
        before.saturating_add(i128::from(count)) - i128::from(self.common.begin_num_update)
    }

    /// The factor after so many updates, while it goes by their number.
    fn factor(&self, n: u64) -> f64 {
        let (warm, most) = (self.warmup_epochs.saturating_mul(self.updates_per_epoch), self.batch_scale as f64);
        if n >= warm {
            return most;
        }
        let part = n as f64 / warm as f64;
        match self.warmup_strategy {
            _ if warm <= 1 => 1.0,
            Strategy::Linear => 1.0 + (most - 1.0) * part,
            Strategy::Power2 => 1.0 + (most - 1.0) * part * part,
            Strategy::Sqrt => 1.0 + (most - 1.0) * part.sqrt(),
            Strategy::Lars => 1.0,
        }
    }

    /// The factor of a layer; waits for weight and gradient.
    fn factor_of(&self, nd: &Imperative, weight: &NdArray, grad: &NdArray, wd: f64) -> Result<f64> {
        let sums = Call::new("multi_sum_sq").with("num_arrays", 2).make(nd, &[weight, grad])?.to_vec::<f32>()?;
        let [weight, grad] = [0, 1].map(|i| sums.get(i).copied().map_or(0.0, f64::from));
        Ok((weight / (grad + wd * weight + 1e-18)).sqrt().clamp(0.01, 100.0))
    }
}

impl Optimizer for LbSgd {
    described!(
        "lbsgd",
        momentum,
        warmup_strategy,
        warmup_epochs,
        batch_scale,
        updates_per_epoch,
        begin_epoch,
        num_epochs
    );

    fn slots(&self) -> Vec<&'static str> {
        let momentum = (self.momentum > 0.0).then_some("mom");
        momentum.into_iter().chain((self.batch_scale > 1).then_some("sum")).collect()
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            // The rate is looked up before the update counts.
            let (lr, wd) = (self.common.lr(param.name), self.common.wd(param.name));
            let count = self.common.count(param.name);
            let (n, scale) = (self.n_updates(count), i128::from(self.batch_scale));
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
                grad = Call::new("_div_scalar").with("scalar", self.batch_scale).make(nd, &[sum])?;
            }
            let factor = match self.warmup_strategy {
                Strategy::Lars => self.factor_of(nd, param.weight, &grad, wd)?,
                _ => self.factor(u64::try_from(n.max(0)).unwrap_or(u64::MAX)),
            };
            let op = if self.momentum > 0.0 { "sgd_mom_update" } else { "sgd_update" };
            let mut call = Call::of(op, &self.common).with("lr", lr * factor).with("wd", wd);
            if self.momentum > 0.0 {
                call = call.with("momentum", self.momentum);
            }
            let inputs = interleaved(&[Param { grad: &grad, ..*param }]);
            call.into(nd, &inputs[..if self.momentum > 0.0 { 3 } else { 2 }], &[param.weight])?;
        }
        Ok(())
    }
}
