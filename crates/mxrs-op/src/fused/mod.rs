//! Fused calls: several pointwise calls as one. This is the parameter type of the operator `_FusedOp`.
//!
//! All tensors of a fused call have the same shape. A kernel of a fused call runs the inner calls in order for one
//! block of elements after another (a block may be one element), so values between the calls need not go through
//! memory. A kernel may get the memory of any input for any output. It therefore has to read a block of elements of
//! *all* inputs before it writes this block of *any* output. Values between the calls are rounded to the element types
//! that inference finds for them, so that a fused call gives the same bits as its calls one by one on the same backend.

mod op;

pub use op::{FUSED_OP, fused_op};

use crate::param::Parameters;
use crate::{Attrs, OpDef, OpParams, ParamSpec, Pointwise};
use mxrs_types::{DType, Error, Result};
use std::fmt;
use std::sync::Arc;

/// A value inside a fused call.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum FusedValue {
    /// An input of the fused call.
    Input(u32),
    /// An output of an inner call: position of the call, position of the output.
    Call(u32, u32),
}

/// One inner call of a fused call.
#[derive(Clone)]
pub struct FusedCall {
    /// A [pointwise](Pointwise::Yes) operator.
    pub op: Arc<OpDef>,
    /// Parameters of the operator.
    pub params: OpParams,
    /// Inputs: inputs of the fused call or outputs of earlier inner calls.
    pub inputs: Vec<FusedValue>,
}

/// Parameters of `_FusedOp`: the inner calls, in an order in which each comes after the calls that make its inputs.
/// These parameters cannot be written as attributes; a graph pass makes them. [`Debug`](fmt::Debug) prints all of the
/// parameters, so equal texts mean equal parameters.
#[derive(Clone)]
pub struct Fused {
    /// Number of inputs of the fused call.
    pub n_inputs: usize,
    /// The inner calls.
    pub calls: Vec<FusedCall>,
    /// The values that are outputs of the fused call.
    pub outputs: Vec<FusedValue>,
}

impl Fused {
    /// Makes parameters. Checks that every call is pointwise and has the number of inputs that its operator needs, and that
    /// every value exists where a call or an output uses it.
    ///
    /// # Errors
    /// Returns [`InvalidValue`](mxrs_types::ErrorKind::InvalidValue) for the first check that fails.
    pub fn new(n_inputs: usize, calls: Vec<FusedCall>, outputs: Vec<FusedValue>) -> Result<Self> {
        let fused = Self { n_inputs, calls, outputs };
        for (at, call) in fused.calls.iter().enumerate() {
            if call.op.pointwise != Pointwise::Yes || call.op.n_aux > 0 {
                return Err(Error::invalid("fused call", call.op.name, "a pointwise operator"));
            }
            let n_inputs = call.op.n_inputs(&call.params);
            if call.inputs.len() != n_inputs {
                let what = format!("number of inputs of the fused call of {}", call.op.name);
                return Err(Error::invalid(what, call.inputs.len(), n_inputs.to_string()));
            }
            call.inputs.iter().try_for_each(|value| fused.check(*value, at))?;
        }
        fused.outputs.iter().try_for_each(|value| fused.check(*value, fused.calls.len()))?;
        Ok(fused)
    }

    /// Returns an error if a value does not exist after the first `n_calls` calls.
    fn check(&self, value: FusedValue, n_calls: usize) -> Result<()> {
        let is_there = match value {
            FusedValue::Input(input) => (input as usize) < self.n_inputs,
            FusedValue::Call(call, output) => {
                (call as usize) < n_calls && (output as usize) < self.calls[call as usize].n_outputs()
            }
        };
        if is_there {
            return Ok(());
        }
        let expected = format!("one of {} inputs or of the outputs of {n_calls} calls", self.n_inputs);
        Err(Error::invalid("value in a fused call", format!("{value:?}"), expected))
    }

    /// Element types of the outputs of every call, for inputs of these types.
    ///
    /// # Errors
    /// Returns an error if a call refuses its types, or if a type does not follow from those of the inputs.
    pub fn dtypes(&self, inputs: &[DType]) -> Result<Vec<Vec<DType>>> {
        let mut found: Vec<Vec<DType>> = Vec::with_capacity(self.calls.len());
        for call in &self.calls {
            let of = |value: &FusedValue| match *value {
                FusedValue::Input(input) => inputs.get(input as usize).copied(),
                FusedValue::Call(call, output) => found.get(call as usize)?.get(output as usize).copied(),
            };
            let mut ins: Vec<Option<DType>> = call.inputs.iter().map(of).collect();
            let mut outs = vec![None; call.n_outputs()];
            call.op.infer_dtypes(&call.params, &mut ins, &mut outs)?;
            let outs: Option<Vec<DType>> = outs.into_iter().collect();
            found.push(outs.ok_or_else(|| {
                Error::dtype(call.op.name, "output", "a type that follows from those of the inputs", "unknown")
            })?);
        }
        Ok(found)
    }
}

impl FusedCall {
    /// Number of outputs of the call, including hidden ones.
    pub fn n_outputs(&self) -> usize {
        self.op.n_outputs.get(&self.params)
    }
}

impl Parameters for Fused {
    const OP: &'static str = FUSED_OP;

    fn parse(_: &Attrs) -> Result<Self> {
        Err(Error::not_built(format!("{FUSED_OP} from text"), "fused calls are made while a graph is bound"))
    }

    fn specs() -> Vec<ParamSpec> {
        Vec::new()
    }
}

impl fmt::Debug for FusedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(input) => write!(f, "in{input}"),
            Self::Call(call, output) => write!(f, "%{call}.{output}"),
        }
    }
}

impl fmt::Debug for FusedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?} {:?}", self.op.name, self.inputs, self.params)
    }
}

impl fmt::Debug for Fused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fused({} inputs", self.n_inputs)?;
        for (at, call) in self.calls.iter().enumerate() {
            write!(f, "; %{at} = {call:?}")?;
        }
        write!(f, "; -> {:?})", self.outputs)
    }
}

#[cfg(test)]
mod tests;
