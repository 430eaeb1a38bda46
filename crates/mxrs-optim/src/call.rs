//! Calls of update operators: attributes, inputs, and the weight as output.

use crate::Common;
use mxrs_ndarray::{Invoke, NdArray};
use mxrs_types::Result;

/// A call of an update operator under construction.
#[derive(Debug)]
pub(crate) struct Call {
    op: &'static str,
    attrs: Vec<(&'static str, String)>,
}

impl Call {
    /// Makes a call without attributes.
    pub fn new(op: &'static str) -> Self {
        Self { op, attrs: Vec::new() }
    }

    /// Makes a call with the attributes `rescale_grad` and `clip_gradient`, unless they have their default values.
    pub fn of(op: &'static str, common: &Common) -> Self {
        let mut call = Self::new(op).bounded(common);
        if common.rescale_grad != 1.0 {
            call = call.with("rescale_grad", common.rescale_grad);
        }
        call
    }

    /// Sets `clip_gradient`, the bound of the gradient's elements, if there is a bound.
    pub fn bounded(self, common: &Common) -> Self {
        self.with_some("clip_gradient", common.clip())
    }

    /// Sets the attributes `lr` and `wd`, the learning rate and the weight decay of the parameter `name`.
    pub fn rates(self, common: &Common, name: &str) -> Self {
        self.with("lr", common.lr(name)).with("wd", common.wd(name))
    }

    /// Sets an attribute.
    pub fn with(mut self, key: &'static str, value: impl ToString) -> Self {
        self.attrs.push((key, value.to_string()));
        self
    }

    /// Sets an attribute if there is a value.
    pub fn with_some(self, key: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Sets an attribute to a list of values.
    pub fn list<T: ToString>(self, key: &'static str, values: impl IntoIterator<Item = T>) -> Self {
        let texts: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
        let comma = if texts.len() == 1 { "," } else { "" };
        self.with(key, format!("({}{comma})", texts.join(", ")))
    }

    /// Runs the call, and writes the results to `outputs`.
    pub fn into(self, nd: &dyn Invoke, inputs: &[&NdArray], outputs: &[&NdArray]) -> Result<()> {
        nd.invoke_into(self.op, &self.attrs, inputs, outputs)
    }

    /// Runs the call, and returns its only result.
    pub fn make(self, nd: &dyn Invoke, inputs: &[&NdArray]) -> Result<NdArray> {
        let mut outputs = nd.invoke(self.op, &self.attrs, inputs)?;
        outputs.pop().ok_or_else(|| mxrs_types::Error::invalid(self.op, "a call without output", "one output"))
    }
}
