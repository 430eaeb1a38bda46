//! Infers shapes and types as a fixpoint, with a worklist of calls whose neighbors have changed.
//!
//! Every call is visited once, and again whenever one of its inputs or outputs became better known. The result of a
//! call is merged with what is known and never overwrites it, so knowledge only grows: the loop ends, and the result
//! does not depend on the order of visits as long as the operators' functions are monotone.

use super::control_flow;
use crate::{EntryId, Graph, NodeId};
use mxrs_op::{OpDef, OpParams};
use mxrs_types::{Error, ErrorKind, Result};
use std::collections::VecDeque;
use std::fmt::Display;

/// A property inferred for each entry.
pub(super) trait Attribute: Clone {
    /// The property's name in messages: `shape`, `dtype`.
    const WHAT: &'static str;
    /// Whether the property is completely known.
    fn is_known(&self) -> bool;
    /// Merges `other` into this property. Returns whether anything new was learned, or `Err` if the two contradict each
    /// other.
    #[allow(clippy::result_unit_err)]
    fn learn(&mut self, other: &Self) -> Result<bool, ()>;
    /// The property as text, for messages.
    fn text(&self) -> String;
    /// The property of which nothing is known.
    fn unknown() -> Self;
    /// The property of one row of a tensor: of one index of the first axis. As in MXNet, a row of a tensor with one axis has
    /// the shape (1,).
    fn row(&self) -> Self;
    /// What is known of a tensor whose [rows](Self::row) have the property `row`, if `tensor` is known so far.
    fn of_rows(row: &Self, tensor: &Self) -> Self;
    /// The property of `n` tensors of this property, stacked along a new first axis.
    fn stacked(&self, n: Option<usize>) -> Self;
    /// The inverse of [`Self::stacked`].
    fn unstacked(&self) -> Self;
    /// The number of rows, if it is known. `Err` if there is no axis.
    #[allow(clippy::result_unit_err)]
    fn n_rows(&self) -> Result<Option<usize>, ()>;
    /// Whether the tensor has one element, as far as this is known.
    fn may_be_one_element(&self) -> bool;
    /// Checks that the property is valid. A shape fails if its number of elements overflows.
    fn check(&self) -> Result<()>;
    /// Calls the operator's inference function.
    fn infer(op: &OpDef, params: &OpParams, inputs: &mut [Self], outputs: &mut [Self]) -> Result<()>;
}

/// The inferred property of every entry of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Inferred<T> {
    pub(super) entries: Vec<T>,
}

impl<T> Inferred<T> {
    /// The inferred property of one entry.
    ///
    /// # Panics
    /// Panics if the id belongs to another, larger graph.
    pub fn entry(&self, id: EntryId) -> &T {
        &self.entries[id.index()]
    }

    /// The properties of all entries, in id order.
    pub fn entries(&self) -> &[T] {
        &self.entries
    }
}

/// The order of visits. The result does not depend on it, as a test shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visits {
    /// Earlier nodes first; nodes queued again go last.
    Forward,
    /// Later nodes first.
    #[cfg(test)]
    Backward,
    /// The most recently queued first.
    #[cfg(test)]
    Newest,
}

/// Completes `entries` until no call adds information.
pub(super) fn run<T: Attribute>(graph: &Graph, entries: &mut [T], visits: Visits) -> Result<()> {
    let calls = (0..graph.n_nodes()).map(NodeId::new).filter(|id| !graph.node(*id).is_variable());
    let mut queue: VecDeque<NodeId> = calls.collect();
    #[cfg(test)]
    if visits != Visits::Forward {
        queue.make_contiguous().reverse();
    }
    let mut is_queued = vec![false; graph.n_nodes()];
    queue.iter().for_each(|id| is_queued[id.index()] = true);
    let mut inputs: Vec<T> = Vec::new();
    let mut outputs: Vec<T> = Vec::new();
    while let Some(id) = queue.pop_front() {
        is_queued[id.index()] = false;
        let node = graph.node(id);
        let Some((op, params)) = node.call() else { continue };
        inputs.clear();
        inputs.extend(graph.input_ids(id).map(|e| entries[e.index()].clone()));
        outputs.clear();
        outputs.extend(graph.output_ids(id).map(|e| entries[e.index()].clone()));
        let inferred = match node.is_control_flow() {
            true => control_flow::infer(node, &mut inputs, &mut outputs),
            false => T::infer(op, params, &mut inputs, &mut outputs),
        };
        inferred.map_err(|e| at_node(e, graph, id, entries))?;
        let learnt = graph.input_ids(id).zip(&inputs).chain(graph.output_ids(id).zip(&outputs));
        for (entry, found) in learnt {
            let known = &mut entries[entry.index()];
            match known.learn(found) {
                Ok(false) => {}
                Ok(true) => {
                    let producer = graph.entry_at(entry).0;
                    let touched = std::iter::once(producer).chain(graph.consumers(entry).iter().map(|(c, _)| *c));
                    for other in touched {
                        // The call that was visited is queued again too, because its inference function may use what it has
                        // inferred. This is not needed for control flow: its inference repeats until nothing changes.
                        let is_done = other == id && node.is_control_flow();
                        let is_call = !graph.node(other).is_variable();
                        if is_call && !is_done && !std::mem::replace(&mut is_queued[other.index()], true) {
                            push(&mut queue, other, visits);
                        }
                    }
                }
                Err(()) => {
                    let conflict = conflict::<T>(graph, id, entry, &entries[entry.index()].text(), &found.text());
                    return Err(at_node(conflict, graph, id, entries));
                }
            }
        }
    }
    Ok(())
}

fn push(queue: &mut VecDeque<NodeId>, id: NodeId, visits: Visits) {
    match visits {
        Visits::Forward => queue.push_back(id),
        #[cfg(test)]
        Visits::Backward => queue.push_back(id),
        #[cfg(test)]
        Visits::Newest => queue.push_front(id),
    }
}

/// Makes the error for an operator that contradicts what is known of its input or output.
fn conflict<T: Attribute>(graph: &Graph, id: NodeId, entry: EntryId, known: &str, found: &str) -> Error {
    let (op, arg) = (graph.node(id).op_name(), graph.entry_name(entry));
    if T::WHAT == "shape" { Error::shape(op, arg, found, known) } else { Error::dtype(op, arg, found, known) }
}

/// Adds the node and its neighbors to an error. The neighbors are the nodes that make or share its inputs, or that read its
/// outputs: the node contradicts one of them.
fn at_node<T: Attribute>(error: Error, graph: &Graph, id: NodeId, entries: &[T]) -> Error {
    let node = graph.node(id);
    let called = |id: NodeId| format!("`{}` ({})", graph.node(id).name, graph.node(id).op_name());
    let readers = |e: EntryId| {
        let others = graph.consumers(e).iter().map(|(reader, _)| *reader).filter(|reader| *reader != id);
        others.take(3).map(called).collect::<Vec<_>>().join(" and ")
    };
    let describe = |e: EntryId| format!("{} {}", graph.entry_name(e), entries[e.index()].text());
    let input = |e: EntryId| {
        let (maker, readers) = (graph.entry_at(e).0, readers(e));
        match (graph.node(maker).is_variable(), readers.is_empty()) {
            (false, _) => format!("{} of {}", describe(e), called(maker)),
            (true, false) => format!("{} that {readers} reads too", describe(e)),
            (true, true) => describe(e),
        }
    };
    let output = |e: EntryId| match readers(e) {
        readers if readers.is_empty() => describe(e),
        readers => format!("{} that {readers} reads", describe(e)),
    };
    let inputs: Vec<String> = graph.input_ids(id).map(input).collect();
    let outputs: Vec<String> = graph.output_ids(id).map(output).collect();
    error.context(format!(
        "inferring {}s of node `{}` ({}): inputs {}; outputs {}",
        T::WHAT,
        node.name,
        node.op_name(),
        inputs.join(", "),
        outputs.join(", ")
    ))
}

/// Checks that the property of every entry is known. The error names the unknown variables or, if all variables are known,
/// the nodes with unknown outputs.
pub(super) fn require_known<T: Attribute>(graph: &Graph, entries: &[T]) -> Result<()> {
    let is_unknown = |id: NodeId| graph.output_ids(id).any(|e| !entries[e.index()].is_known());
    let by_values = |id: &NodeId| T::WHAT == "shape" && graph.node(*id).has_shapes_by_values() && is_unknown(*id);
    if let Some(id) = (0..graph.n_nodes()).map(NodeId::new).find(by_values) {
        let node = graph.node(id);
        let what = format!("{} of the output of node `{}` ({})", T::WHAT, node.name, node.op_name());
        let expected = "one known before the run: call the operator on arrays, or run the graph as a cached graph";
        return Err(Error::invalid(what, "one that depends on the values of an input", expected));
    }
    let name = |id: NodeId| graph.node(id).name.clone();
    let mut names: Vec<String> = graph.variables().iter().copied().filter(|id| is_unknown(*id)).map(name).collect();
    if names.is_empty() {
        names = (0..graph.n_nodes()).map(NodeId::new).filter(|id| is_unknown(*id)).map(name).collect();
    }
    if names.is_empty() { Ok(()) } else { Err(Error::new(ErrorKind::Unresolved { names, what: T::WHAT })) }
}

/// The entry of the variable `name`, for which the caller gave a value. Fails if there is no such variable.
pub(super) fn given_entry(graph: &Graph, name: &str, value: impl Display) -> Result<EntryId> {
    match graph.find(name).filter(|id| graph.node(*id).is_variable()) {
        Some(id) => Ok(graph.output_id(id, 0)),
        None => {
            let known: Vec<&str> = graph.variables().iter().take(20).map(|id| graph.node(*id).name.as_str()).collect();
            let more = if graph.variables().len() > known.len() { ", …" } else { "" };
            Err(Error::invalid(
                "name of an input",
                format!("`{name}` (with {value})"),
                format!("one of {}{more}", known.join(", ")),
            ))
        }
    }
}
