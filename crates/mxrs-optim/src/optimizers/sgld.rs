//! Stochastic gradient Langevin dynamics: `w += -lr / 2 · (clip(g) + wd · w) + sqrt(lr) · e` with normal numbers e, from
//! the random numbers of the device. Patterson and Teh, NIPS 2013.

use super::{described, interleaved};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `SGLD`.
#[derive(Clone, Debug)]
pub struct Sgld {
    common: Common,
}

impl Sgld {
    /// Reads nothing of its own.
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self { common: Common::read(settings, None)? })
    }
}

impl Optimizer for Sgld {
    described!("sgld",);

    fn slots(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let call = Call::of("_sgld_update", &self.common).rates(&self.common, param.name);
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
