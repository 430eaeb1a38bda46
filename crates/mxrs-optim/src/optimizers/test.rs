//! An optimizer for tests: `w += rescale_grad · grad`, and the state is a copy of the weight.

use super::{Rule, described, optimizer};
use crate::call::Call;
use crate::{Optimizer, Param};
use mxrs_ndarray::Invoke;
use mxrs_types::Result;

optimizer! {
    /// MXNet's `Test`, which adds the gradient.
    pub struct Test["test", lr = 0.01, text None, Rule::new] {
    }
}

impl Optimizer for Rule<Test> {
    described!();

    fn slots(&self) -> Vec<&'static str> {
        vec!["copy"]
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
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
