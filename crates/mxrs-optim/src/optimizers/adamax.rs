//! Adamax: `h = clip(g + wd · w)`, `mean = beta1 · mean + (1 - beta1) · h`, `var = max(beta2 · var, |h|)`,
//! `w -= lr / (1 - beta1^t) · mean / var`. Kingma and Ba, arXiv:1412.6980, section 7. As in MXNet, a gradient that was 0
//! in every step so far gives NaN.

use super::{correction, described, interleaved};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `Adamax`; lr is 0.002.
#[derive(Clone, Debug)]
pub struct Adamax {
    common: Common,
    beta1: f64,
    beta2: f64,
}

impl Adamax {
    /// Reads beta1 (0.9) and beta2 (0.999).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self {
            common: Common::read(settings, Some(0.002))?,
            beta1: settings.decay_or("beta1", 0.9)?,
            beta2: settings.decay_or("beta2", 0.999)?,
        })
    }
}

impl Optimizer for Adamax {
    described!("adamax", beta1, beta2);

    fn slots(&self) -> Vec<&'static str> {
        vec!["mean", "var"]
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            let t = self.common.count(param.name);
            let call = Call::of("_adamax_update", &self.common)
                .with("lr", self.common.lr(param.name) / correction(self.beta1, t))
                .with("wd", self.common.wd(param.name))
                .with("beta1", self.beta1)
                .with("beta2", self.beta2);
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
