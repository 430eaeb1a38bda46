//! A sample that is prepared as a call: parsed parameters, inferred shapes and types, filled inputs, expected outputs.

use super::Case;
use crate::{AlignedBuffer, Seeded, fill_input};
use mxrs_op::{
    Backend, KernelArgs, OpCall, OpDef, OpParams, RandomCall, RawTensor, ReferenceBackend, Sample, SampleInput,
    TensorDesc,
};
use mxrs_sync::Team;
use mxrs_types::{DType, Error, PartialShape, Result, WriteReq};

/// A call with its inputs and the reference's outputs.
pub struct Prepared {
    /// Operator, sample and dtype.
    pub case: Case,
    /// Parsed parameters of the operator.
    pub params: OpParams,
    /// Row-major descriptions of the inputs.
    pub inputs: Vec<TensorDesc>,
    /// Row-major descriptions of all outputs, followed by those of the inputs that the call rewrites.
    pub outputs: Vec<TensorDesc>,
    /// The inputs that the call rewrites.
    pub rewrites: &'static [usize],
    /// The number of outputs that a user sees; the hidden ones after them are not compared.
    pub n_visible: usize,
    /// The content of the inputs.
    pub data: Vec<AlignedBuffer>,
    /// The content of all outputs according to the reference kernel.
    pub expected: Vec<AlignedBuffer>,
    /// Whether the call runs in training mode.
    pub is_train: bool,
}

impl Prepared {
    /// Identifies the random numbers of a call. They are the same for every backend.
    pub const RANDOM: RandomCall = RandomCall { seed: 1, number: 2 };

    /// Prepares one sample with one dtype.
    ///
    /// # Errors
    /// Returns the error of parsing, inference or the reference kernel, which is a mistake in the sample or the operator.
    pub fn new(op: &OpDef, sample: &Sample, dtype: DType) -> Result<Self> {
        let params = op.parse(&sample.attrs)?;
        let n_inputs = op.n_inputs(&params);
        if n_inputs != sample.inputs.len() {
            return Err(Error::invalid("inputs of the sample", sample.inputs.len(), n_inputs.to_string()));
        }
        let (inputs, mut outputs) = infer(op, &params, &sample.inputs, dtype)?;
        let rewrites = (op.rewrites)(&params, sample.is_train);
        outputs.extend(rewrites.iter().map(|i| inputs[*i].clone()));
        let mut seed = Seeded::from_text(sample.name);
        let data: Vec<AlignedBuffer> =
            sample.inputs.iter().zip(&inputs).map(|(i, d)| fill_input(i, d.dtype, &mut seed)).collect();
        let n_visible = op.n_visible.get(&params);
        let dtype = inputs.first().or(outputs.first()).map_or(dtype, |d| d.dtype);
        let mut prepared = Self {
            case: Case { op: op.name, sample: sample.name, dtype },
            params,
            inputs,
            outputs,
            rewrites,
            n_visible,
            data,
            expected: Vec::new(),
            is_train: sample.is_train,
        };
        prepared.expected = prepared.run_reference(op)?;
        Ok(prepared)
    }

    /// Indices of the outputs that are compared: the visible ones, and the rewritten inputs.
    pub fn compared(&self) -> impl Iterator<Item = usize> {
        let n = self.outputs.len();
        (0..self.n_visible).chain(n - self.rewrites.len()..n)
    }

    /// The call. `is_constant` has one element per input: whether that input is declared constant.
    pub fn call<'a>(&'a self, op: &'a OpDef, is_constant: &'a [bool]) -> OpCall<'a> {
        OpCall {
            op,
            params: &self.params,
            inputs: &self.inputs,
            outputs: &self.outputs,
            is_constant,
            is_train: self.is_train,
        }
    }

    fn run_reference(&self, op: &OpDef) -> Result<Vec<AlignedBuffer>> {
        let is_constant = vec![false; self.inputs.len()];
        let planned = ReferenceBackend.plan(&self.call(op, &is_constant))?;
        let mut outputs: Vec<AlignedBuffer> =
            self.outputs.iter().map(|d| AlignedBuffer::poisoned(d.size_bytes())).collect();
        let inputs: Vec<RawTensor<'_>> = self.data.iter().map(|b| RawTensor::from_slice(b.bytes())).collect();
        let raw: Vec<RawTensor<'_>> = outputs.iter_mut().map(|b| RawTensor::from_mut_slice(b.bytes_mut())).collect();
        let args = KernelArgs {
            inputs: &inputs,
            outputs: &raw,
            reqs: &vec![WriteReq::Write; raw.len()],
            scratch: RawTensor::from_slice(&[]),
            team: &Team::serial(),
            random: Some(Self::RANDOM),
            stream: None,
        };
        crate::run_kernel(&*planned.kernel, &args)?;
        Ok(outputs)
    }
}

/// Infers shapes and dtypes. The first input has `dtype`, unless the sample fixes another one. The dtypes of the others
/// follow from inference; inputs that inference leaves open get `dtype` too.
fn infer(
    op: &OpDef,
    params: &OpParams,
    inputs: &[SampleInput],
    dtype: DType,
) -> Result<(Vec<TensorDesc>, Vec<TensorDesc>)> {
    let n_outputs = op.n_outputs.get(params);
    let mut in_shapes: Vec<PartialShape> = inputs.iter().map(|i| PartialShape::from(&i.shape)).collect();
    let mut out_shapes = vec![PartialShape::unknown(); n_outputs];
    op.infer_shapes(params, &mut in_shapes, &mut out_shapes)?;
    let mut in_types: Vec<Option<DType>> =
        inputs.iter().enumerate().map(|(i, input)| input.dtype.or((i == 0).then_some(dtype))).collect();
    let mut out_types = vec![None; n_outputs];
    op.infer_dtypes(params, &mut in_types, &mut out_types)?;
    if in_types.contains(&None) {
        in_types.iter_mut().for_each(|t| *t = t.or(Some(dtype)));
        op.infer_dtypes(params, &mut in_types, &mut out_types)?;
    }
    let describe = |shapes: Vec<PartialShape>, types: Vec<Option<DType>>, what: &str| {
        shapes
            .into_iter()
            .zip(types)
            .enumerate()
            .map(|(i, (shape, dtype))| {
                let known = shape.known().zip(dtype);
                let (shape, dtype) = known.ok_or_else(|| {
                    Error::shape(op.name, format!("{what} {i}"), "a shape and dtype inferred from the inputs", &shape)
                })?;
                Ok(TensorDesc::dense(shape, dtype))
            })
            .collect::<Result<Vec<_>>>()
    };
    Ok((describe(in_shapes, in_types, "input")?, describe(out_shapes, out_types, "output")?))
}
