//! Signum: `m = momentum · m - (1 - momentum) · (wd · w + clip(g))`, `w = (1 - lr · wd_lh) · w + lr · sign(m)`; without
//! momentum `w = (1 - lr · wd) · w - lr · sign(grad)`, which is signSGD. Bernstein et al., arXiv:1802.04434.

use super::{Rule, described, interleaved, optimizer};
use crate::call::Call;
use crate::{Optimizer, Param};
use mxrs_ndarray::Invoke;
use mxrs_types::Result;

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

impl Optimizer for Rule<Signum> {
    described!();

    fn slots(&self) -> Vec<&'static str> {
        if self.config.momentum > 0.0 { vec!["mom"] } else { Vec::new() }
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let mut call =
                Call::of(if self.config.momentum > 0.0 { "signum_update" } else { "signsgd_update" }, &self.common)
                    .rates(&self.common, param.name);
            if self.config.momentum > 0.0 {
                call = call.with("momentum", self.config.momentum).with("wd_lh", self.config.wd_lh);
            }
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
