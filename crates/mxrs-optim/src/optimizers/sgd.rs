//! Stochastic gradient descent: `m = momentum · m - lr · (clip(g) + wd · w)`, `w += m`; without momentum
//! `w -= lr · (clip(g) + wd · w)`. Several weights are updated by one call.

use super::{described, has_masters, interleaved, weights};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `SGD`, also `ccSGD`.
#[derive(Clone, Debug)]
pub struct Sgd {
    common: Common,
    momentum: f64,
    lazy_update: bool,
}

impl Sgd {
    /// Reads momentum (0) and lazy_update (True, without effect on dense gradients).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self {
            common: Common::read(settings, None)?,
            momentum: settings.positive_or("momentum", 0.0)?,
            lazy_update: settings.flag_or("lazy_update", true)?,
        })
    }
}

impl Optimizer for Sgd {
    described!("sgd", momentum, lazy_update);

    fn slots(&self) -> Vec<&'static str> {
        if self.momentum > 0.0 { vec!["mom"] } else { Vec::new() }
    }

    fn is_mixed(&self) -> bool {
        true
    }

    fn aggregates(&self) -> usize {
        self.common.aggregate_num
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
        }
        let op = match (has_masters(batch), self.momentum > 0.0) {
            (false, false) => "multi_sgd_update",
            (false, true) => "multi_sgd_mom_update",
            (true, false) => "multi_mp_sgd_update",
            (true, true) => "multi_mp_sgd_mom_update",
        };
        let mut call = Call::of(op, &self.common)
            .list("lrs", batch.iter().map(|param| self.common.lr(param.name)))
            .list("wds", batch.iter().map(|param| self.common.wd(param.name)))
            .with("num_weights", batch.len());
        if self.momentum > 0.0 {
            call = call.with("momentum", self.momentum);
        }
        call.into(nd, &interleaved(batch), &weights(batch))
    }
}
