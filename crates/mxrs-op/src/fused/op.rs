//! The operator `_FusedOp`. Its inference and its reference kernel go through the inner calls in order.

use super::{Fused, FusedValue};
use crate::reference::AlignedBytes;
use crate::{
    Accuracy, InputNames, OpCall, OpDef, OpParams, OutputCount, Pointwise, RefInput, RefOutput, RunMode, TensorDesc,
};
use mxrs_types::{DType, Error, Result};

/// Name of the operator.
pub const FUSED_OP: &str = "_FusedOp";

/// Number of inputs, counted from the first, that may share memory with an output.
const SHARING_INPUTS: usize = 16;
const SHARING_OUTPUTS: usize = 8;

/// Pairs of an input and an output that may share memory: every input with every output. A pair is ignored if the call
/// does not have its input or its output.
static INPLACE: [(usize, usize); SHARING_INPUTS * SHARING_OUTPUTS] = pairs();

const fn pairs() -> [(usize, usize); SHARING_INPUTS * SHARING_OUTPUTS] {
    let mut pairs = [(0, 0); SHARING_INPUTS * SHARING_OUTPUTS];
    let mut at = 0;
    while at < pairs.len() {
        pairs[at] = (at / SHARING_OUTPUTS, at % SHARING_OUTPUTS);
        at += 1;
    }
    pairs
}

/// The operator `_FusedOp`: several pointwise calls in one, with the parameters [`Fused`]. The fusion pass makes calls
/// of this operator. The catalog does not list it, because symbol files cannot contain it.
pub fn fused_op() -> OpDef {
    OpDef {
        summary: "several pointwise calls in one",
        inputs: InputNames::Variable {
            prefix: "data",
            listed: "data",
            key: "num_args",
            count: |params| params.get::<Fused>().n_inputs,
        },
        n_outputs: OutputCount::ByParams(|params| params.get::<Fused>().outputs.len()),
        n_visible: OutputCount::ByParams(|params| params.get::<Fused>().outputs.len()),
        infer_dtype,
        dtypes: &DType::ALL,
        inplace: &INPLACE,
        pointwise: Pointwise::Yes,
        multiply_adds,
        accuracy: Accuracy::Elementwise,
        reference: Some(reference),
        ..OpDef::new(FUSED_OP).params::<Fused>()
    }
}

/// One multiply-add per element and inner call.
fn multiply_adds(call: &OpCall<'_>) -> u64 {
    let n_elements = call.inputs.iter().chain(call.outputs).map(|tensor| tensor.shape.n_elements()).max().unwrap_or(0);
    (call.params.get::<Fused>().calls.len() as u64).saturating_mul(n_elements as u64)
}

/// The types inside a fused call that inference knows so far.
struct Types<'a> {
    inputs: &'a mut [Option<DType>],
    calls: Vec<Vec<Option<DType>>>,
}

impl Types<'_> {
    fn at(&mut self, value: FusedValue) -> Result<&mut Option<DType>> {
        let place = match value {
            FusedValue::Input(input) => self.inputs.get_mut(input as usize),
            FusedValue::Call(call, output) => {
                self.calls.get_mut(call as usize).and_then(|outputs| outputs.get_mut(output as usize))
            }
        };
        place.ok_or_else(|| missing(value))
    }
}

fn missing(value: FusedValue) -> Error {
    Error::invalid("value in a fused call", format!("{value:?}"), "one that an input or an earlier call provides")
}

fn infer_dtype(params: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let fused = params.get::<Fused>();
    let calls = fused.calls.iter().map(|call| vec![None; call.n_outputs()]).collect();
    let mut types = Types { inputs, calls };
    for (value, given) in fused.outputs.iter().zip(outputs.iter()) {
        let known = types.at(*value)?;
        if let (Some(known), Some(given)) = (*known, *given)
            && known != given
        {
            return Err(Error::dtype(FUSED_OP, "outputs that are one value", known.name(), given.name()));
        }
        *known = known.or(*given);
    }
    // Every round of the loop but the last finds at least one unknown type, so the loop ends.
    loop {
        let mut has_learnt = false;
        for (at, call) in fused.calls.iter().enumerate() {
            let before: Vec<Option<DType>> =
                call.inputs.iter().map(|value| types.at(*value).copied()).collect::<Result<_>>()?;
            let (mut ins, mut outs) = (before.clone(), types.calls[at].clone());
            call.op.infer_dtypes(&call.params, &mut ins, &mut outs)?;
            has_learnt |= ins != before || outs != types.calls[at];
            for (value, found) in call.inputs.iter().zip(ins) {
                *types.at(*value)? = found;
            }
            types.calls[at] = outs;
        }
        if !has_learnt {
            break;
        }
    }
    for (value, output) in fused.outputs.iter().zip(outputs) {
        *output = *types.at(*value)?;
    }
    Ok(())
}

/// Runs the reference kernels of the calls, one after the other.
fn reference(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    let fused = params.get::<Fused>();
    let dtypes = fused.dtypes(&inputs.iter().map(|input| input.desc.dtype).collect::<Vec<_>>())?;
    let shape = match (inputs.first(), outputs.first()) {
        (Some(input), _) => input.desc.shape.clone(),
        (None, Some(output)) => output.desc.shape.clone(),
        (None, None) => return Ok(()),
    };
    let descs: Vec<Vec<TensorDesc>> =
        dtypes.iter().map(|call| call.iter().map(|dtype| TensorDesc::dense(shape.clone(), *dtype)).collect()).collect();
    let mut made: Vec<Vec<AlignedBytes>> = Vec::with_capacity(fused.calls.len());
    for (at, call) in fused.calls.iter().enumerate() {
        let kernel = call.op.reference.ok_or_else(|| {
            Error::not_built(call.op.name, "the operator is listed, but has no kernel in this version")
        })?;
        let mut results: Vec<AlignedBytes> =
            descs[at].iter().map(|desc| AlignedBytes::zeroed(desc.size_bytes())).collect();
        let ins: Vec<RefInput<'_>> =
            call.inputs.iter().map(|value| read(*value, inputs, &descs, &made)).collect::<Result<_>>()?;
        let mut outs: Vec<RefOutput<'_>> = descs[at]
            .iter()
            .zip(&mut results)
            .map(|(desc, bytes)| RefOutput { desc, bytes: bytes.bytes_mut() })
            .collect();
        kernel(&call.params, &ins, &mut outs, mode)?;
        made.push(results);
    }
    for (value, output) in fused.outputs.iter().zip(outputs) {
        output.bytes.copy_from_slice(read(*value, inputs, &descs, &made)?.bytes);
    }
    Ok(())
}

fn read<'a>(
    value: FusedValue,
    inputs: &[RefInput<'a>],
    descs: &'a [Vec<TensorDesc>],
    made: &'a [Vec<AlignedBytes>],
) -> Result<RefInput<'a>> {
    let found = match value {
        FusedValue::Input(input) => inputs.get(input as usize).copied(),
        FusedValue::Call(call, output) => {
            let (call, output) = (call as usize, output as usize);
            let bytes = made.get(call).and_then(|outputs| outputs.get(output));
            bytes.map(|bytes| RefInput { desc: &descs[call][output], bytes: bytes.bytes() })
        }
    };
    found.ok_or_else(|| missing(value))
}
