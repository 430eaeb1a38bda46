//! An eager tape: every call runs immediately on the reference kernel and is recorded, so that it can be
//! differentiated.
//!
//! Gradients are calls on the same tape, so they can also be differentiated.

use super::scope::CallScope;
use crate::AlignedBuffer;
use crate::conformance::Prepared;
use mxrs_op::{
    Attrs, Backend, GradValue, Gradient, InputNames, KernelArgs, OpCall, OpDef, OpParams, OpSet, RawTensor,
    ReferenceBackend, TensorDesc, elements,
};
use mxrs_sync::Team;
use mxrs_types::{DType, Error, PartialShape, Result, WriteReq};
use std::sync::Arc;

/// A tensor on the tape.
struct Value {
    desc: TensorDesc,
    data: AlignedBuffer,
}

/// A recorded call.
pub(super) struct Call {
    pub(super) op: Arc<OpDef>,
    pub(super) attrs: Attrs,
    pub(super) params: OpParams,
    pub(super) inputs: Vec<GradValue>,
    pub(super) outputs: Vec<GradValue>,
}

/// Values, and the calls that computed them, in order.
pub struct Tape<'a> {
    pub(super) ops: &'a OpSet,
    is_train: bool,
    values: Vec<Value>,
    pub(super) calls: Vec<Call>,
    sum: Arc<OpDef>,
}

/// The sum of two terms of one gradient, as an operator that exists only on this tape.
fn sum_of_two() -> OpDef {
    OpDef {
        inputs: InputNames::Fixed(&["lhs", "rhs"]),
        gradient: Gradient::By(|_, scope| {
            let gradient = scope.out_grad(0)?;
            Ok(vec![Some(gradient), Some(gradient)])
        }),
        reference: Some(|_, inputs, outputs, _| {
            let read = |i: usize| elements::read_f64(inputs[i].bytes, inputs[i].desc.dtype);
            let sum: Vec<f64> = read(0).into_iter().zip(read(1)).map(|(a, b)| a + b).collect();
            elements::write_f64(&sum, outputs[0].desc.dtype, outputs[0].bytes);
            Ok(())
        }),
        ..OpDef::new("(sum of two gradients)")
    }
}

impl<'a> Tape<'a> {
    /// An empty tape. Gradients call operators of `ops`.
    pub fn new(ops: &'a OpSet, is_train: bool) -> Self {
        Self { ops, is_train, values: Vec::new(), calls: Vec::new(), sum: Arc::new(sum_of_two()) }
    }

    /// Adds a tensor that was not computed by a call.
    ///
    /// # Errors
    /// Returns an error if `data` does not have the size of `desc`.
    pub fn leaf(&mut self, desc: TensorDesc, data: AlignedBuffer) -> Result<GradValue> {
        if data.len_bytes() != desc.size_bytes() {
            return Err(Error::invalid("bytes of a tensor", data.len_bytes(), desc.size_bytes().to_string()));
        }
        self.values.push(Value { desc, data });
        Ok(GradValue(self.values.len() as u32 - 1))
    }

    /// The shape and element type of a value.
    pub fn desc(&self, value: GradValue) -> &TensorDesc {
        &self.values[value.0 as usize].desc
    }

    /// The elements of a value.
    pub fn numbers(&self, value: GradValue) -> Vec<f64> {
        let Value { desc, data } = &self.values[value.0 as usize];
        data.to_f64(desc.dtype)
    }

    /// The bytes of a value.
    pub fn bytes(&self, value: GradValue) -> &[u8] {
        self.values[value.0 as usize].data.bytes()
    }

    /// The names of the operators called so far, in order.
    pub fn called(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.calls.iter().map(|call| call.op.name)
    }

    /// Runs `op` and returns all its outputs, including hidden ones. Inputs that it ignores have no memory; inputs that
    /// it rewrites have their new content afterwards. Every random call draws the same numbers.
    ///
    /// # Errors
    /// Returns the error of parsing, inference or the kernel.
    pub fn apply(&mut self, op: &Arc<OpDef>, attrs: Attrs, inputs: &[GradValue]) -> Result<Vec<GradValue>> {
        let params = op.parse(&attrs)?;
        if op.n_inputs(&params) != inputs.len() {
            let what = format!("number of inputs of {}", op.name);
            return Err(Error::invalid(what, inputs.len(), op.n_inputs(&params).to_string()));
        }
        let in_descs: Vec<TensorDesc> = inputs.iter().map(|v| self.desc(*v).clone()).collect();
        let mut out_descs = infer(op, &params, &in_descs)?;
        let n_outputs = out_descs.len();
        let rewrites = (op.rewrites)(&params, self.is_train);
        out_descs.extend(rewrites.iter().map(|i| in_descs[*i].clone()));
        let is_unread: Vec<bool> =
            (0..inputs.len()).map(|i| op.unread_inputs(self.is_train).any(|unread| unread == i)).collect();
        let mut results: Vec<AlignedBuffer> =
            out_descs.iter().map(|d| AlignedBuffer::poisoned(d.size_bytes())).collect();
        for (k, input) in rewrites.iter().enumerate() {
            results[n_outputs + k] = self.values[inputs[*input].0 as usize].data.clone();
        }
        let call = OpCall {
            op,
            params: &params,
            inputs: &in_descs,
            outputs: &out_descs,
            is_constant: &vec![false; inputs.len()],
            is_train: self.is_train,
        };
        let planned = ReferenceBackend.plan(&call)?;
        let memory = |i: usize| if is_unread[i] { &[] } else { self.bytes(inputs[i]) };
        let raw_inputs: Vec<RawTensor<'_>> = (0..inputs.len()).map(|i| RawTensor::from_slice(memory(i))).collect();
        let raw: Vec<RawTensor<'_>> = results.iter_mut().map(|b| RawTensor::from_mut_slice(b.bytes_mut())).collect();
        let args = KernelArgs {
            inputs: &raw_inputs,
            outputs: &raw,
            reqs: &vec![WriteReq::Write; raw.len()],
            scratch: RawTensor::from_slice(&[]),
            team: &Team::serial(),
            random: Some(Prepared::RANDOM),
            stream: None,
        };
        crate::run_kernel(&*planned.kernel, &args)?;
        for (input, new) in rewrites.iter().zip(results.split_off(n_outputs)) {
            self.values[inputs[*input].0 as usize].data = new;
        }
        let mut outputs = Vec::with_capacity(n_outputs);
        for (desc, data) in out_descs.into_iter().zip(results) {
            outputs.push(self.leaf(desc, data)?);
        }
        self.calls.push(Call { op: Arc::clone(op), attrs, params, inputs: inputs.to_vec(), outputs: outputs.clone() });
        Ok(outputs)
    }

    /// The gradients of `Σ head · weight` over the given pairs with respect to `wrt`; `None` for a value that no head
    /// depends on, whose gradient is zero. The calls of the gradients are recorded.
    ///
    /// # Errors
    /// Returns an error if an operator between the heads and `wrt` has no defined gradient; also fails as [`Self::apply`]
    /// does.
    pub fn gradients(&mut self, heads: &[(GradValue, GradValue)], wrt: &[GradValue]) -> Result<Vec<Option<GradValue>>> {
        let n_values = self.values.len();
        let n_calls = self.calls.len();
        // The values that depend on `wrt`.
        let mut is_needed = vec![false; n_values];
        wrt.iter().for_each(|v| is_needed[v.0 as usize] = true);
        for call in &self.calls {
            if call.inputs.iter().any(|v| is_needed[v.0 as usize]) {
                call.outputs.iter().for_each(|v| is_needed[v.0 as usize] = true);
            }
        }
        let mut gradients: Vec<Option<GradValue>> = vec![None; n_values];
        for (head, weight) in heads {
            self.add(&mut gradients, *head, *weight)?;
        }
        for index in (0..n_calls).rev() {
            let call = &self.calls[index];
            let out_grads: Vec<Option<GradValue>> = call.outputs.iter().map(|v| gradients[v.0 as usize]).collect();
            let wants: Vec<bool> = call.inputs.iter().map(|v| is_needed[v.0 as usize]).collect();
            if out_grads.iter().all(Option::is_none) || !wants.contains(&true) {
                continue;
            }
            let inputs = call.inputs.clone();
            let answers = self.differentiate(index, out_grads, wants.clone())?;
            for ((input, answer), is_wanted) in inputs.iter().zip(answers).zip(wants) {
                if let (Some(answer), true) = (answer, is_wanted) {
                    self.add(&mut gradients, *input, answer)?;
                }
            }
        }
        Ok(wrt.iter().map(|v| gradients[v.0 as usize]).collect())
    }

    /// Calls the gradient function of the operator of one call.
    ///
    /// # Errors
    /// Returns an error if the gradient is undefined, if its function fails, or if the function does not return one result
    /// per input.
    pub(super) fn differentiate(
        &mut self,
        call: usize,
        out_grads: Vec<Option<GradValue>>,
        wants: Vec<bool>,
    ) -> Result<Vec<Option<GradValue>>> {
        let (op, params) = (Arc::clone(&self.calls[call].op), self.calls[call].params.clone());
        let n_inputs = wants.len();
        let function = match op.gradient {
            Gradient::Zero => return Ok(vec![None; n_inputs]),
            Gradient::Undefined => return Err(Error::not_built(op.name, "the operator is not differentiable")),
            Gradient::By(function) => function,
        };
        let answers = function(&params, &mut CallScope { tape: self, call, out_grads, wants })?;
        if answers.len() != n_inputs {
            let what = format!("results of the gradient of {}", op.name);
            return Err(Error::invalid(what, answers.len(), n_inputs.to_string()));
        }
        Ok(answers)
    }

    fn add(&mut self, gradients: &mut [Option<GradValue>], to: GradValue, term: GradValue) -> Result<()> {
        let sum = match gradients[to.0 as usize] {
            None => term,
            Some(old) => {
                let op = Arc::clone(&self.sum);
                self.apply(&op, Attrs::new(), &[old, term])?[0]
            }
        };
        gradients[to.0 as usize] = Some(sum);
        Ok(())
    }
}

/// The descriptions of the outputs, from the operator's own inference.
fn infer(op: &OpDef, params: &OpParams, inputs: &[TensorDesc]) -> Result<Vec<TensorDesc>> {
    let n_outputs = op.n_outputs.get(params);
    let mut in_shapes: Vec<PartialShape> = inputs.iter().map(|d| PartialShape::from(&d.shape)).collect();
    let mut in_types: Vec<Option<DType>> = inputs.iter().map(|d| Some(d.dtype)).collect();
    let (mut out_shapes, mut out_types) = (vec![PartialShape::unknown(); n_outputs], vec![None; n_outputs]);
    op.infer_shapes(params, &mut in_shapes, &mut out_shapes)?;
    op.infer_dtypes(params, &mut in_types, &mut out_types)?;
    let describe = |(i, (shape, dtype)): (usize, (PartialShape, Option<DType>))| {
        let (shape, dtype) = shape.known().zip(dtype).ok_or_else(|| {
            Error::shape(op.name, format!("output {i}"), "a shape and dtype inferred from the inputs", &shape)
        })?;
        Ok(TensorDesc::dense(shape, dtype))
    };
    out_shapes.into_iter().zip(out_types).enumerate().map(describe).collect()
}
