//! LAMB: Adam's direction with a step as long as the weight. `h = clip(g)`, moments as in Adam,
//! `d = mean' / (sqrt(var') + epsilon) + wd · w`, where with bias_correction the moments are divided by `1 - beta^t`, and
//! `w -= lr · |w| / |d| · d`, with |w| between the two bounds; a norm of 0 makes the ratio 1. You et al., arXiv:1904.00962.

use super::{described, has_masters, interleaved, weights};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `LAMB`; lr is 0.001.
#[derive(Clone, Debug)]
pub struct Lamb {
    common: Common,
    beta1: f64,
    beta2: f64,
    epsilon: f64,
    lower_bound: Option<f64>,
    upper_bound: Option<f64>,
    bias_correction: bool,
}

impl Lamb {
    /// Reads beta1 (0.9), beta2 (0.999), epsilon (1e-6), lower_bound, upper_bound (None) and bias_correction (True).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self {
            common: Common::read(settings, Some(0.001))?,
            beta1: settings.decay_or("beta1", 0.9)?,
            beta2: settings.decay_or("beta2", 0.999)?,
            epsilon: settings.positive_or("epsilon", 1e-6)?,
            lower_bound: settings.positive("lower_bound")?.filter(|bound| *bound > 0.0),
            upper_bound: settings.positive("upper_bound")?.filter(|bound| *bound > 0.0),
            bias_correction: settings.flag_or("bias_correction", true)?,
        })
    }
}

impl Optimizer for Lamb {
    described!("lamb", beta1, beta2, epsilon, lower_bound, upper_bound, bias_correction);

    fn slots(&self) -> Vec<&'static str> {
        vec!["mean", "var"]
    }

    fn is_mixed(&self) -> bool {
        true
    }

    fn aggregates(&self) -> usize {
        45
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        let counts: Vec<u64> = batch.iter().map(|param| self.common.count(param.name)).collect();
        let op = if has_masters(batch) { "_multi_mp_lamb_update" } else { "_multi_lamb_update" };
        let mut call = Call::of(op, &self.common)
            .list("learning_rates", batch.iter().map(|param| self.common.lr(param.name)))
            .list("wds", batch.iter().map(|param| self.common.wd(param.name)))
            .list("step_count", counts)
            .with("beta1", self.beta1)
            .with("beta2", self.beta2)
            .with("epsilon", self.epsilon)
            .with("bias_correction", self.bias_correction)
            .with("num_tensors", batch.len());
        for (key, bound) in [("lower_bound", self.lower_bound), ("upper_bound", self.upper_bound)] {
            if let Some(bound) = bound {
                call = call.with(key, bound);
            }
        }
        call.into(nd, &interleaved(batch), &weights(batch))
    }
}
