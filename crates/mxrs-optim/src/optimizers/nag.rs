//! Nesterov's accelerated gradient: `m' = momentum · m - lr · (clip(g) + wd · w)`,
//! `w' = w + (1 + momentum) · m' - momentum · m`; without momentum as SGD. The m that is kept is
//! `momentum · m - lr · (clip(g) + wd · w')`: MXNet's kernels read the weight again after they have written it.

use super::{described, has_masters, interleaved};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `NAG`.
#[derive(Clone, Debug)]
pub struct Nag {
    common: Common,
    momentum: f64,
}

impl Nag {
    /// Reads momentum (0).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        let momentum = settings.positive_or("momentum", 0.0)?;
        Ok(Self { common: Common::read(settings, None)?, momentum })
    }
}

impl Optimizer for Nag {
    described!("nag", momentum);

    fn slots(&self) -> Vec<&'static str> {
        if self.momentum > 0.0 { vec!["mom"] } else { Vec::new() }
    }

    fn is_mixed(&self) -> bool {
        true
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let group = [*param];
            let op = match (has_masters(&group), self.momentum > 0.0) {
                (false, false) => "sgd_update",
                (false, true) => "_nag_mom_update",
                (true, false) => "mp_sgd_update",
                (true, true) => "mp_nag_mom_update",
            };
            let mut call = Call::of(op, &self.common).rates(&self.common, param.name);
            if self.momentum > 0.0 {
                call = call.with("momentum", self.momentum);
            }
            call.into(nd, &interleaved(&group), &[param.weight])?;
        }
        Ok(())
    }
}
