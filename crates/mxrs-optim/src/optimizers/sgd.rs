//! Stochastic gradient descent: `m = momentum · m - lr · (clip(g) + wd · w)`, `w += m`; without momentum
//! `w -= lr · (clip(g) + wd · w)`. Several weights are updated by one call.

use super::{MOST_WEIGHTS, Rule, described, device_of, has_masters, interleaved, optimizer, vector, weights};
use crate::call::Call;
use crate::{Common, Optimizer, Param};
use mxrs_ndarray::{Invoke, NdArray};
use mxrs_types::Result;

optimizer! {
    /// MXNet's `SGD`, also `ccSGD`: a step down the gradient, with momentum.
    pub struct Sgd["sgd", lr = 0.01, text None, Rule::new] {
        /// Momentum: the share of the last step that is added to the next one. Default: 0.
        momentum: f64 = 0.0, NotNegative;
        /// MXNet's switch for sparse gradients; it has no effect on dense ones.
        lazy_update: bool = true, Any;
    }
}

impl Optimizer for Rule<Sgd> {
    described!();

    fn slots(&self) -> Vec<&'static str> {
        if self.config.momentum > 0.0 { vec!["mom"] } else { Vec::new() }
    }

    fn is_mixed(&self) -> bool {
        true
    }

    fn aggregates(&self) -> usize {
        MOST_WEIGHTS
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
        }
        let momentum = (self.config.momentum > 0.0).then_some(self.config.momentum);
        let lrs = || batch.iter().map(|param| self.common.lr(param.name));
        let wds = || batch.iter().map(|param| self.common.wd(param.name));
        // With a schedule the rates change, so they are passed as tensors. If they were attributes, each new value would
        // require another kernel to be prepared.
        if self.common.scheduler().is_some() {
            let rates = (&vector(nd, device_of(batch), lrs())?, &vector(nd, device_of(batch), wds())?);
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
    Call::of(op, common).with("num_weights", batch.len()).with_some("momentum", momentum)
}

/// Makes a step of SGD with tensors of learning rates and weight decays, one number for each weight.
pub(super) fn descend_by(
    nd: &dyn Invoke,
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
