//! Several pointwise calls as one: the parameters of the operator `_FusedOp`.
//!
//! All tensors of a fused call have one shape. Its kernels run the calls in order for element after element, or for one
//! run of elements after another, so values between the calls need not go through memory. A kernel may be given the
//! memory of any input for any output: it has to have read a run of elements of *all* inputs before it writes that run of
//! *any* output. Values between the calls are rounded to the element types that inference finds for them, so that a fused
//! call gives the bits that its calls give one by one on the same backend.

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
    /// Input of the fused call.
    Input(u32),
    /// Output of one of its calls: position of the call, position of the output.
    Call(u32, u32),
}

/// One of the calls.
#[derive(Clone)]
pub struct FusedCall {
    /// A [pointwise](Pointwise::Yes) operator.
    pub op: Arc<OpDef>,
    /// Its parameters.
    pub params: OpParams,
    /// Its inputs: inputs of the fused call and outputs of earlier calls.
    pub inputs: Vec<FusedValue>,
}

/// Parameters of `_FusedOp`: the calls, in an order in which each finds its inputs made. They have no text form; a graph
/// pass makes them. [`Debug`](fmt::Debug) tells everything there is, so texts are equal where the parameters are.
#[derive(Clone)]
pub struct Fused {
    /// Number of inputs of the fused call.
    pub n_inputs: usize,
    /// The calls.
    pub calls: Vec<FusedCall>,
    /// What its outputs are.
    pub outputs: Vec<FusedValue>,
}

impl Fused {
    /// Checks that every call is pointwise and has the inputs its operator asks for, and that all values exist where they
    /// are named.
    ///
    /// # Errors
    /// [`InvalidValue`](mxrs_types::ErrorKind::InvalidValue) that says what does not.
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

    /// Whether a value exists once the first `n_calls` calls are made.
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
    /// What a call refuses; a type that does not follow from the inputs.
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
    /// Number of its outputs, hidden ones included.
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
