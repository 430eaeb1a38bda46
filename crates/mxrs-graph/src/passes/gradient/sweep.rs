//! The reverse sweep that builds the training graph.

use super::sums::Terms;
use super::{GradientRequest, HeadGrads, TrainingGraph, Unreachable, scope};
use crate::passes::names::UniqueNames;
use crate::{Entry, Graph, GraphBuilder, Node, NodeId};
use mxrs_op::{Attrs, Gradient, OpSet, is_annotation_key};
use mxrs_types::{Error, Result, ResultExt};
use rustc_hash::FxHashSet;

/// The annotation that gradient calls inherit, so that they run on the device of the forward call.
const CTX_GROUP: &str = "__ctx_group__";

/// The state of one reverse sweep.
pub(super) struct Sweep<'g> {
    pub graph: &'g Graph,
    pub ops: &'g OpSet,
    /// The training graph under construction: the forward nodes with their ids, followed by gradient calls.
    pub out: GraphBuilder,
    names: UniqueNames,
    pub sum_cap: usize,
    /// The terms of the gradient of each entry.
    pub terms: Vec<Terms>,
    /// For each entry, the number of terms that its gradient may get.
    pub n_readers: Vec<u32>,
    /// Nodes whose outputs are known to be zero.
    pub zeros: FxHashSet<NodeId>,
    /// For each entry, whether its gradient is requested.
    is_wanted: Vec<bool>,
    /// For each node, whether its value depends on an entry whose gradient is requested.
    depends: Vec<bool>,
}

pub(super) fn run(graph: &Graph, ops: &OpSet, request: &GradientRequest) -> Result<TrainingGraph> {
    let mut out = GraphBuilder::new();
    for node in graph.nodes() {
        out.push(node.clone());
    }
    for (key, value) in graph.attrs() {
        out.set_attr(key, value.clone());
    }
    let n_entries = graph.n_entries();
    let mut sweep = Sweep {
        graph,
        ops,
        out,
        names: UniqueNames::of(graph),
        sum_cap: request.sum_cap.max(2),
        terms: std::iter::repeat_with(Terms::default).take(n_entries).collect(),
        n_readers: vec![0; n_entries],
        zeros: FxHashSet::default(),
        is_wanted: vec![false; n_entries],
        depends: vec![false; graph.n_nodes()],
    };
    sweep.mark_paths(request)?;
    let head_grads = sweep.seed(request.head_grads)?;
    for id in (0..graph.n_nodes()).rev().map(NodeId::new) {
        sweep.visit(id)?;
    }
    let gradients =
        request.wanted.iter().map(|e| sweep.gradient_or_zeros(graph.entry_id(*e))).collect::<Result<Vec<_>>>()?;
    let gradients = sweep.separate(&request.wanted, gradients)?;

    let mut heads = graph.heads().to_vec();
    heads.extend(gradients);
    sweep.out.set_heads(heads);
    let (training, new_ids) = sweep.out.build_in_order()?;
    Ok(TrainingGraph {
        n_forward_nodes: graph.n_nodes(),
        n_forward_heads: graph.heads().len(),
        wanted: request.wanted.clone(),
        head_grads: head_grads.into_iter().map(|v| v.and_then(|id: NodeId| new_ids[id.index()])).collect(),
        graph: training,
    })
}

impl<'g> Sweep<'g> {
    /// Marks the entries whose gradients are requested, and the nodes that depend on them. Fails if such an entry does
    /// not exist, or if no head depends on it and zeros are not requested.
    fn mark_paths(&mut self, request: &GradientRequest) -> Result<()> {
        let graph = self.graph;
        for (i, wanted) in request.wanted.iter().enumerate() {
            let node = graph.nodes().get(wanted.node.index());
            if node.is_none_or(|n| wanted.index as usize >= n.n_outputs) {
                let got = format!("output {} of node {}", wanted.index, wanted.node);
                return Err(Error::invalid(format!("wanted gradient {i}"), got, "an output of a node of the graph"));
            }
            self.is_wanted[graph.entry_id(*wanted).index()] = true;
        }
        for (id, node) in graph.iter() {
            self.depends[id.index()] = (0..node.n_arguments()).any(|i| self.wants_input(node, i));
        }
        let mut is_reached = vec![false; graph.n_entries()];
        for head in graph.heads() {
            let entry = graph.entry_id(*head).index();
            is_reached[entry] = true;
            self.n_readers[entry] += 1;
        }
        for (id, node) in graph.iter().rev() {
            if !graph.output_ids(id).any(|e| is_reached[e.index()]) {
                continue;
            }
            let contributes = node.op.as_ref().is_some_and(|op| matches!(op.gradient, Gradient::By(_)));
            for position in 0..node.n_arguments() {
                if !self.wants_input(node, position) {
                    continue;
                }
                let entry = graph.entry_id(node.inputs[position]).index();
                is_reached[entry] = true;
                self.n_readers[entry] += u32::from(contributes);
            }
        }
        let is_cut = |e: &Entry| !is_reached[graph.entry_id(*e).index()];
        match request.wanted.iter().position(is_cut) {
            Some(i) if request.unreachable == Unreachable::Error => Err(Error::invalid(
                format!("wanted gradient {i}"),
                format!("`{}`", graph.entry_name(graph.entry_id(request.wanted[i]))),
                "something that an output of the graph depends on (an auxiliary state has no gradient)",
            )),
            _ => Ok(()),
        }
    }

    /// Sets the gradient of each head that depends on an entry whose gradient is requested.
    fn seed(&mut self, from: HeadGrads) -> Result<Vec<Option<NodeId>>> {
        let graph = self.graph;
        let mut variables = vec![None; graph.heads().len()];
        for (head, variable) in graph.heads().iter().zip(&mut variables) {
            if !self.wants_entry(*head) {
                continue;
            }
            let name = format!("{}_grad", graph.entry_name(graph.entry_id(*head)));
            let grad = match from {
                HeadGrads::Ones => self.add_call("ones_like", name, Attrs::new(), vec![*head], head.node)?,
                HeadGrads::Variables => {
                    let name = self.names.take(name);
                    let id = *variable.insert(self.out.add_variable(name, Attrs::new()));
                    self.out.set_device(id, graph.node(head.node).device)?;
                    id
                }
            };
            self.add_term(graph.entry_id(*head), Entry::new(grad, 0))?;
        }
        Ok(variables)
    }

    /// Sums the gradients of a node's outputs and passes them on to its inputs.
    fn visit(&mut self, id: NodeId) -> Result<()> {
        let graph = self.graph;
        let node = graph.node(id);
        let mut has_gradient = false;
        for output in graph.output_ids(id) {
            has_gradient |= self.close(output)?.is_some();
        }
        let Some(op) = node.op.as_ref().filter(|_| has_gradient && self.depends[id.index()]) else { return Ok(()) };
        match op.gradient {
            Gradient::Zero => Ok(()),
            Gradient::By(gradient) => scope::differentiate(self, id, gradient),
            Gradient::Undefined => Err(Error::not_built(
                format!("the gradient of operator {}", op.name),
                format!("it is not differentiable, and what is wanted depends on node `{}`", node.name),
            )),
        }
    }

    /// Inserts a `_copy` after each gradient that is also another gradient, a variable, or a forward output.
    fn separate(&mut self, wanted: &[Entry], gradients: Vec<Entry>) -> Result<Vec<Entry>> {
        let mut seen = FxHashSet::default();
        let mut separated = Vec::with_capacity(gradients.len());
        for (of, grad) in wanted.iter().zip(gradients) {
            let is_own = grad.node.index() >= self.graph.n_nodes()
                && self.out.node(grad.node).is_some_and(|n| !n.is_variable())
                && seen.insert((grad.node, grad.index));
            if is_own {
                separated.push(grad);
                continue;
            }
            let name = format!("{}_grad_copy", self.graph.node(of.node).name);
            separated.push(Entry::new(self.add_call("_copy", name, Attrs::new(), vec![grad], of.node)?, 0));
        }
        Ok(separated)
    }

    /// Whether the gradient of an entry is requested, or needed for a requested gradient.
    fn wants_entry(&self, entry: Entry) -> bool {
        self.is_wanted[self.graph.entry_id(entry).index()] || self.depends[entry.node.index()]
    }

    /// Whether the gradient of an input is requested or needed. This is never so for an auxiliary state.
    pub(super) fn wants_input(&self, node: &Node, position: usize) -> bool {
        position < node.n_arguments() && self.wants_entry(node.inputs[position])
    }

    /// Adds a call that belongs to the gradient of node `of`.
    pub(super) fn add_call(
        &mut self,
        op: &str,
        name: String,
        attrs: Attrs,
        inputs: Vec<Entry>,
        of: NodeId,
    ) -> Result<NodeId> {
        let op = self.ops.get(op)?;
        let mut own: Attrs = attrs.iter().filter(|(key, _)| !is_annotation_key(key)).collect();
        if let Some(key) = op.variable_count_key()
            && own.get(key).is_none()
        {
            own.set(key, op.variable_count(inputs.len()).to_string());
        }
        if let Some(group) = self.graph.node(of).attrs.get(CTX_GROUP) {
            own.set(CTX_GROUP, group);
        }
        let name = self.names.take(name);
        let doing = || format!("differentiating node `{}`", self.graph.node(of).name);
        let made = self.out.add_op(op, name, own, inputs).context(doing)?;
        self.out.set_backward_of(made, of)?;
        self.out.set_device(made, self.graph.node(of).device)?;
        if matches!(op.name, "zeros_like" | "_zeros") {
            self.zeros.insert(made);
        }
        Ok(made)
    }
}
