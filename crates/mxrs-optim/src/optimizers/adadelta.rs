//! AdaDelta: `h = clip(g)`, `n = rho · n + (1 - rho) · h²`, `step = sqrt(delta + epsilon) / sqrt(n + epsilon) · h`,
//! `delta = rho · delta + (1 - rho) · step²`, `w -= step + wd · w`: the learning rate has no effect. Zeiler,
//! arXiv:1212.5701.

use super::{described, interleaved};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `AdaDelta`.
#[derive(Clone, Debug)]
pub struct AdaDelta {
    common: Common,
    rho: f64,
    epsilon: f64,
}

impl AdaDelta {
    /// Reads rho (0.9) and epsilon (1e-5).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self {
            common: Common::read(settings, None)?,
            rho: settings.decay_or("rho", 0.9)?,
            epsilon: settings.positive_or("epsilon", 1e-5)?,
        })
    }
}

impl Optimizer for AdaDelta {
    described!("adadelta", rho, epsilon);

    fn slots(&self) -> Vec<&'static str> {
        vec!["n", "delta"]
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let call = Call::of("_adadelta_update", &self.common)
                .with("wd", self.common.wd(param.name))
                .with("rho", self.rho)
                .with("epsilon", self.epsilon);
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
