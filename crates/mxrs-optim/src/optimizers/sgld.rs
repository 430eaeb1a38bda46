//! Stochastic gradient Langevin dynamics: `w += -lr / 2 · (clip(g) + wd · w) + sqrt(lr) · e` with normally distributed
//! random numbers `e`, which the device's random number generator draws. Patterson and Teh, NIPS 2013.

use super::{PerWeight, Rule, optimizer};
use crate::Param;
use crate::call::Call;

optimizer! {
    /// MXNet's `SGLD`: gradient descent with noise, which samples from the posterior.
    pub struct Sgld["sgld", lr = 0.01, text None, Rule::new] {
    }
}

impl PerWeight for Rule<Sgld> {
    fn slots(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn call(&self, param: &Param<'_>, _: u64) -> Call {
        Call::of("_sgld_update", &self.common).rates(&self.common, param.name)
    }
}
