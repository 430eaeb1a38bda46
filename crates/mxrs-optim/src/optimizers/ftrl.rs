//! Follow the regularised leader: `h = clip(g)`, `z += h - (sqrt(n + h²) - sqrt(n)) · w / lr`, `n += h²`,
//! `w = (sign(z) · lamda1 - z) / ((beta + sqrt(n)) / lr + wd)` where `|z| > lamda1`, else 0. McMahan et al., KDD 2013.

use super::{described, interleaved};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `Ftrl`; lr is 0.1.
#[derive(Clone, Debug)]
pub struct Ftrl {
    common: Common,
    lamda1: f64,
    beta: f64,
}

impl Ftrl {
    /// Reads lamda1 (0.01) and beta (1).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self {
            common: Common::read(settings, Some(0.1))?,
            lamda1: settings.positive_or("lamda1", 0.01)?,
            beta: settings.positive_or("beta", 1.0)?,
        })
    }
}

impl Optimizer for Ftrl {
    described!("ftrl", lamda1, beta);

    fn slots(&self) -> Vec<&'static str> {
        vec!["z", "n"]
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let call = Call::of("ftrl_update", &self.common)
                .rates(&self.common, param.name)
                .with("lamda1", self.lamda1)
                .with("beta", self.beta);
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
