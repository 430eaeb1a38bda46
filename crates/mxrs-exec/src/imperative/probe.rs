//! Finds out which values a gradient function reads, without computing anything, so that the tape keeps only these.

use super::prepared::Parsed;
use mxrs_op::{Attrs, GradValue, Gradient, GradientScope, OpSet};
use mxrs_types::Result;

/// For each input and each output, whether a gradient reads its content. Of the other inputs and outputs a gradient reads
/// at most the shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reads {
    pub inputs: Vec<bool>,
    pub outputs: Vec<bool>,
}

/// The origin of a value that the gradient function has got from the probe.
#[derive(Clone, Copy)]
enum From {
    Input(usize),
    Output(usize),
    Other,
}

struct Probe<'a> {
    call: &'a Parsed,
    ops: &'a OpSet,
    wants: &'a [bool],
    has_out_grad: Vec<bool>,
    values: Vec<From>,
    reads: Reads,
}

/// The values that the gradient of the call reads. `wants` marks the inputs whose gradients are requested. The result
/// holds for any set of visible outputs that have gradients.
///
/// # Errors
/// Returns an error if the operator declares its gradient wrongly.
pub fn probe(call: &Parsed, wants: &[bool], ops: &OpSet) -> Result<Reads> {
    let n_outputs = call.op.n_outputs.get(&call.params);
    let n_visible = call.op.n_visible.get(&call.params).min(n_outputs);
    let reads = Reads { inputs: vec![false; wants.len()], outputs: vec![false; n_outputs] };
    let Gradient::By(gradient) = call.op.gradient else { return Ok(reads) };
    let mut probe = Probe { call, ops, wants, has_out_grad: Vec::new(), values: Vec::new(), reads };
    let visible = |i: usize| i < n_visible;
    let mut cases = vec![(0..n_outputs).map(visible).collect::<Vec<_>>()];
    if n_visible > 1 {
        cases.extend((0..n_visible).map(|only| (0..n_outputs).map(|i| i == only).collect()));
    }
    for case in cases {
        probe.has_out_grad = case;
        probe.values.clear();
        let answers = gradient(&call.params, &mut probe)?;
        for answer in answers.into_iter().zip(wants).filter_map(|(a, wanted)| a.filter(|_| *wanted)) {
            probe.note(answer);
        }
    }
    Ok(probe.reads)
}

impl Probe<'_> {
    fn keep(&mut self, from: From) -> GradValue {
        self.values.push(from);
        GradValue((self.values.len() - 1) as u32)
    }

    fn note(&mut self, value: GradValue) {
        match self.values.get(value.0 as usize) {
            Some(From::Input(i)) => self.reads.inputs[*i] = true,
            Some(From::Output(i)) => self.reads.outputs[*i] = true,
            _ => {}
        }
    }
}

impl GradientScope for Probe<'_> {
    fn input(&mut self, index: usize) -> GradValue {
        self.keep(if index < self.wants.len() { From::Input(index) } else { From::Other })
    }

    fn output(&mut self, index: usize) -> GradValue {
        self.keep(if index < self.has_out_grad.len() { From::Output(index) } else { From::Other })
    }

    fn out_grad(&mut self, _: usize) -> Result<GradValue> {
        Ok(self.keep(From::Other))
    }

    fn has_out_grad(&self, index: usize) -> bool {
        self.has_out_grad.get(index).copied().unwrap_or(false)
    }

    fn wants(&self, input: usize) -> bool {
        self.wants.get(input).copied().unwrap_or(false)
    }

    fn attrs(&self) -> &Attrs {
        &self.call.attrs
    }

    fn n_inputs(&self) -> usize {
        self.wants.len()
    }

    fn call(&mut self, op: &str, attrs: Attrs, inputs: &[GradValue]) -> Result<Vec<GradValue>> {
        let called = Parsed::new(self.ops, op, &attrs, inputs.len())?;
        for (position, value) in inputs.iter().enumerate() {
            if !called.op.ignored_inputs.contains(&position) {
                self.note(*value);
            }
        }
        Ok((0..called.op.n_outputs.get(&called.params)).map(|_| self.keep(From::Other)).collect())
    }
}
