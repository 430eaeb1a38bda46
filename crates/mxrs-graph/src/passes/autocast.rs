//! Mixed precision: products compute in half precision, and `amp_cast` is inserted where types change.
//!
//! The operator's [`Precision`] decides what happens to a call, as in MXNet's `ReducePrecision`. Variables stay in float32.
//! Heads do too: if a call makes a head in half precision, the head is converted back. Each value is converted once, before
//! its first reader. Auxiliary states and other inputs that a call rewrites are never converted. A call that would need such
//! an input in half precision stays in float32.
//!
//! In a training graph, [`TrainingGraph::wide_sums`] improves the gradients of float32 weights: a call that sums
//! half-precision products returns float32 itself, instead of a half-precision result that is converted next.

use super::names::UniqueNames;
use super::rewrite::Rewrite;
use crate::{Entry, EntryId, Graph, Node, NodeId, TrainingGraph};
use mxrs_op::{Attrs, OpDef, OpParams, OpSet, Precision};
use mxrs_types::{DType, Result};
use rustc_hash::FxHashMap;

const CAST: &str = "amp_cast";
const CAST_BACK: &str = "_backward_cast";

/// Converts the graph to mixed precision with the type `half`. A graph that already contains an `amp_cast` is returned
/// unchanged.
///
/// # Errors
/// Fails if `ops` has no `amp_cast`.
pub fn autocast(graph: &Graph, ops: &OpSet, half: DType) -> Result<Graph> {
    let is_converted = |node: &Node| matches!(node.op_name(), "amp_cast" | "amp_multicast");
    if graph.nodes().iter().any(is_converted) {
        return Ok(graph.clone());
    }
    let mut casting = Casting {
        graph,
        ops,
        half,
        names: UniqueNames::of(graph),
        rewrite: Rewrite::of(graph),
        half_ones: FxHashMap::default(),
        is_made_half: vec![false; graph.n_entries()],
        wide_ones: FxHashMap::default(),
    };
    for (id, node) in graph.iter() {
        casting.node(id, node)?;
    }
    casting.rewrite.end_forward();
    let heads = graph.heads().iter().map(|head| casting.wide(*head)).collect::<Result<_>>()?;
    Ok(casting.rewrite.finish(heads)?.graph)
}

/// The types of the inputs, or of the outputs, of a call.
type Types = Vec<Option<DType>>;

struct Casting<'g> {
    graph: &'g Graph,
    ops: &'g OpSet,
    half: DType,
    names: UniqueNames,
    rewrite: Rewrite<'g>,
    /// For each old entry that is available in half precision, the new entry that holds it.
    half_ones: FxHashMap<EntryId, Entry>,
    /// For each old entry, whether the new call makes it in half precision without a conversion.
    is_made_half: Vec<bool>,
    /// For each old entry that a call makes in half precision and that was converted back, the new float32 entry.
    wide_ones: FxHashMap<EntryId, Entry>,
}

impl Casting<'_> {
    fn node(&mut self, id: NodeId, old: &Node) -> Result<()> {
        let Some((op, params)) = old.call() else {
            let node = self.rewrite.moved(old);
            self.rewrite.put(id, node);
            return Ok(());
        };
        let is_half = |input: &Entry| self.half_ones.contains_key(&self.graph.entry_id(*input));
        let (any, all) = (old.inputs.iter().any(is_half), old.inputs.iter().all(is_half));
        let wants_short = match op.precision_in(params, self.half) {
            Precision::Float32 => false,
            Precision::Short => true,
            Precision::Follows => any,
            Precision::Widest => any && all,
        };
        let types = if wants_short && old.subgraphs.is_empty() { self.types(op, params, old) } else { None };
        let mut inputs = Vec::with_capacity(old.inputs.len());
        for (position, input) in old.inputs.iter().enumerate() {
            let is_half = types.as_ref().is_some_and(|(ins, _)| ins[position] == Some(self.half));
            inputs.push(if is_half { self.in_half(*input)? } else { self.wide(*input)? });
        }
        let node = Node { inputs, ..self.rewrite.moved(old) };
        let new = self.rewrite.put(id, node);
        for (index, dtype) in types.iter().flat_map(|(_, outs)| outs).enumerate() {
            if *dtype == Some(self.half) {
                let entry = self.graph.output_id(id, index);
                self.is_made_half[entry.index()] = true;
                self.half_ones.insert(entry, Entry::new(new, index as u32));
            }
        }
        Ok(())
    }

    /// The types of inputs and outputs of a call if its first input is in half precision; `None` if the call cannot have
    /// such an input.
    fn types(&self, op: &OpDef, params: &OpParams, node: &Node) -> Option<(Types, Types)> {
        if !op.dtypes.contains(&self.half) {
            return None;
        }
        let (mut inputs, mut outputs) = (vec![None; node.inputs.len()], vec![None; node.n_outputs]);
        *inputs.first_mut()? = Some(self.half);
        op.infer_dtypes(params, &mut inputs, &mut outputs).ok()?;
        let rewritten = [false, true].into_iter().flat_map(|is_train| (op.rewrites)(params, is_train)).copied();
        let mut fixed = rewritten.chain(node.n_arguments()..node.inputs.len());
        let is_half = |position: usize| inputs.get(position) == Some(&Some(self.half));
        (!fixed.any(is_half)).then_some((inputs, outputs))
    }

    /// Returns the new entry that holds the value of `old` in half precision. Adds a conversion if necessary.
    fn in_half(&mut self, old: Entry) -> Result<Entry> {
        let id = self.graph.entry_id(old);
        if let Some(known) = self.half_ones.get(&id) {
            return Ok(*known);
        }
        let from = self.rewrite.entry(old);
        let new = self.cast(old, from, self.half)?;
        self.half_ones.insert(id, new);
        Ok(new)
    }

    /// Returns the new entry that holds the value of `old` in its original type. Adds a conversion if the value was made in
    /// half precision.
    fn wide(&mut self, old: Entry) -> Result<Entry> {
        let id = self.graph.entry_id(old);
        let from = self.rewrite.entry(old);
        if !self.is_made_half[id.index()] {
            return Ok(from);
        }
        if let Some(known) = self.wide_ones.get(&id) {
            return Ok(*known);
        }
        let new = self.cast(old, from, DType::F32)?;
        self.wide_ones.insert(id, new);
        Ok(new)
    }

    fn cast(&mut self, old: Entry, from: Entry, to: DType) -> Result<Entry> {
        let of = self.graph.entry_name(self.graph.entry_id(old));
        let name = self.names.take(format!("{of}_amp_cast_{}", to.name()));
        let group = self.graph.node(old.node).attrs.get("__ctx_group__").map(|group| ("__ctx_group__", group));
        let attrs: Attrs = group.into_iter().chain([("dtype", to.name())]).collect();
        Ok(Entry::new(self.rewrite.out.add_op(self.ops.get(CAST)?, name, attrs, vec![from])?, 0))
    }
}

impl TrainingGraph {
    /// Lets backward calls that sum half-precision products return float32. Such a call is changed under two conditions: it
    /// reads only shape and type of an input that an `amp_cast` made, and its result is only converted back to the type
    /// before that `amp_cast`. The changed call reads the input of the `amp_cast` instead, and returns its type, so the
    /// conversion of the result is dropped. `dtypes` are those of the forward graph's entries.
    ///
    /// # Errors
    /// Never fails for a graph made by [`gradient`](super::gradient).
    pub fn wide_sums(&self, dtypes: &[DType]) -> Result<Self> {
        // For each call to change: the position of the input to exchange, and its replacement.
        let mut exchanges: FxHashMap<NodeId, (usize, Entry)> = FxHashMap::default();
        let mut merged: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        for (id, node) in self.graph.iter().skip(self.n_forward_nodes) {
            if let Some((from, exchange)) = self.exchange(node, dtypes) {
                exchanges.insert(from, exchange);
                merged.insert(id, from);
            }
        }
        self.after(self.copied(&exchanges, &merged)?)
    }

    /// If `node` is a conversion that can be merged with the call that makes its input: that call, the position of the input
    /// to exchange, and the new input.
    fn exchange(&self, node: &Node, dtypes: &[DType]) -> Option<(NodeId, (usize, Entry))> {
        let graph = &self.graph;
        let ([made, like], CAST_BACK) = (node.inputs.as_slice(), node.op_name()) else { return None };
        let maker = graph.node(made.node);
        let (op, params) = maker.call()?;
        let is_head = graph.heads().contains(made);
        let is_private = !is_head && graph.consumers(graph.entry_id(*made)).len() == 1;
        if self.is_forward(made.node) || maker.n_outputs != 1 || !is_private || !maker.control_deps.is_empty() {
            return None;
        }
        let was_cast = |entry: &Entry| {
            let node = graph.node(entry.node);
            node.op_name() == CAST && node.inputs.first() == Some(like)
        };
        let position = op.ignored_inputs.iter().copied().find(|i| maker.inputs.get(*i).is_some_and(was_cast))?;
        let wanted = *dtypes.get(graph.entry_id(*like).index())?;
        let half = *dtypes.get(graph.entry_id(maker.inputs[position]).index())?;
        let mut inputs = vec![Some(half); maker.inputs.len()];
        inputs[position] = Some(wanted);
        let mut outputs = [None];
        op.infer_dtypes(params, &mut inputs, &mut outputs).ok()?;
        (outputs == [Some(wanted)]).then_some((made.node, (position, *like)))
    }

    fn copied(
        &self,
        exchanges: &FxHashMap<NodeId, (usize, Entry)>,
        merged: &FxHashMap<NodeId, NodeId>,
    ) -> Result<super::rewrite::Rewritten> {
        let mut rewrite = Rewrite::of(&self.graph);
        for (id, old) in self.graph.iter() {
            if id.index() == self.n_forward_nodes {
                rewrite.end_forward();
            }
            if let Some(into) = merged.get(&id) {
                let into = rewrite.id(*into);
                rewrite.merge(id, into);
                continue;
            }
            let mut node = rewrite.moved(old);
            if let Some((position, like)) = exchanges.get(&id) {
                node.inputs[*position] = rewrite.entry(*like);
            }
            rewrite.put(id, node);
        }
        if self.graph.n_nodes() == self.n_forward_nodes {
            rewrite.end_forward();
        }
        let heads = self.graph.heads().iter().map(|head| rewrite.entry(*head)).collect();
        rewrite.finish(heads)
    }
}

#[cfg(test)]
mod tests;
