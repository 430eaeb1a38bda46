//! Calls that write to existing arrays, which may be inputs too.

use super::flags;
use super::invoke::{Imperative, device_of, is_aligned, is_tracked};
use super::prepared::Prepared;
use super::signature::{Mode, Operand, Query};
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_trace::api_call;
use mxrs_types::{Error, Result, ResultExt};
use std::panic::Location;

impl Imperative {
    /// Like [`Self::invoke`], but writes the visible outputs to these arrays, one each. An output may share memory with an
    /// input: if the kernel cannot run in place, the result is computed in new memory and copied.
    ///
    /// # Errors
    /// Returns the errors of [`Self::invoke`], or an error if the number, a shape or a type of the outputs is wrong; while
    /// recording, also if an output is tracked.
    #[track_caller]
    pub fn invoke_into(&self, op: &str, attrs: &Attrs, inputs: &[&NdArray], outputs: &[&NdArray]) -> Result<()> {
        let _call = api_call("Imperative::invoke_into");
        let site = Location::caller();
        let hinted = self.with_output_hints(op, attrs, inputs, outputs)?;
        let attrs = hinted.as_ref().unwrap_or(attrs);
        let operands: Vec<Operand<'_>> = inputs.iter().map(|array| Operand::Array(array)).collect();
        let resolved = self.resolve(op, attrs, &operands)?;
        let (op, attrs) = resolved.as_ref().map_or((op, attrs), |call| (call.op, &call.attrs));
        let is_recorded = flags::is_recording() && inputs.iter().any(|a| is_tracked(a));
        let mode = Mode { is_train: flags::is_training(), with_hidden: is_recorded };
        let to = outputs.first().map(|output| output.device());
        let device = device_of(op, &operands)?.or(to).unwrap_or(self.options().device);
        let query = Query { op, attrs, inputs: &operands, device, mode, inplace: &[] };
        let prepared = self.prepared(&query)?;
        check_outputs(&prepared, outputs)?;
        for output in outputs {
            output.note_write().context(|| format!("calling `{op}` into an array"))?;
        }
        let mut inplace = Vec::new();
        let mut targets: Vec<NdArray> = Vec::with_capacity(prepared.outputs.len());
        for (o, output) in outputs.iter().enumerate() {
            let overlaps = inputs.iter().any(|i| i.shares_storage(output))
                || outputs.iter().enumerate().any(|(p, other)| p != o && other.shares_storage(output));
            if !overlaps && is_aligned(output) {
                targets.push(output.detach());
            } else if let Some(pair) = exact_alias(&prepared, inputs, outputs, o) {
                inplace.push(pair);
                targets.push(output.detach());
            } else {
                targets.push(self.like(output)?);
            }
        }
        for (shape, dtype) in &prepared.outputs[outputs.len()..] {
            targets.push(NdArray::empty(self.context(), shape.clone(), *dtype, device, prepared.call.op.name)?);
        }
        let chosen = if inplace.is_empty() { prepared } else { self.prepared(&Query { inplace: &inplace, ..query })? };
        self.push(&chosen, &operands, &targets, None, site)?;
        for (target, output) in targets.iter().zip(outputs) {
            if !target.shares_storage(output) {
                output.detach().copy_from_array(target)?;
            }
        }
        if is_recorded {
            let tail = targets.split_off(outputs.len());
            let made: Vec<NdArray> = outputs.iter().map(|o| (*o).clone()).chain(tail).collect();
            self.record(&chosen, &operands, &made, site)?;
        }
        Ok(())
    }

    /// For an operator without inputs, such as one that draws random numbers: the attributes, with the shape and type of the
    /// first output as `shape` and `dtype` if the operator has these parameters and the caller did not set them. `None` if
    /// nothing is added.
    fn with_output_hints(
        &self,
        op: &str,
        attrs: &Attrs,
        inputs: &[&NdArray],
        outputs: &[&NdArray],
    ) -> Result<Option<Attrs>> {
        let (true, Some(output)) = (inputs.is_empty(), outputs.first()) else { return Ok(None) };
        let op = self.options().ops.get(op)?;
        let lacks = |name: &str| {
            let is_given = attrs.get(name).is_some_and(|text| !matches!(text.trim(), "None" | "()" | "[]"));
            !is_given && op.param_specs.iter().any(|param| param.name == name)
        };
        if !lacks("shape") {
            return Ok(None);
        }
        let mut attrs = attrs.clone();
        let sizes: Vec<String> = output.shape().iter().map(|size| format!("{size},")).collect();
        attrs.set("shape", format!("({})", sizes.concat()));
        if lacks("dtype") {
            attrs.set("dtype", output.dtype().name());
        }
        Ok(Some(attrs))
    }

    fn like(&self, array: &NdArray) -> Result<NdArray> {
        NdArray::empty(self.context(), array.shape().clone(), array.dtype(), array.device(), "result of a call")
    }
}

fn check_outputs(prepared: &Prepared, outputs: &[&NdArray]) -> Result<()> {
    let op = &prepared.call.op;
    if outputs.len() != prepared.n_visible {
        let expected = prepared.n_visible.to_string();
        return Err(Error::invalid(format!("{}: number of outputs", op.name), outputs.len(), expected));
    }
    for (index, (output, (shape, dtype))) in outputs.iter().zip(&prepared.outputs).enumerate() {
        let name = op.output_names.get(index).copied().unwrap_or("output");
        if output.shape() != shape {
            return Err(Error::shape(op.name, name, shape.to_string(), output.shape()));
        }
        if output.dtype() != *dtype {
            return Err(Error::dtype(op.name, name, dtype.name(), output.dtype().name()));
        }
        let (is, device) = (output.device(), prepared.planned.program.device);
        if is != device && !(is.is_host() && device.is_host()) {
            let expected = format!("{device}, where the inputs are");
            return Err(Error::invalid(format!("{}: device of output `{name}`", op.name), is, expected));
        }
    }
    Ok(())
}

/// The pair (input, `o`) if an input is the same memory as output `o`. `None` if there is no such input, if the kernel
/// cannot run in place, or if another input or output shares this memory.
fn exact_alias(prepared: &Prepared, inputs: &[&NdArray], outputs: &[&NdArray], o: usize) -> Option<(usize, usize)> {
    let output = outputs[o];
    let is_same =
        |a: &NdArray| a.as_ptr() == output.as_ptr() && a.shape() == output.shape() && a.dtype() == output.dtype();
    let (input, _) = inputs.iter().enumerate().find(|(i, a)| is_same(a) && prepared.can_inplace.contains(&(*i, o)))?;
    let alone = inputs.iter().enumerate().all(|(i, a)| i == input || !a.shares_storage(output))
        && outputs.iter().enumerate().all(|(p, a)| p == o || !a.shares_storage(output));
    (alone && is_aligned(output)).then_some((input, o))
}
