//! Nesterov's accelerated gradient: `m' = momentum · m - lr · (clip(g) + wd · w)`,
//! `w' = w + (1 + momentum) · m' - momentum · m`; without momentum, the rule is that of SGD. But the `m` that is stored is
//! `momentum · m - lr · (clip(g) + wd · w')`, because MXNet's kernels compute it from the weight that they have just
//! written.

use super::{PerWeight, Rule, optimizer};
use crate::Param;
use crate::call::Call;

optimizer! {
    /// MXNet's `NAG`: Nesterov's accelerated gradient.
    pub struct Nag["nag", lr = 0.01, text None, Rule::new] {
        /// Momentum: the share of the last step that is added to the next one. Default: 0.
        momentum: f64 = 0.0, NotNegative;
    }
}

impl PerWeight for Rule<Nag> {
    fn slots(&self) -> Vec<&'static str> {
        if self.config.momentum > 0.0 { vec!["mom"] } else { Vec::new() }
    }

    fn is_mixed(&self) -> bool {
        true
    }

    fn call(&self, param: &Param<'_>, _: u64) -> Call {
        let momentum = (self.config.momentum > 0.0).then_some(self.config.momentum);
        let op = match (param.state.master.is_some(), momentum.is_some()) {
            (false, false) => "sgd_update",
            (false, true) => "_nag_mom_update",
            (true, false) => "mp_sgd_update",
            (true, true) => "mp_nag_mom_update",
        };
        Call::of(op, &self.common).rates(&self.common, param.name).with_some("momentum", momentum)
    }
}
