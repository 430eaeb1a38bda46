//! A sample as a function that maps inputs and head gradients to outputs and gradients.

use super::{Numbers, Options, Tape};
use crate::conformance::Prepared;
use crate::{AlignedBuffer, Seeded};
use mxrs_op::{Attrs, GradValue, OpDef, OpSet, Sample, TensorDesc};
use mxrs_types::DType;
use std::sync::Arc;

/// A sample, with the properties that the checks need.
pub(super) struct Subject<'a> {
    ops: &'a OpSet,
    op: &'a Arc<OpDef>,
    attrs: Attrs,
    options: &'a Options,
    prepared: Prepared,
}

/// One forward run, with its differentiable values.
pub(super) struct Forward<'a> {
    pub(super) tape: Tape<'a>,
    pub(super) inputs: Vec<GradValue>,
    /// Visible outputs.
    pub(super) outputs: Vec<GradValue>,
    pub(super) heads: Vec<GradValue>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(
        ops: &'a OpSet,
        op: &'a Arc<OpDef>,
        sample: &Sample,
        dtype: DType,
        options: &'a Options,
    ) -> Result<Self, String> {
        let prepared = Prepared::new(op, sample, dtype).map_err(|e| format!("the forward call does not run: {e}"))?;
        Ok(Self { ops, op, attrs: sample.attrs.clone(), options, prepared })
    }

    pub(super) fn options(&self) -> &Options {
        self.options
    }

    pub(super) fn data(&self) -> &[AlignedBuffer] {
        &self.prepared.data
    }

    pub(super) fn inputs(&self) -> &[TensorDesc] {
        &self.prepared.inputs
    }

    /// Descriptions of the visible outputs.
    pub(super) fn outputs(&self) -> &[TensorDesc] {
        &self.prepared.outputs[..self.prepared.n_visible]
    }

    /// For each input, whether its gradient is defined: the input is a float, is not an auxiliary state, and has no stopped
    /// gradient.
    pub(super) fn is_differentiated(&self) -> Vec<bool> {
        let n_plain = self.inputs().len() - self.op.n_aux;
        let is_stopped = |i: usize| i >= n_plain || self.options.stopped.contains(&i);
        self.inputs().iter().enumerate().map(|(i, d)| d.dtype.is_float() && !is_stopped(i)).collect()
    }

    /// Whether central differences are meaningful: all relevant values are `f64` and finite.
    pub(super) fn is_smooth(&self) -> bool {
        let is_f64 = |d: &TensorDesc| d.dtype == DType::F64;
        let is_finite = |(data, desc): (&AlignedBuffer, &TensorDesc)| {
            !desc.dtype.is_float() || data.to_f64(desc.dtype).iter().all(|v| v.is_finite())
        };
        let differentiated = self.inputs().iter().zip(self.is_differentiated());
        differentiated.filter(|(_, is)| *is).all(|(d, _)| is_f64(d))
            && self.outputs().iter().all(is_f64)
            && self.data().iter().zip(self.inputs()).all(is_finite)
            && self.prepared.expected.iter().zip(self.outputs()).all(is_finite)
    }

    /// Head gradients that are not close to zero; a different set for each `which`.
    pub(super) fn heads(&self, which: u64) -> Vec<AlignedBuffer> {
        self.outputs().iter().map(|d| self.weights(d, which)).collect()
    }

    /// Numbers of either sign between 0.5 and 1.5.
    pub(super) fn weights(&self, desc: &TensorDesc, which: u64) -> AlignedBuffer {
        let mut seed = Seeded::from_text(&format!("heads {which} of {}", self.prepared.case.sample));
        let one = |_| if seed.next_u64() & 1 == 0 { seed.uniform(0.5, 1.5) } else { -seed.uniform(0.5, 1.5) };
        let values: Vec<f64> = (0..desc.shape.n_elements()).map(one).collect();
        AlignedBuffer::from_f64(&values, desc.dtype)
    }

    /// Runs the call on a new tape.
    pub(super) fn forward(&self, data: &[AlignedBuffer], heads: &[AlignedBuffer]) -> Result<Forward<'a>, String> {
        let mut tape = Tape::new(self.ops, self.prepared.is_train);
        let mut leaf = |(data, desc): (&AlignedBuffer, &TensorDesc)| {
            tape.leaf(desc.clone(), data.clone()).map_err(|e| e.to_string())
        };
        let inputs = data.iter().zip(self.inputs()).map(&mut leaf).collect::<Result<Vec<_>, _>>()?;
        let heads = heads.iter().zip(self.outputs()).map(&mut leaf).collect::<Result<Vec<_>, _>>()?;
        let outputs = tape.apply(self.op, self.attrs.clone(), &inputs).map_err(|e| format!("forward: {e}"))?;
        let outputs = outputs[..self.prepared.n_visible].to_vec();
        Ok(Forward { tape, inputs, outputs, heads })
    }

    /// Runs the call and computes the loss from its inputs and outputs.
    pub(super) fn loss(&self, loss: super::LossFn, data: &[AlignedBuffer]) -> Result<f64, String> {
        let forward = self.forward(data, &[])?;
        let numbers = |values: &[GradValue]| -> Vec<Numbers> {
            let tape = &forward.tape;
            values.iter().map(|v| Numbers { shape: tape.desc(*v).shape.clone(), values: tape.numbers(*v) }).collect()
        };
        Ok(loss(&self.prepared.params, &numbers(&forward.inputs), &numbers(&forward.outputs)))
    }
}

impl Forward<'_> {
    /// The gradients of the inputs marked in `wants`, as values of the tape.
    pub(super) fn gradients(&mut self, wants: &[bool]) -> Result<Vec<Option<GradValue>>, String> {
        let pairs: Vec<(GradValue, GradValue)> = self.outputs.iter().copied().zip(self.heads.iter().copied()).collect();
        let wrt: Vec<GradValue> = self.inputs.iter().zip(wants).filter(|(_, w)| **w).map(|(v, _)| *v).collect();
        let found = self.tape.gradients(&pairs, &wrt).map_err(|e| format!("gradient: {e}"))?;
        let mut found = found.into_iter();
        let all: Vec<Option<GradValue>> =
            wants.iter().map(|w| if *w { found.next().flatten() } else { None }).collect();
        for (i, gradient) in all.iter().enumerate() {
            let Some(gradient) = gradient else { continue };
            let (got, expected) = (self.tape.desc(*gradient), self.tape.desc(self.inputs[i]));
            if got != expected {
                return Err(format!("the gradient of input {i} is {got}, the input {expected}"));
            }
        }
        Ok(all)
    }

    /// The numbers of a gradient; zeros if there is none.
    pub(super) fn numbers(&self, input: usize, gradient: Option<GradValue>) -> Vec<f64> {
        let zeros = || vec![0.0; self.tape.desc(self.inputs[input]).shape.n_elements()];
        gradient.map_or_else(zeros, |v| self.tape.numbers(v))
    }
}
