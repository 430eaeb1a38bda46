//! Adam: `h = clip(g + wd · w)`, `mean = beta1 · mean + (1 - beta1) · h`, `var = beta2 · var + (1 - beta2) · h²`,
//! `w -= lr · sqrt(1 - beta2^t) / (1 - beta1^t) · mean / (sqrt(var) + epsilon)`. Kingma and Ba, arXiv:1412.6980.

use super::{MOST_WEIGHTS, correction, described, interleaved, vector, weights};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `Adam`; lr is 0.001.
#[derive(Clone, Debug)]
pub struct Adam {
    common: Common,
    beta1: f64,
    beta2: f64,
    epsilon: f64,
    lazy_update: bool,
}

impl Adam {
    /// Reads beta1 (0.9), beta2 (0.999), epsilon (1e-8) and lazy_update (True, without effect on dense gradients).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self {
            common: Common::read(settings, Some(0.001))?,
            beta1: settings.decay_or("beta1", 0.9)?,
            beta2: settings.decay_or("beta2", 0.999)?,
            epsilon: settings.positive_or("epsilon", 1e-8)?,
            lazy_update: settings.flag_or("lazy_update", true)?,
        })
    }
}

impl Optimizer for Adam {
    described!("adam", beta1, beta2, epsilon, lazy_update);

    fn slots(&self) -> Vec<&'static str> {
        vec!["mean", "var"]
    }

    fn aggregates(&self) -> usize {
        MOST_WEIGHTS
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        let counts: Vec<u64> = batch.iter().map(|param| self.common.count(param.name)).collect();
        let rate = |(param, t): (&Param<'_>, &u64)| {
            self.common.lr(param.name) * correction(self.beta2, *t).sqrt() / correction(self.beta1, *t)
        };
        // As tensors: other numbers as attributes would be another kernel to prepare, in every update.
        let lrs = vector(nd, batch.iter().zip(&counts).map(rate))?;
        let wds = vector(nd, batch.iter().map(|param| self.common.wd(param.name)))?;
        let call = Call::of("_preloaded_multi_adam_update", &self.common)
            .with("beta1", self.beta1)
            .with("beta2", self.beta2)
            .with("epsilon", self.epsilon)
            .with("num_weights", batch.len());
        let mut inputs = interleaved(batch);
        inputs.extend([&lrs, &wds]);
        call.into(nd, &inputs, &weights(batch))
    }
}
