//! Implements `Invoke`, by which optimizers call operators, for `Imperative`. The trait belongs to the array crate, so that
//! optimizers do not depend on the executor.

use super::{Imperative, autograd};
use mxrs_ndarray::{ArrayContext, Invoke, NdArray};
use mxrs_op::Attrs;
use mxrs_types::Result;

fn attributes(attrs: &[(&'static str, String)]) -> Attrs {
    attrs.iter().map(|(key, text)| (*key, text.as_str())).collect()
}

impl Invoke for Imperative {
    fn context(&self) -> &ArrayContext {
        self.context()
    }

    fn invoke(&self, op: &str, attrs: &[(&'static str, String)], inputs: &[&NdArray]) -> Result<Vec<NdArray>> {
        let _unrecorded = autograd::pause();
        self.invoke(op, &attributes(attrs), inputs)
    }

    fn invoke_into(
        &self,
        op: &str,
        attrs: &[(&'static str, String)],
        inputs: &[&NdArray],
        outputs: &[&NdArray],
    ) -> Result<()> {
        let _unrecorded = autograd::pause();
        self.invoke_into(op, &attributes(attrs), inputs, outputs)
    }

    fn n_aggregated(&self) -> usize {
        self.options().optimizer_aggregation
    }
}
