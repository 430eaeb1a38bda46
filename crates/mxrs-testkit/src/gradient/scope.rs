//! The scope in which one recorded call is differentiated.

use super::Tape;
use crate::AlignedBuffer;
use mxrs_op::{Attrs, GradValue, GradientScope};
use mxrs_types::Result;
use std::sync::Arc;

/// One call of a tape, with the gradients of its outputs.
pub(super) struct CallScope<'t, 'a> {
    pub(super) tape: &'t mut Tape<'a>,
    pub(super) call: usize,
    pub(super) out_grads: Vec<Option<GradValue>>,
    pub(super) wants: Vec<bool>,
}

impl GradientScope for CallScope<'_, '_> {
    fn input(&mut self, index: usize) -> GradValue {
        self.tape.calls[self.call].inputs[index]
    }

    fn output(&mut self, index: usize) -> GradValue {
        self.tape.calls[self.call].outputs[index]
    }

    fn out_grad(&mut self, index: usize) -> Result<GradValue> {
        if let Some(gradient) = self.out_grads[index] {
            return Ok(gradient);
        }
        let output = self.output(index);
        let desc = self.tape.desc(output).clone();
        let zeros = AlignedBuffer::zeroed(desc.size_bytes());
        self.tape.leaf(desc, zeros)
    }

    fn has_out_grad(&self, index: usize) -> bool {
        self.out_grads[index].is_some()
    }

    fn wants(&self, input: usize) -> bool {
        self.wants[input]
    }

    fn attrs(&self) -> &Attrs {
        &self.tape.calls[self.call].attrs
    }

    fn n_inputs(&self) -> usize {
        self.wants.len()
    }

    fn call(&mut self, op: &str, attrs: Attrs, inputs: &[GradValue]) -> Result<Vec<GradValue>> {
        let op = Arc::clone(self.tape.ops.get(op)?);
        self.tape.apply(&op, attrs, inputs)
    }
}
