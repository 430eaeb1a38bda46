//! Stochastic gradient descent: `m = momentum · m - lr · (clip(g) + wd · w)`, `w += m`; without momentum
//! `w -= lr · (clip(g) + wd · w)`. Several weights are updated by one call.

use super::{MOST_WEIGHTS, described, has_masters, interleaved, vector, weights};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
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
        MOST_WEIGHTS
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
        }
        let momentum = (self.momentum > 0.0).then_some(self.momentum);
        let lrs = || batch.iter().map(|param| self.common.lr(param.name));
        let wds = || batch.iter().map(|param| self.common.wd(param.name));
        // Rates that change are tensors: other numbers as attributes would be another kernel to prepare.
        if self.common.scheduler().is_some() {
            let rates = (&vector(nd, lrs())?, &vector(nd, wds())?);
            return descend_by(nd, &self.common, momentum, batch, rates);
        }
        let op = match (has_masters(batch), momentum.is_some()) {
            (false, false) => "multi_sgd_update",
            (false, true) => "multi_sgd_mom_update",
            (true, false) => "multi_mp_sgd_update",
            (true, true) => "multi_mp_sgd_mom_update",
        };
        let call = call(op, &self.common, momentum, batch).list("lrs", lrs()).list("wds", wds());
        call.into(nd, &interleaved(batch), &weights(batch))
    }
}

fn call(op: &'static str, common: &Common, momentum: Option<f64>, batch: &[Param<'_>]) -> Call {
    let call = Call::of(op, common).with("num_weights", batch.len());
    momentum.into_iter().fold(call, |call, momentum| call.with("momentum", momentum))
}

/// A step with tensors of learning rates and weight decays, one number for each weight.
pub(super) fn descend_by(
    nd: &Imperative,
    common: &Common,
    momentum: Option<f64>,
    batch: &[Param<'_>],
    (lrs, wds): (&NdArray, &NdArray),
) -> Result<()> {
    let op = match (has_masters(batch), momentum.is_some()) {
        (false, false) => "preloaded_multi_sgd_update",
        (false, true) => "preloaded_multi_sgd_mom_update",
        (true, false) => "preloaded_multi_mp_sgd_update",
        (true, true) => "preloaded_multi_mp_sgd_mom_update",
    };
    let mut inputs = interleaved(batch);
    inputs.extend([lrs, wds]);
    call(op, common, momentum, batch).into(nd, &inputs, &weights(batch))
}
