//! Signum: `m = momentum · m - (1 - momentum) · (wd · w + clip(g))`, `w = (1 - lr · wd_lh) · w + lr · sign(m)`; without
//! momentum `w = (1 - lr · wd) · w - lr · sign(grad)`, which is signSGD. Bernstein et al., arXiv:1802.04434.

use super::{described, interleaved};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `Signum`; lr is 0.01.
#[derive(Clone, Debug)]
pub struct Signum {
    common: Common,
    momentum: f64,
    wd_lh: f64,
}

impl Signum {
    /// Reads momentum (0.9) and wd_lh (0).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self {
            common: Common::read(settings, Some(0.01))?,
            momentum: settings.positive_or("momentum", 0.9)?,
            wd_lh: settings.positive_or("wd_lh", 0.0)?,
        })
    }
}

impl Optimizer for Signum {
    described!("signum", momentum, wd_lh);

    fn slots(&self) -> Vec<&'static str> {
        if self.momentum > 0.0 { vec!["mom"] } else { Vec::new() }
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let mut call = Call::of(if self.momentum > 0.0 { "signum_update" } else { "signsgd_update" }, &self.common)
                .rates(&self.common, param.name);
            if self.momentum > 0.0 {
                call = call.with("momentum", self.momentum).with("wd_lh", self.wd_lh);
            }
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
