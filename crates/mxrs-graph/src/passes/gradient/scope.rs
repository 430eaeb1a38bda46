//! The scope of an operator's gradient function: one call, its values, and the graph to which the function adds calls.

use super::sweep::Sweep;
use crate::{Entry, EntryId, Node, NodeId};
use mxrs_op::{Attrs, GradValue, GradientFn, GradientScope, MadeBy};
use mxrs_types::{Error, Result, ResultExt};

/// The gradient of one node under construction.
struct Scope<'s, 'g> {
    sweep: &'s mut Sweep<'g>,
    id: NodeId,
    node: &'g Node,
    /// The entry of each [`GradValue`] of this call.
    values: Vec<Entry>,
    /// The zeros made for outputs that no head depends on.
    zeros: Vec<(usize, GradValue)>,
}

/// Represents an input or output that the call does not have; using it is an error.
const NOTHING: GradValue = GradValue(u32::MAX);

impl Scope<'_, '_> {
    fn keep(&mut self, entry: Entry) -> GradValue {
        self.values.push(entry);
        GradValue((self.values.len() - 1) as u32)
    }

    fn resolve(&self, value: GradValue) -> Result<Entry> {
        self.values.get(value.0 as usize).copied().ok_or_else(|| {
            Error::invalid(
                format!("{}: gradient of the operator", self.node.op_name()),
                "a value that its scope did not give",
                format!(
                    "one of {} inputs, {} outputs and results of calls",
                    self.node.inputs.len(),
                    self.node.n_outputs
                ),
            )
        })
    }

    fn output_entry(&self, index: usize) -> EntryId {
        self.sweep.graph.output_id(self.id, index)
    }
}

impl GradientScope for Scope<'_, '_> {
    fn input(&mut self, index: usize) -> GradValue {
        self.node.inputs.get(index).copied().map_or(NOTHING, |entry| self.keep(entry))
    }

    fn output(&mut self, index: usize) -> GradValue {
        if index < self.node.n_outputs { self.keep(Entry::new(self.id, index as u32)) } else { NOTHING }
    }

    fn out_grad(&mut self, index: usize) -> Result<GradValue> {
        if index >= self.node.n_outputs {
            return Ok(NOTHING);
        }
        if let Some((_, made)) = self.zeros.iter().find(|(of, _)| *of == index) {
            return Ok(*made);
        }
        let has = self.has_out_grad(index);
        let entry = self.output_entry(index);
        let grad = self.sweep.gradient_or_zeros(entry)?;
        let value = self.keep(grad);
        if !has {
            self.zeros.push((index, value));
        }
        Ok(value)
    }

    fn has_out_grad(&self, index: usize) -> bool {
        index < self.node.n_outputs && self.sweep.terms[self.output_entry(index).index()].sum.is_some()
    }

    fn wants(&self, input: usize) -> bool {
        self.sweep.wants_input(self.node, input)
    }

    fn attrs(&self) -> &Attrs {
        &self.node.attrs
    }

    fn n_inputs(&self) -> usize {
        self.node.inputs.len()
    }

    fn made_by(&mut self, value: GradValue) -> Option<MadeBy> {
        let entry = self.resolve(value).ok()?;
        let is_gradient = entry.node.index() >= self.sweep.graph.n_nodes();
        let node = self.sweep.out.node(entry.node).filter(|node| is_gradient && node.n_outputs == 1)?;
        let (op, attrs, inputs) = (node.op.as_ref()?.name, node.attrs.clone(), node.inputs.clone());
        Some(MadeBy { op, attrs, inputs: inputs.into_iter().map(|entry| self.keep(entry)).collect() })
    }

    fn call(&mut self, op: &str, attrs: Attrs, inputs: &[GradValue]) -> Result<Vec<GradValue>> {
        let inputs = inputs.iter().map(|v| self.resolve(*v)).collect::<Result<Vec<Entry>>>()?;
        let name = format!("{}_backward", self.node.name);
        let made = self.sweep.add_call(op, name, attrs, inputs, self.id)?;
        let n_outputs = self.sweep.out.node(made).map_or(0, |n| n.n_outputs);
        Ok((0..n_outputs).map(|i| self.keep(Entry::new(made, i as u32))).collect())
    }
}

/// Calls the gradient function of `id`, and adds its results to the gradients of those inputs whose gradients are
/// needed.
pub(super) fn differentiate<'g>(sweep: &mut Sweep<'g>, id: NodeId, gradient: GradientFn) -> Result<()> {
    let graph = sweep.graph;
    let node: &'g Node = graph.node(id);
    let Some((op, params)) = node.call() else { return Ok(()) };
    let doing = || format!("building the gradient of node `{}` ({})", node.name, op.name);
    let mut scope = Scope { sweep, id, node, values: Vec::new(), zeros: Vec::new() };
    let answers = gradient(params, &mut scope).context(doing)?;
    if answers.len() != node.inputs.len() {
        let what = format!("{}: number of gradients", op.name);
        return Err(
            Error::invalid(what, answers.len(), format!("one per input, {}", node.inputs.len())).context(doing())
        );
    }
    let answers = answers.into_iter().map(|a| a.map(|v| scope.resolve(v)).transpose()).collect::<Result<Vec<_>>>();
    for (position, answer) in answers.context(doing)?.into_iter().enumerate() {
        if let Some(term) = answer
            && sweep.wants_input(node, position)
        {
            sweep.add_term(graph.entry_id(node.inputs[position]), term).context(doing)?;
        }
    }
    Ok(())
}
