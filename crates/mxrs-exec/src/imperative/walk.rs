//! Walks along the tape from the heads back to the nodes whose gradients are requested.
//!
//! Nodes are visited in falling order of ids, so that all readers of a value come before its maker. A node is
//! differentiated only if a requested gradient depends on it. If no reader of a node's outputs contributes to the
//! gradient of the node, that gradient is zero and the node passes no gradients on to its inputs.

use super::gradient_of::gradient_of;
use super::tape::{Buffer, Desc, Entry, History, Node};
use super::{Imperative, flags};
use crate::gradients::GradReq;
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{Error, Result, ResultExt};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A head and its gradient.
pub struct Head {
    pub entry: Entry,
    pub grad: NdArray,
}

/// A walk along the tape from heads to the nodes whose gradients are requested, with its settings.
pub struct Walk<'a> {
    pub imperative: &'a Imperative,
    /// Whether nodes keep their history for another gradient.
    pub retain: bool,
    /// Whether the calls that compute gradients are recorded.
    pub create: bool,
    /// Whether the walk stops at targets. It may stop there if no gradients are requested for values that a target was
    /// computed from.
    pub stops_at_targets: bool,
}

/// A node that the walk visits.
struct Visit {
    node: Arc<Node>,
    /// The history of the node; `None` if the walk ends at it.
    history: Option<Arc<History>>,
    buffers: Vec<Buffer>,
    is_target: bool,
    /// Whether a gradient of this node, or of a node that it depends on, is requested.
    is_useful: bool,
    /// For each output, the terms whose sum is the gradient of the output.
    terms: Vec<Vec<NdArray>>,
}

/// All nodes that the heads depend on, makers before readers.
struct Tape {
    visits: Vec<Visit>,
    places: FxHashMap<*const Node, usize>,
}

impl Tape {
    fn place(&self, node: &Arc<Node>) -> Option<usize> {
        self.places.get(&Arc::as_ptr(node)).copied()
    }
}

impl Walk<'_> {
    /// Computes the gradients of all marked arrays that the heads depend on, and puts them into the arrays of the marks.
    ///
    /// # Errors
    /// Returns the errors of [`Imperative::backward`].
    pub fn to_marks(&self, heads: &[Head]) -> Result<()> {
        let tape = self.collect(heads, None)?;
        if !tape.visits.iter().any(|visit| visit.is_useful) {
            return Err(Error::invalid(
                "backward",
                "no marked array behind the heads",
                "at least one input marked by attach_grad, with a request other than null, before it was recorded",
            ));
        }
        self.run(tape, heads, &[]).map(|_| ())
    }

    /// The gradients of the targets; `None` for a target that no head depends on.
    ///
    /// # Errors
    /// Returns the errors of [`Imperative::grad`].
    pub fn of(&self, heads: &[Head], targets: &[Entry]) -> Result<Vec<Option<NdArray>>> {
        let tape = self.collect(heads, Some(targets))?;
        self.run(tape, heads, targets)
    }

    /// Collects the nodes that the heads depend on. Gradients are requested for `targets`, or for all marked arrays if
    /// `targets` is `None`.
    fn collect(&self, heads: &[Head], targets: Option<&[Entry]>) -> Result<Tape> {
        let is_target = |node: &Arc<Node>| targets.is_some_and(|t| t.iter().any(|e| Arc::ptr_eq(&e.node, node)));
        let mut visits: Vec<Visit> = Vec::new();
        let mut places: FxHashMap<*const Node, usize> = FxHashMap::default();
        let mut pending: Vec<Arc<Node>> = heads.iter().map(|head| head.entry.node.clone()).collect();
        while let Some(node) = pending.pop() {
            if places.insert(Arc::as_ptr(&node), visits.len()).is_some() {
                continue;
            }
            let is_target = is_target(&node);
            let is_end = node.is_leaf || (is_target && self.stops_at_targets);
            let history = if is_end { None } else { node.history() };
            if history.is_none() && !is_end {
                return Err(Error::invalid(
                    format!("backward of `{}`, recorded at {}", node.name, node.site),
                    "a tape whose gradients have been taken already",
                    "the first time, or retain_graph in the call before",
                ));
            }
            let inputs = history.iter().flat_map(|history| &history.inputs);
            pending.extend(inputs.filter_map(|link| link.from.as_ref().map(|from| from.node.clone())));
            let buffers = if targets.is_some() { Vec::new() } else { node.buffers() };
            let is_useful = is_target || !buffers.is_empty();
            let terms = vec![Vec::new(); node.outputs.len()];
            visits.push(Visit { node, history, buffers, is_target, is_useful, terms });
        }
        visits.sort_unstable_by_key(|visit| visit.node.id);
        let places = visits.iter().enumerate().map(|(place, visit)| (Arc::as_ptr(&visit.node), place)).collect();
        let mut tape = Tape { visits, places };
        for place in 0..tape.visits.len() {
            let visit = &tape.visits[place];
            let behind = visit.history.iter().flat_map(|history| &history.inputs).filter_map(|l| l.from.as_ref());
            let leads_on = behind.filter_map(|from| tape.place(&from.node)).any(|p| tape.visits[p].is_useful);
            tape.visits[place].is_useful |= leads_on;
        }
        Ok(tape)
    }

    fn run(&self, mut tape: Tape, heads: &[Head], targets: &[Entry]) -> Result<Vec<Option<NdArray>>> {
        let mut found = vec![None; targets.len()];
        for head in heads {
            if let Some(place) = tape.place(&head.entry.node) {
                tape.visits[place].terms[head.entry.index].push(head.grad.clone());
            }
        }
        for place in (0..tape.visits.len()).rev() {
            let visit = &mut tape.visits[place];
            let node = visit.node.clone();
            let history = visit.history.take();
            let terms = std::mem::take(&mut visit.terms);
            if visit.is_useful {
                let doing = || format!("differentiating `{}`, recorded at {}", node.name, node.site);
                let grads = terms.into_iter().map(|terms| self.sum(terms)).collect::<Result<Vec<_>>>();
                let grads = grads.context(doing)?;
                for buffer in &tape.visits[place].buffers {
                    self.deliver(buffer, grads[buffer.output].as_ref()).context(doing)?;
                }
                if tape.visits[place].is_target {
                    for (target, slot) in targets.iter().zip(&mut found) {
                        if Arc::ptr_eq(&target.node, &node) {
                            slot.clone_from(&grads[target.index]);
                        }
                    }
                }
                if let Some(history) = &history
                    && grads.iter().any(Option::is_some)
                {
                    self.pass_on(&mut tape, &node, history, grads).context(doing)?;
                }
            }
            if !self.retain && history.is_some() {
                node.forget();
            }
        }
        Ok(found)
    }

    /// Differentiates one node and adds the gradients of its inputs to the terms of the nodes that made these inputs.
    fn pass_on(
        &self,
        tape: &mut Tape,
        node: &Arc<Node>,
        history: &History,
        out_grads: Vec<Option<NdArray>>,
    ) -> Result<()> {
        let to: Vec<Option<(usize, usize)>> = history
            .inputs
            .iter()
            .map(|link| {
                let from = link.from.as_ref()?;
                let place = tape.place(&from.node).filter(|place| tape.visits[*place].is_useful)?;
                Some((place, from.index))
            })
            .collect();
        let wants: Vec<bool> = to.iter().map(Option::is_some).collect();
        if !wants.contains(&true) {
            return Ok(());
        }
        let grads = gradient_of(self.imperative, node, history, &wants, out_grads, (self.create, self.retain))?;
        for (grad, to) in grads.into_iter().zip(to) {
            if let (Some(grad), Some((place, index))) = (grad, to) {
                tape.visits[place].terms[index].push(grad);
            }
        }
        Ok(())
    }

    /// The sum of the terms in their order. It is made by the same operators that the gradient of a graph uses, so the bits
    /// are the same.
    fn sum(&self, terms: Vec<NdArray>) -> Result<Option<NdArray>> {
        let nd = self.imperative;
        if terms.len() >= nd.options().grad_sum_cap.max(2) {
            let mut terms = terms.into_iter();
            let Some(mut sum) = terms.next() else { return Ok(None) };
            for term in terms {
                sum = nd.invoke("_grad_add", &Attrs::new(), &[&sum, &term])?.swap_remove(0);
            }
            return Ok(Some(sum));
        }
        match terms.len() {
            0 | 1 => Ok(terms.into_iter().next()),
            _ => {
                let terms: Vec<&NdArray> = terms.iter().collect();
                Ok(Some(nd.invoke("add_n", &Attrs::new(), &terms)?.swap_remove(0)))
            }
        }
    }

    /// Writes or adds a gradient to the array that receives it. `None` means zero.
    fn deliver(&self, buffer: &Buffer, grad: Option<&NdArray>) -> Result<()> {
        let _off = flags::set(false, flags::is_training());
        match (buffer.request, grad) {
            (GradReq::Null, _) | (GradReq::Add, None) => Ok(()),
            (GradReq::Write, Some(grad)) => buffer.array.copy_from_array(grad),
            (GradReq::Add, Some(grad)) => {
                let add = [&buffer.array, grad];
                self.imperative.invoke_into("_grad_add", &Attrs::new(), &add, &[&buffer.array])
            }
            (GradReq::Write, None) => {
                let zeros = Desc::of(&buffer.array).zeros(self.imperative.context())?;
                buffer.array.copy_from_array(&zeros)
            }
        }
    }
}
