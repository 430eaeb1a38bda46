//! Calls of update operators: attributes, inputs, and the weight as output.

use crate::Common;
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::Result;

/// A call in the making.
#[derive(Debug)]
pub(crate) struct Call {
    op: &'static str,
    attrs: Attrs,
}

impl Call {
    /// Without attributes.
    pub fn new(op: &'static str) -> Self {
        Self { op, attrs: Attrs::new() }
    }

    /// With the gradient's factor and bound, where they are not the defaults.
    pub fn of(op: &'static str, common: &Common) -> Self {
        let mut call = Self::new(op).bounded(common);
        if common.rescale_grad != 1.0 {
            call = call.with("rescale_grad", common.rescale_grad);
        }
        call
    }

    /// With the gradient's bound, where there is one.
    pub fn bounded(self, common: &Common) -> Self {
        match common.clip() {
            Some(bound) => self.with("clip_gradient", bound),
            None => self,
        }
    }

    /// With learning rate and weight decay of a parameter.
    pub fn rates(self, common: &Common, name: &str) -> Self {
        self.with("lr", common.lr(name)).with("wd", common.wd(name))
    }

    /// With an attribute.
    pub fn with(mut self, key: &'static str, value: impl ToString) -> Self {
        self.attrs.set(key, value.to_string());
        self
    }

    /// With a list.
    pub fn list<T: ToString>(self, key: &'static str, values: impl IntoIterator<Item = T>) -> Self {
        let texts: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
        let comma = if texts.len() == 1 { "," } else { "" };
        self.with(key, format!("({}{comma})", texts.join(", ")))
    }

    /// Writes the results to these arrays.
    pub fn into(self, nd: &Imperative, inputs: &[&NdArray], outputs: &[&NdArray]) -> Result<()> {
        nd.invoke_into(self.op, &self.attrs, inputs, outputs)
    }

    /// Makes the only result.
    pub fn make(self, nd: &Imperative, inputs: &[&NdArray]) -> Result<NdArray> {
        let mut outputs = nd.invoke(self.op, &self.attrs, inputs)?;
        outputs.pop().ok_or_else(|| mxrs_types::Error::invalid(self.op, "a call without output", "one output"))
    }
}
