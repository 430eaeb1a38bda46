//! Stochastic gradient descent: `m = momentum · m - lr · (clip(g) + wd · w)`, `w += m`; without momentum
//! `w -= lr · (clip(g) + wd · w)`. Several weights are updated by one call.

use super::{described, has_masters, interleaved, vector, weights};
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
        // Rates that change are tensors: other numbers as attributes would be another kernel to prepare.
        let changes = self.common.scheduler().is_some();
        let op = match (has_masters(batch), self.momentum > 0.0, changes) {
            (false, false, false) => "multi_sgd_update",
            (false, true, false) => "multi_sgd_mom_update",
            (true, false, false) => "multi_mp_sgd_update",
            (true, true, false) => "multi_mp_sgd_mom_update",
            (false, false, true) => "preloaded_multi_sgd_update",
            (false, true, true) => "preloaded_multi_sgd_mom_update",
            (true, false, true) => "preloaded_multi_mp_sgd_update",
            (true, true, true) => "preloaded_multi_mp_sgd_mom_update",
        };
        let lrs = || batch.iter().map(|param| self.common.lr(param.name));
        let wds = || batch.iter().map(|param| self.common.wd(param.name));
        let mut call = Call::of(op, &self.common).with("num_weights", batch.len());
        if self.momentum > 0.0 {
            call = call.with("momentum", self.momentum);
        }
        if !changes {
            return call.list("lrs", lrs()).list("wds", wds()).into(nd, &interleaved(batch), &weights(batch));
        }
        let (lrs, wds) = (vector(nd, lrs())?, vector(nd, wds())?);
        let mut inputs = interleaved(batch);
        inputs.extend([&lrs, &wds]);
        call.into(nd, &inputs, &weights(batch))
    }
}
