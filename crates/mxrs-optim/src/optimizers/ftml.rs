//! Follow the moving leader: `h = clip(g + wd · w)`, `v = beta2 · v + (1 - beta2) · h²`,
//! `d' = (1 - beta1^t) / lr · (sqrt(v / (1 - beta2^t)) + epsilon)`,
//! `z = beta1 · z + (1 - beta1) · h - (d' - beta1 · d) · w`, `w = -z / d'`. Zheng and Kwok, ICML 2017.

use super::{described, interleaved};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `FTML`.
#[derive(Clone, Debug)]
pub struct Ftml {
    common: Common,
    beta1: f64,
    beta2: f64,
    epsilon: f64,
}

impl Ftml {
    /// Reads beta1 (0.6), beta2 (0.999) and epsilon (1e-8).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self {
            common: Common::read(settings, None)?,
            beta1: settings.decay_or("beta1", 0.6)?,
            beta2: settings.decay_or("beta2", 0.999)?,
            epsilon: settings.positive_or("epsilon", 1e-8)?,
        })
    }
}

impl Optimizer for Ftml {
    described!("ftml", beta1, beta2, epsilon);

    fn slots(&self) -> Vec<&'static str> {
        vec!["d", "v", "z"]
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            let t = self.common.count(param.name);
            let mut call = Call::new("ftml_update")
                .rates(&self.common, param.name)
                .with("rescale_grad", self.common.rescale_grad)
                .with("beta1", self.beta1)
                .with("beta2", self.beta2)
                .with("epsilon", self.epsilon)
                .with("t", t);
            if let Some(bound) = self.common.clip() {
                call = call.with("clip_grad", bound);
            }
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
