//! Stochastic gradient Langevin dynamics: `w += -lr / 2 · (clip(g) + wd · w) + sqrt(lr) · e` with normally distributed
//! random numbers `e`, which the device's random number generator draws. Patterson and Teh, NIPS 2013.

use super::{Rule, described, interleaved, optimizer};
use crate::call::Call;
use crate::{Optimizer, Param};
use mxrs_ndarray::Invoke;
use mxrs_types::Result;

optimizer! {
    /// MXNet's `SGLD`: gradient descent with noise, which samples from the posterior.
    pub struct Sgld["sgld", lr = 0.01, text None, Rule::new] {
    }
}

impl Optimizer for Rule<Sgld> {
    described!();

    fn slots(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let call = Call::of("_sgld_update", &self.common).rates(&self.common, param.name);
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
