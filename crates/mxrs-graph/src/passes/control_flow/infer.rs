//! Infers shapes or dtypes of a control-flow call from its subgraphs, and those of the subgraphs from the call.
//!
//! The body of a loop is inferred only once, not once for each step, because the states of a loop keep their shapes and
//! types.

use super::super::fixpoint::{Attribute, Visits, run};
use crate::{Graph, Node};
use mxrs_op::{ControlFlow, ControlKind};
use mxrs_types::{Error, Result};

/// Infers what is unknown of the inputs and outputs of a control-flow call from what is known of them and from its
/// subgraphs.
///
/// # Errors
/// Returns the errors of inferring the subgraphs. Returns an error if the inputs or outputs of the call do not fit the
/// subgraphs: if data inputs have different numbers of rows, if a state changes its shape or type, or if a condition does
/// not have one element.
pub fn infer<T: Attribute>(node: &Node, inputs: &mut [T], outputs: &mut [T]) -> Result<()> {
    infer_subgraphs(node, inputs, outputs).map(drop)
}

/// Like [`infer`]. Returns the properties of all entries of each subgraph.
///
/// # Errors
/// Returns the errors of [`infer`].
pub fn infer_subgraphs<T: Attribute>(node: &Node, inputs: &mut [T], outputs: &mut [T]) -> Result<Vec<Vec<T>>> {
    let Some(flow) = node.control_flow()? else { return Ok(Vec::new()) };
    loop {
        let mut call = Call { node, flow: &flow, inputs: &mut *inputs, outputs: &mut *outputs, has_learnt: false };
        // A visit is repeated as long as it learns something: what one subgraph determines may complete another one, and the
        // state after a loop has the shape and type of the state before it.
        let entries = call.visit()?;
        if !call.has_learnt {
            outputs.iter().try_for_each(T::check)?;
            return Ok(entries);
        }
    }
}

struct Call<'a, T> {
    node: &'a Node,
    flow: &'a ControlFlow,
    inputs: &'a mut [T],
    outputs: &'a mut [T],
    /// Whether this visit learned something that a subgraph visited earlier did not know yet.
    has_learnt: bool,
}

impl<T: Attribute> Call<'_, T> {
    fn visit(&mut self) -> Result<Vec<Vec<T>>> {
        let flow = self.flow;
        match &flow.kind {
            ControlKind::ForEach { data, states, n_out_data } => {
                let n_rows = self.n_rows(data.len(), *n_out_data)?;
                self.join_states(&of_call(&flow.inputs[0], states), *n_out_data)?;
                let body = self.subgraph(0, data.len(), |outputs, index| {
                    if index < *n_out_data { outputs[index].unstacked() } else { outputs[index].clone() }
                })?;
                self.learn_outputs(0, &body, *n_out_data, n_rows)?;
                // Another visit is needed only if a state has changed here, because the body has not seen this. All else
                // that this visit learned came from the body, so the body agrees with it.
                self.has_learnt = self.join_states(&of_call(&flow.inputs[0], states), *n_out_data)?;
                Ok(vec![body])
            }
            ControlKind::While { states, n_out_data, max_iterations } => {
                self.join_states(&of_call(&flow.inputs[1], states), *n_out_data)?;
                let condition = self.condition()?;
                let body = self.subgraph(1, 0, |outputs, index| {
                    if index < *n_out_data { outputs[index].unstacked() } else { outputs[index].clone() }
                })?;
                self.learn_outputs(1, &body, *n_out_data, Some(*max_iterations))?;
                Ok(vec![condition, body])
            }
            ControlKind::Branch => {
                let condition = self.condition()?;
                let mut all = vec![condition];
                for index in [1, 2] {
                    let branch = self.subgraph(index, 0, |outputs, index| outputs[index].clone())?;
                    self.learn_outputs(index, &branch, 0, None)?;
                    all.push(branch);
                }
                Ok(all)
            }
        }
    }

    /// The number of rows, which all data and all stacked outputs share.
    fn n_rows(&self, n_data: usize, n_out_data: usize) -> Result<Option<usize>> {
        let mut known: Option<usize> = None;
        for tensor in self.inputs[..n_data].iter().chain(&self.outputs[..n_out_data]) {
            let wrong = |expected: String| Error::shape(self.node.op_name(), "data", expected, tensor.text());
            let n = tensor.n_rows().map_err(|()| wrong("at least one axis, whose rows are the steps".into()))?;
            match (known, n) {
                (Some(known), Some(n)) if known != n => return Err(wrong(format!("{known} rows, as the other data"))),
                (None, Some(n)) => known = Some(n),
                _ => {}
            }
        }
        match known {
            Some(0) => Err(Error::shape(self.node.op_name(), "data", "at least one row", "no rows")),
            known => Ok(known),
        }
    }

    /// A state has the same shape and type before and after the loop, so what is known of one is merged into the other.
    /// `states` are positions of inputs of the call. Returns whether anything new was learned.
    fn join_states(&mut self, states: &[usize], n_out_data: usize) -> Result<bool> {
        let mut has_learnt = false;
        for (state, input) in states.iter().enumerate() {
            let (before, after) = (&mut self.inputs[*input], &mut self.outputs[n_out_data + state]);
            let what = format!("state {state} after a step");
            has_learnt |= learn(self.node, after, &before.clone(), &what)?;
            has_learnt |= learn(self.node, before, &after.clone(), &what)?;
        }
        Ok(has_learnt)
    }

    /// Infers the subgraph of the condition, which is the first one, and checks that its result may have one element.
    fn condition(&mut self) -> Result<Vec<T>> {
        let entries = self.subgraph(0, 0, |_, _| T::unknown())?;
        let subgraph = &self.node.subgraphs[0];
        for head in subgraph.heads() {
            let condition = &entries[subgraph.entry_id(*head).index()];
            if !condition.may_be_one_element() {
                return Err(Error::shape(self.node.op_name(), "condition", "one element", condition.text()));
            }
        }
        Ok(entries)
    }

    /// Infers subgraph `index` from the inputs of the call, and merges the result into these inputs. The first `n_data`
    /// inputs are data, of which the subgraph gets one row. `head` returns what the call's outputs say about a head of the
    /// subgraph.
    fn subgraph(&mut self, index: usize, n_data: usize, head: impl Fn(&[T], usize) -> T) -> Result<Vec<T>> {
        let (node, inputs) = (self.node, &self.flow.inputs[index]);
        let subgraph: &Graph = &node.subgraphs[index];
        let mut entries = vec![T::unknown(); subgraph.n_entries()];
        for (variable, input) in subgraph.variables().iter().zip(inputs) {
            let given = &self.inputs[*input];
            let known = if *input < n_data { given.row() } else { given.clone() };
            entries[subgraph.output_id(*variable, 0).index()] = known;
        }
        for (index, entry) in subgraph.heads().iter().enumerate() {
            let entry = &mut entries[subgraph.entry_id(*entry).index()];
            learn(node, entry, &head(self.outputs, index), &format!("output {index}"))?;
        }
        let name = node.op.as_ref().and_then(|op| op.subgraph_names().get(index)).copied().unwrap_or_default();
        run(subgraph, &mut entries, Visits::Forward)
            .map_err(|e| e.context(format!("inferring subgraph `{name}` of node `{}`", node.name)))?;
        for (variable, input) in subgraph.variables().iter().zip(inputs) {
            let found = &entries[subgraph.output_id(*variable, 0).index()];
            let tensor = &mut self.inputs[*input];
            let found = if *input < n_data { T::of_rows(found, tensor) } else { found.clone() };
            self.has_learnt |= learn(node, tensor, &found, &format!("input {input}"))?;
        }
        Ok(entries)
    }

    /// Merges what is known of the heads of a subgraph into the outputs of the call. The first `n_out_data` outputs are
    /// stacked: each has one row per step.
    fn learn_outputs(&mut self, index: usize, entries: &[T], n_out_data: usize, n_rows: Option<usize>) -> Result<()> {
        let subgraph = &self.node.subgraphs[index];
        for (index, head) in subgraph.heads().iter().enumerate() {
            let found = &entries[subgraph.entry_id(*head).index()];
            let found = if index < n_out_data { found.stacked(n_rows) } else { found.clone() };
            self.has_learnt |= learn(self.node, &mut self.outputs[index], &found, &format!("output {index}"))?;
        }
        Ok(())
    }
}

/// The positions of the call's inputs that these variables of a subgraph stand for.
fn of_call(inputs: &[usize], variables: &[usize]) -> Vec<usize> {
    variables.iter().map(|variable| inputs[*variable]).collect()
}

fn learn<T: Attribute>(node: &Node, to: &mut T, found: &T, what: &str) -> Result<bool> {
    let before = to.clone();
    to.learn(found).map_err(|()| {
        let (op, expected, got) = (node.op_name(), before.text(), found.text());
        if T::WHAT == "shape" { Error::shape(op, what, expected, got) } else { Error::dtype(op, what, expected, got) }
    })
}
