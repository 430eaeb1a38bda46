//! Calls of operators whose output shapes depend on the values of an input.

use super::invoke::Imperative;
use super::prepared::Parsed;
use super::signature::Operand;
use crate::choose::expect_dtype;
use mxrs_op::{Attrs, RefInput, ResolvedCall, TensorDesc};
use mxrs_types::{Error, PartialShape, Result, ResultExt};

impl Imperative {
    /// The call that takes the place of this one, if the output shapes of the operator depend on the values of an input;
    /// otherwise `None`. Waits until the values are computed.
    ///
    /// # Errors
    /// Returns an error if the operator refuses the attributes, or the number, shapes, types or values of the inputs. Returns
    /// the deferred error of the task that should have computed the values.
    pub(super) fn resolve(&self, op: &str, attrs: &Attrs, inputs: &[Operand<'_>]) -> Result<Option<ResolvedCall>> {
        let ops = &self.options().ops;
        let Some(by_values) = ops.find(op).and_then(|op| op.by_values) else { return Ok(None) };
        let resolved = || -> Result<ResolvedCall> {
            let call = Parsed::new(ops, op, attrs, inputs.len())?;
            check(&call, inputs)?;
            let descs: Vec<TensorDesc> =
                inputs.iter().map(|input| TensorDesc::dense(input.shape().clone(), input.dtype())).collect();
            let params = call.params.clone();
            let resolve = move |read: &[u8]| {
                let bytes = |at: usize| if at == by_values.input { read } else { &[] };
                let inputs: Vec<RefInput<'_>> =
                    descs.iter().enumerate().map(|(at, desc)| RefInput { desc, bytes: bytes(at) }).collect();
                (by_values.resolve)(&params, &inputs)
            };
            let Some(input) = inputs.get(by_values.input) else { return resolve(&[]) };
            let Some(array) = input.array() else {
                let what = format!("{}: input {}", call.op.name, by_values.input);
                return Err(Error::invalid(what, "a tensor whose content was not kept", "an array"));
            };
            array.read_bytes(resolve)?
        };
        resolved().map(Some).context(|| format!("calling `{op}`"))
    }
}

/// Checks the shapes and types of a call.
fn check(call: &Parsed, inputs: &[Operand<'_>]) -> Result<()> {
    let n_outputs = call.op.n_outputs.get(&call.params);
    let mut shapes: Vec<PartialShape> = inputs.iter().map(|input| PartialShape::from(input.shape())).collect();
    call.op.infer_shapes(&call.params, &mut shapes, &mut vec![PartialShape::unknown(); n_outputs])?;
    let mut dtypes: Vec<_> = inputs.iter().map(|input| Some(input.dtype())).collect();
    call.op.infer_dtypes(&call.params, &mut dtypes, &mut vec![None; n_outputs])?;
    inputs.first().map_or(Ok(()), |first| expect_dtype(&call.op, &call.params, first.dtype()))
}
