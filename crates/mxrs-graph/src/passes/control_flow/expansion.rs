//! The expanded graph under construction.

use super::super::names::UniqueNames;
use super::infer::infer_subgraphs;
use crate::{Entry, Graph, GraphBuilder, Node, NodeId};
use mxrs_op::{Attrs, ControlKind, OpSet};
use mxrs_types::{Error, ErrorKind, PartialShape, Result, ResultExt};
use rustc_hash::FxHashMap;

/// The most nodes of an expanded graph.
pub const MAX_NODES: usize = 1_000_000;
/// The most inputs and outputs of all nodes together.
const MAX_LINKS: usize = 16_000_000;
/// The most bytes of all names together.
const MAX_NAME_BYTES: usize = 256 << 20;

/// The size of a graph, or of a part of it.
#[derive(Clone, Copy, Default)]
pub struct Size {
    pub nodes: usize,
    /// Inputs and outputs of all nodes.
    pub links: usize,
    pub name_bytes: usize,
}

impl Size {
    /// The size of all calls of a graph, and the bytes of the names of its variables. Variables count because the names of
    /// gates are made of the names of variables.
    fn of(graph: &Graph) -> Self {
        graph.nodes().iter().fold(Self::default(), |sum, node| match node.is_variable() {
            true => sum.plus(0, 0, node.name.len()),
            false => sum.plus(1, node.inputs.len() + node.n_outputs, node.name.len()),
        })
    }

    /// This size, increased by `nodes` nodes, which together have `links` inputs and outputs, and `name_bytes` bytes of
    /// names.
    pub fn plus(self, nodes: usize, links: usize, name_bytes: usize) -> Self {
        Self {
            nodes: self.nodes.saturating_add(nodes),
            links: self.links.saturating_add(links),
            name_bytes: self.name_bytes.saturating_add(name_bytes),
        }
    }

    fn and(self, other: Self) -> Self {
        self.plus(other.nodes, other.links, other.name_bytes)
    }
}

/// A subgraph without control flow, ready to be copied.
pub struct Body {
    pub graph: Graph,
    /// For each variable of `graph`, its position among the variables of the original subgraph.
    pub variables: Vec<usize>,
    /// The number of variables of the original subgraph. It may be larger than that of `graph`, because the expansion drops
    /// variables that nothing needs.
    pub n_variables: usize,
}

/// A graph that is being copied without its control flow.
pub struct Expansion<'g> {
    pub old: &'g Graph,
    pub ops: &'g OpSet,
    /// Whether gradients will be computed.
    pub has_gradient: bool,
    pub out: GraphBuilder,
    names: UniqueNames,
    /// For each old node, its copy in the new graph; `None` if it is a control-flow node.
    new_ids: Vec<Option<NodeId>>,
    /// For each old control-flow node, the new entries that replace its outputs.
    made: FxHashMap<NodeId, Vec<Entry>>,
    size: Size,
}

impl<'g> Expansion<'g> {
    pub fn new(old: &'g Graph, ops: &'g OpSet, has_gradient: bool) -> Self {
        let mut out = GraphBuilder::new();
        for (key, value) in old.attrs() {
            out.set_attr(key, value.clone());
        }
        Self {
            old,
            ops,
            has_gradient,
            out,
            names: UniqueNames::of(old),
            new_ids: vec![None; old.n_nodes()],
            made: FxHashMap::default(),
            size: Size::of(old),
        }
    }

    /// Returns the graph without control flow. `shapes` are those of the entries of the old graph. If `keeps_variables` is
    /// set, the new graph has all variables of the old one, even variables that only unused outputs depend on.
    pub fn of_graph(mut self, shapes: &[PartialShape], keeps_variables: bool) -> Result<Graph> {
        let old = self.old;
        for (id, node) in old.iter() {
            if node.is_control_flow() {
                let outputs = self.expand(id, node, shapes).context(|| {
                    format!("replacing node `{}` ({}) by copies of its subgraphs", node.name, node.op_name())
                })?;
                self.made.insert(id, outputs);
            } else {
                let node = self.moved(node);
                self.new_ids[id.index()] = Some(self.out.push(node));
            }
        }
        let heads = old.heads().iter().map(|head| self.entry(*head)).collect();
        self.out.set_heads(heads);
        if keeps_variables {
            self.keep_variables(shapes)?;
        }
        Ok(self.out.build_in_order()?.0)
    }

    /// Keeps variables that no head needs in the graph, by a control dependency of the last needed call on each of them. No
    /// call reads them, so their shapes cannot be inferred from the new graph. Therefore the shapes are stored as
    /// attributes.
    fn keep_variables(&mut self, shapes: &[PartialShape]) -> Result<()> {
        let (variables, call) = self.out.unneeded_variables();
        let Some(call) = call else { return Ok(()) };
        for id in variables.iter().copied() {
            let name = self.out.node(id).map_or("", |node| node.name.as_str());
            let Some(old) = self.old.find(name) else { continue };
            if let Some(shape) = shapes[self.old.output_id(old, 0).index()].known() {
                let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
                self.out.annotate(id, "__shape__", format!("[{}]", sizes.join(", ")));
            }
        }
        self.out.add_control_deps(call, &variables)
    }

    /// The entry of the new graph that has the value of an entry of the old graph.
    pub fn entry(&self, old: Entry) -> Entry {
        match self.made.get(&old.node) {
            Some(outputs) => outputs[old.index as usize],
            None => Entry { node: self.new_ids[old.node.index()].unwrap_or(old.node), ..old },
        }
    }

    /// The new nodes for which a node has to wait if it waited for the old node: all nodes that make outputs of its
    /// expansion, or its copy if it was not expanded.
    fn waited_for(&self, old: NodeId) -> Vec<NodeId> {
        match self.made.get(&old) {
            Some(outputs) => outputs.iter().map(|entry| entry.node).collect(),
            None => self.new_ids[old.index()].into_iter().collect(),
        }
    }

    fn moved(&self, node: &Node) -> Node {
        let mut node = node.clone();
        node.inputs.iter_mut().for_each(|entry| *entry = self.entry(*entry));
        node.control_deps = node.control_deps.iter().flat_map(|dep| self.waited_for(*dep)).collect();
        node
    }

    /// Expands a control-flow node: adds the copies of its subgraphs, and returns the new entries that replace its outputs.
    fn expand(&mut self, id: NodeId, node: &Node, shapes: &[PartialShape]) -> Result<Vec<Entry>> {
        let Some(flow) = node.control_flow()? else { return Ok(Vec::new()) };
        let mut inputs: Vec<PartialShape> = self.old.input_ids(id).map(|e| shapes[e.index()].clone()).collect();
        let mut outputs: Vec<PartialShape> = self.old.output_ids(id).map(|e| shapes[e.index()].clone()).collect();
        let entries = infer_subgraphs(node, &mut inputs, &mut outputs)?;
        let bodies = node.subgraphs.iter().zip(&entries).map(|(graph, entries)| self.body(graph, entries));
        let bodies = bodies.collect::<Result<Vec<Body>>>()?;
        let first = self.out.n_nodes();
        let outputs = match &flow.kind {
            ControlKind::ForEach { .. } => super::foreach::expand(self, node, &flow, &bodies, &inputs),
            ControlKind::While { .. } => super::while_loop::expand(self, node, &flow, &bodies),
            ControlKind::Branch => super::branch::expand(self, node, &flow, &bodies),
        }?;
        let outputs = self.as_own(node, first, outputs)?;
        if !node.control_deps.is_empty() {
            let deps: Vec<NodeId> = node.control_deps.iter().flat_map(|dep| self.waited_for(*dep)).collect();
            for new in first..self.out.n_nodes() {
                self.out.add_control_deps(NodeId::new(new), &deps)?;
            }
        }
        Ok(outputs)
    }

    /// A subgraph whose own control flow, if it has any, is expanded.
    fn body(&self, graph: &Graph, shapes: &[PartialShape]) -> Result<Body> {
        let flat = match graph.has_control_flow() {
            true => Expansion::new(graph, self.ops, self.has_gradient).of_graph(shapes, false)?,
            false => graph.clone(),
        };
        let names = graph.variables().iter().enumerate().map(|(index, id)| (graph.node(*id).name.as_str(), index));
        let positions: FxHashMap<&str, usize> = names.collect();
        let variables = flat.variables().iter().filter_map(|id| positions.get(flat.node(*id).name.as_str()).copied());
        let (variables, n_variables) = (variables.collect(), graph.variables().len());
        Ok(Body { graph: flat, variables, n_variables })
    }

    /// Makes every output an entry of its own, as it was in the old graph. If an output is an input of the node, or equals
    /// another output, a `_copy` of it is returned instead.
    fn as_own(&mut self, node: &Node, first: usize, outputs: Vec<Entry>) -> Result<Vec<Entry>> {
        let mut own: Vec<Entry> = Vec::with_capacity(outputs.len());
        for (index, output) in outputs.into_iter().enumerate() {
            let is_own = output.node.index() >= first && !own.contains(&output);
            let name = || format!("{}_copy{index}", node.name);
            own.push(if is_own { output } else { self.call("_copy", name(), node, &[], vec![output])? });
        }
        Ok(own)
    }

    /// Adds the size of `n_copies` copies of these bodies to the size of the new graph. `more` is the size of what else each
    /// copy adds.
    ///
    /// # Errors
    /// Fails if the graph would exceed a limit.
    pub fn reserve(&mut self, node: &Node, n_copies: usize, bodies: &[&Body], more: Size) -> Result<()> {
        let of_bodies = bodies.iter().map(|body| Size::of(&body.graph)).fold(Size::default(), Size::and);
        // The name of a copied node consists of the name of the control-flow node, the number of the step, and the original
        // name. The longest possible prefix is assumed.
        let prefix = of_bodies.nodes.saturating_mul(node.name.len() + "_step1000000_cond_".len());
        let each = of_bodies.plus(0, 0, prefix).and(more);
        let all = Size {
            nodes: each.nodes.saturating_mul(n_copies),
            links: each.links.saturating_mul(n_copies),
            name_bytes: each.name_bytes.saturating_mul(n_copies),
        };
        let new = self.size.and(all);
        let limits = [
            ("nodes", each.nodes, new.nodes, MAX_NODES),
            ("inputs and outputs of nodes", each.links, new.links, MAX_LINKS),
            ("bytes of names", each.name_bytes, new.name_bytes, MAX_NAME_BYTES),
        ];
        for (what, each, new, limit) in limits {
            if new > limit {
                return Err(Error::invalid(
                    format!("{what} of the graph if `{}` ({}) is expanded", node.name, node.op_name()),
                    format!("{new}, for {n_copies} copies of {each}"),
                    format!("at most {limit}; use fewer steps or a smaller subgraph"),
                ));
            }
        }
        self.size = new;
        Ok(())
    }

    /// Copies a subgraph. `values` are the new entries for its variables, and the result is the new entries for its heads.
    ///
    /// # Errors
    /// Fails if an auxiliary state is not a variable.
    pub fn copy(&mut self, body: &Body, prefix: &str, values: &[Entry]) -> Result<Vec<Entry>> {
        let graph = &body.graph;
        let mut new: Vec<Entry> = Vec::with_capacity(graph.n_nodes());
        let mut variables = body.variables.iter();
        for node in graph.nodes() {
            if node.is_variable() {
                let value = variables.next().and_then(|variable| values.get(*variable));
                new.push(*value.ok_or_else(|| Error::invalid("copy of a subgraph", "no value", "one per variable"))?);
                continue;
            }
            let moved = |entry: &Entry| match graph.node(entry.node).is_variable() {
                true => Entry { version: entry.version, ..new[entry.node.index()] },
                false => Entry { node: new[entry.node.index()].node, ..*entry },
            };
            let inputs: Vec<Entry> = node.inputs.iter().map(moved).collect();
            for (position, input) in inputs.iter().enumerate().skip(node.n_arguments()) {
                let from = self.out.node(input.node);
                if let Some(from) = from.filter(|from| !from.is_variable()) {
                    return Err(Error::invalid(
                        format!("{}: input {position} of `{}` in a subgraph", node.op_name(), node.name),
                        format!("output of `{}` ({})", from.name, from.op_name()),
                        "a variable of the whole graph, because it is an auxiliary state",
                    ));
                }
            }
            let control_deps = node.control_deps.iter().map(|dep| new[dep.index()].node).collect();
            let name = self.names.take(format!("{prefix}{}", node.name));
            let copy = Node { name, inputs, control_deps, subgraphs: Vec::new(), ..node.clone() };
            new.push(Entry::new(self.out.push(copy), 0));
        }
        let head = |entry: &Entry| match graph.node(entry.node).is_variable() {
            true => new[entry.node.index()],
            false => Entry { node: new[entry.node.index()].node, ..*entry },
        };
        Ok(graph.heads().iter().map(head).collect())
    }

    /// Adds a call that belongs to the expansion of `node`, and returns its first output. The call is put into the context
    /// group of `node`.
    pub fn call(
        &mut self,
        op: &str,
        name: String,
        node: &Node,
        attrs: &[(&str, &str)],
        inputs: Vec<Entry>,
    ) -> Result<Entry> {
        let group = node.attrs.get("__ctx_group__").map(|group| ("__ctx_group__", group));
        let attrs: Attrs = group.into_iter().chain(attrs.iter().copied()).collect();
        let name = self.names.take(name);
        Ok(Entry::new(self.out.add_op(self.ops.get(op)?, name, attrs, inputs)?, 0))
    }

    /// Adds a selection: `on` if `mask` is not 0, otherwise `off`.
    pub fn select(&mut self, name: String, node: &Node, [on, off, mask]: [Entry; 3]) -> Result<Entry> {
        self.call("_control_select", name, node, &[], vec![on, off, mask])
    }

    /// Passes the inputs of a step or branch through gates. The step or branch is taken if `mask` is not 0 or, with
    /// `inverted`, if it is 0. If it is not taken, the gates make the gradients of its inputs 0. Auxiliary states get no
    /// gate: they have no gradients, and must stay variables.
    pub fn gated(
        &mut self,
        (prefix, node): (&str, &Node),
        subgraph: &Graph,
        values: Vec<Entry>,
        (mask, inverted): (Entry, bool),
    ) -> Result<Vec<Entry>> {
        if !self.has_gradient {
            return Ok(values);
        }
        let attrs: &[(&str, &str)] = if inverted { &[("inverted", "True")] } else { &[] };
        let mut gated = Vec::with_capacity(values.len());
        for (variable, value) in subgraph.variables().iter().zip(values) {
            let name = format!("{prefix}{}_gate", subgraph.node(*variable).name);
            let is_aux = subgraph.is_aux_state(*variable);
            gated.push(if is_aux { value } else { self.call("_control_gate", name, node, attrs, vec![value, mask])? });
        }
        Ok(gated)
    }
}

/// Refuses a subgraph with an operator that writes its inputs. The expanded graph runs the subgraph even if it is not taken,
/// and the write could not be undone.
pub fn refuse_effects(node: &Node, body: &Body) -> Result<()> {
    for inner in body.graph.nodes() {
        let Some((op, params)) = inner.call() else { continue };
        if [false, true].into_iter().any(|is_train| !(op.rewrites)(params, is_train).is_empty()) {
            return Err(Error::new(ErrorKind::InvalidValue {
                what: format!("operator in a subgraph of `{}` ({})", node.name, node.op_name()),
                got: format!("`{}` ({}), which writes its inputs in training", inner.name, op.name),
                expected: "operators without effects, because the subgraph is computed whether or not it is taken; a \
                           batch normalization with use_global_stats=True and fix_gamma=False has none"
                    .into(),
            }));
        }
    }
    Ok(())
}
