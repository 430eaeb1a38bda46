//! Computes the gradient of one recorded call by running the operators that its gradient function calls.

use super::signature::Operand;
use super::tape::{Entry, History, Node};
use super::{Imperative, prepared::Parsed};
use mxrs_ndarray::NdArray;
use mxrs_op::{Attrs, GradValue, GradientFn, GradientScope};
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// The tensor that a [`GradValue`] stands for.
enum Value {
    Input(usize),
    Output(usize),
    Array(NdArray),
    /// An input or output that the call does not have.
    Nothing,
}

/// A recorded call that is being differentiated.
pub struct Scope<'a> {
    pub imperative: &'a Imperative,
    pub node: &'a Arc<Node>,
    pub history: &'a History,
    pub call: &'a Parsed,
    pub wants: &'a [bool],
    pub out_grads: Vec<Option<NdArray>>,
    /// Whether the gradient's own calls are recorded.
    pub create: bool,
    values: Vec<Value>,
}

/// An operand that owns its array, or the description of a tensor whose content was not kept.
enum Held<'a> {
    Array(NdArray),
    Shape(&'a super::tape::Desc),
}

impl<'a> Scope<'a> {
    pub fn new(
        imperative: &'a Imperative,
        (node, history, call): (&'a Arc<Node>, &'a History, &'a Parsed),
        wants: &'a [bool],
        out_grads: Vec<Option<NdArray>>,
        create: bool,
    ) -> Self {
        Self { imperative, node, history, call, wants, out_grads, create, values: Vec::new() }
    }

    /// Runs the gradient function and returns one gradient per input.
    ///
    /// # Errors
    /// Returns an error if an operator fails, a saved value was overwritten, or the gradient is declared wrongly.
    pub fn run(mut self, gradient: GradientFn) -> Result<Vec<Option<NdArray>>> {
        let answers = gradient(&self.call.params, &mut self)?;
        if answers.len() != self.wants.len() {
            let what = format!("{}: number of gradients", self.call.op.name);
            return Err(Error::invalid(what, answers.len(), format!("one per input, {}", self.wants.len())));
        }
        let mut gradients = Vec::with_capacity(answers.len());
        for (answer, wanted) in answers.into_iter().zip(self.wants) {
            let held = answer.filter(|_| *wanted).map(|value| self.resolve(value)).transpose()?;
            gradients.push(match held {
                None => None,
                Some(Held::Array(array)) => Some(array),
                Some(Held::Shape(_)) => return Err(self.not_kept()),
            });
        }
        Ok(gradients)
    }

    fn not_kept(&self) -> Error {
        Error::invalid(
            format!("{}: gradient of the operator", self.call.op.name),
            "a tensor of which only the shape was kept",
            "one it reads in every case it is asked for",
        )
    }

    fn keep(&mut self, value: Value) -> GradValue {
        self.values.push(value);
        GradValue((self.values.len() - 1) as u32)
    }

    fn resolve(&self, value: GradValue) -> Result<Held<'a>> {
        let is_checked = self.imperative.checks_versions();
        let tracked = |array: &NdArray, entry: Option<Entry>| match entry.filter(|_| self.create) {
            Some(entry) => entry.on(array),
            None => array.clone(),
        };
        match self.values.get(value.0 as usize) {
            Some(Value::Array(array)) => Ok(Held::Array(array.clone())),
            Some(Value::Input(i)) => {
                let link = &self.history.inputs[*i];
                let Some(saved) = &link.saved else { return Ok(Held::Shape(&link.desc)) };
                let name = || {
                    let names = self.call.op.input_names(&self.call.params);
                    format!("input `{}`", names.get(*i).map_or("?", String::as_str))
                };
                Ok(Held::Array(tracked(saved.get(self.node, is_checked, name)?, link.from.clone())))
            }
            Some(Value::Output(i)) => {
                let Some(saved) = self.history.outputs.get(*i).and_then(Option::as_ref) else {
                    return self.node.outputs.get(*i).map(Held::Shape).ok_or_else(|| self.not_kept());
                };
                let array = saved.get(self.node, is_checked, || format!("output {i}"))?;
                Ok(Held::Array(tracked(array, Some(Entry { node: self.node.clone(), index: *i }))))
            }
            Some(Value::Nothing) | None => Err(Error::invalid(
                format!("{}: gradient of the operator", self.call.op.name),
                "a value that its scope did not give",
                "an input, an output or the result of a call",
            )),
        }
    }
}

impl GradientScope for Scope<'_> {
    fn input(&mut self, index: usize) -> GradValue {
        self.keep(if index < self.history.inputs.len() { Value::Input(index) } else { Value::Nothing })
    }

    fn output(&mut self, index: usize) -> GradValue {
        self.keep(Value::Output(index))
    }

    fn out_grad(&mut self, index: usize) -> Result<GradValue> {
        let Some(slot) = self.out_grads.get(index) else { return Ok(self.keep(Value::Nothing)) };
        let grad = match (slot, self.node.outputs.get(index)) {
            (Some(grad), _) => grad.clone(),
            (None, Some(desc)) => desc.zeros(self.imperative.context())?,
            (None, None) => return Err(self.not_kept()),
        };
        Ok(self.keep(Value::Array(grad)))
    }

    fn has_out_grad(&self, index: usize) -> bool {
        self.out_grads.get(index).is_some_and(Option::is_some)
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
        let held = inputs.iter().map(|v| self.resolve(*v)).collect::<Result<Vec<_>>>()?;
        let operands: Vec<Operand<'_>> = held
            .iter()
            .map(|held| match held {
                Held::Array(array) => Operand::Array(array),
                Held::Shape(desc) => Operand::Shape(&desc.shape, desc.dtype),
            })
            .collect();
        let device = self.node.outputs.first().map(|desc| desc.device);
        let made = self.imperative.call_all(op, &attrs, &operands, device, self.node.site)?;
        Ok(made.into_iter().map(|array| self.keep(Value::Array(array))).collect())
    }
}
