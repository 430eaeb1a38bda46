//! Adam with decoupled weight decay: `h = clip(g)`, moments as in Adam,
//! `w -= lr · sqrt(1 - beta2^t) / (1 - beta1^t) · (mean / (sqrt(var) + epsilon) + wd · w)`. Loshchilov and Hutter,
//! arXiv:1711.05101. MXNet 1.9.1 has the operators, MXNet 2.0 the optimizer; settings are the latter's.

use super::{correction, described, has_masters, interleaved, weights};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::Result;

/// `AdamW`; lr is 0.001.
#[derive(Clone, Debug)]
pub struct AdamW {
    common: Common,
    beta1: f64,
    beta2: f64,
    epsilon: f64,
    correct_bias: bool,
}

impl AdamW {
    /// Reads beta1 (0.9), beta2 (0.999), epsilon (1e-6) and correct_bias (True).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self {
            common: Common::read(settings, Some(0.001))?,
            beta1: settings.decay_or("beta1", 0.9)?,
            beta2: settings.decay_or("beta2", 0.999)?,
            epsilon: settings.positive_or("epsilon", 1e-6)?,
            correct_bias: settings.flag_or("correct_bias", true)?,
        })
    }
}

impl Optimizer for AdamW {
    described!("adamw", beta1, beta2, epsilon, correct_bias);

    fn slots(&self) -> Vec<&'static str> {
        vec!["mean", "var"]
    }

    fn is_mixed(&self) -> bool {
        true
    }

    fn aggregates(&self) -> usize {
        50
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        let counts: Vec<u64> = batch.iter().map(|param| self.common.count(param.name)).collect();
        let rate = |(param, t): (&Param<'_>, &u64)| {
            let lr = self.common.lr(param.name);
            let factor = || correction(self.beta2, *t).sqrt() / correction(self.beta1, *t);
            if self.correct_bias { lr * factor() } else { lr }
        };
        let scale = NdArray::from_slice(nd.context(), [1], &[self.common.rescale_grad as f32])?;
        let op = if has_masters(batch) { "_multi_mp_adamw_update" } else { "_multi_adamw_update" };
        let call = Call::new(op)
            .bounded(&self.common)
            .list("lrs", batch.iter().map(|_| 1))
            .list("etas", batch.iter().zip(&counts).map(rate))
            .list("wds", batch.iter().map(|param| self.common.wd(param.name)))
            .with("beta1", self.beta1)
            .with("beta2", self.beta2)
            .with("epsilon", self.epsilon)
            .with("num_weights", batch.len());
        let mut inputs = interleaved(batch);
        inputs.push(&scale);
        call.into(nd, &inputs, &weights(batch))
    }
}
