//! Signum: `m = momentum · m - (1 - momentum) · (wd · w + clip(g))`, `w = (1 - lr · wd_lh) · w + lr · sign(m)`; without
//! momentum `w = (1 - lr · wd) · w - lr · sign(grad)`, which is signSGD. Bernstein et al., arXiv:1802.04434.

use super::{PerWeight, Rule, optimizer};
use crate::Param;
use crate::call::Call;

optimizer! {
    /// MXNet's `Signum`: steps by the sign of the momentum.
    pub struct Signum["signum", lr = 0.01, text Some(0.01), Rule::new] {
        /// Decay rate of the momentum: the share of its old value in the new one. Default: 0.9. With 0, the optimizer
        /// is signSGD.
        momentum: f64 = 0.9, NotNegative;
        /// Weight decay that is applied to the weight directly, without the momentum. Default: 0.
        wd_lh: f64 = 0.0, NotNegative;
    }
}

impl PerWeight for Rule<Signum> {
    fn slots(&self) -> Vec<&'static str> {
        if self.config.momentum > 0.0 { vec!["mom"] } else { Vec::new() }
    }

    fn call(&self, param: &Param<'_>, _: u64) -> Call {
        let has_momentum = self.config.momentum > 0.0;
        Call::of(if has_momentum { "signum_update" } else { "signsgd_update" }, &self.common)
            .rates(&self.common, param.name)
            .with_some("momentum", has_momentum.then_some(self.config.momentum))
            .with_some("wd_lh", has_momentum.then_some(self.config.wd_lh))
    }
}
