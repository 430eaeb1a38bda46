//! An optimizer for tests: `w += rescale_grad · grad`, and the state is a copy of the weight.

use super::described;
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `Test`.
#[derive(Clone, Debug)]
pub struct Test {
    common: Common,
}

impl Test {
    /// Reads nothing of its own.
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self { common: Common::read(settings, None)? })
    }
}

impl Optimizer for Test {
    described!("test",);

    fn slots(&self) -> Vec<&'static str> {
        vec!["copy"]
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let step = Call::new("_mul_scalar").with("scalar", self.common.rescale_grad).make(nd, &[param.grad])?;
            Call::new("elemwise_add").into(nd, &[param.weight, &step], &[param.weight])?;
            for copy in param.state.arrays() {
                copy.copy_from_array(param.weight)?;
            }
        }
        Ok(())
    }
}
