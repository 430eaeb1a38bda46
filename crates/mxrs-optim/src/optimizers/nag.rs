//! Nesterov's accelerated gradient: `m' = momentum · m - lr · (clip(g) + wd · w)`,
//! `w' = w + (1 + momentum) · m' - momentum · m`; without momentum, the rule is that of SGD. But the `m` that is stored is
//! `momentum · m - lr · (clip(g) + wd · w')`, because MXNet's kernels compute it from the weight that they have just
//! written.

use super::{Rule, described, has_masters, interleaved, optimizer};
use crate::call::Call;
use crate::{Optimizer, Param};
use mxrs_ndarray::Invoke;
use mxrs_types::Result;

optimizer! {
    /// MXNet's `NAG`: Nesterov's accelerated gradient.
    pub struct Nag["nag", lr = 0.01, text None, Rule::new] {
        /// Momentum: the share of the last step that is added to the next one. Default: 0.
        momentum: f64 = 0.0, NotNegative;
    }
}

impl Optimizer for Rule<Nag> {
    described!();

    fn slots(&self) -> Vec<&'static str> {
        if self.config.momentum > 0.0 { vec!["mom"] } else { Vec::new() }
    }

    fn is_mixed(&self) -> bool {
        true
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let group = [*param];
            let op = match (has_masters(&group), self.config.momentum > 0.0) {
                (false, false) => "sgd_update",
                (false, true) => "_nag_mom_update",
                (true, false) => "mp_sgd_update",
                (true, true) => "mp_nag_mom_update",
            };
            let mut call = Call::of(op, &self.common).rates(&self.common, param.name);
            if self.config.momentum > 0.0 {
                call = call.with("momentum", self.config.momentum);
            }
            call.into(nd, &interleaved(&group), &[param.weight])?;
        }
        Ok(())
    }
}
