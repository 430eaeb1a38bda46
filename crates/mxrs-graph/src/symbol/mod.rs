//! The symbol: a user's handle to an expression under construction.

mod attr_scope;
mod call;
mod name_manager;
mod node;

pub use attr_scope::AttrScope;
pub use call::SymbolCall;
pub use name_manager::NameManager;

use crate::{Entry, Graph, GraphBuilder, NodeId};
use mxrs_op::Attrs;
use mxrs_types::{Error, Result};
use node::{SymEntry, SymNode, walk};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// One or several outputs of expressions. Cloning is cheap, and composing never changes an existing symbol.
#[derive(Clone)]
pub struct Symbol {
    entries: Vec<SymEntry>,
}

impl Symbol {
    /// Makes a variable.
    pub fn variable(name: impl Into<String>) -> Self {
        Self::variable_with(name, Attrs::new())
    }

    /// Makes a variable with attributes (`__shape__`, `__init__`, …).
    pub fn variable_with(name: impl Into<String>, attrs: Attrs) -> Self {
        Self::of_node(SymNode::variable(name.into(), attrs), 1)
    }

    /// Combines the outputs of several symbols.
    pub fn group<'a>(symbols: impl IntoIterator<Item = &'a Symbol>) -> Self {
        Self { entries: symbols.into_iter().flat_map(|s| s.entries.iter().cloned()).collect() }
    }

    fn of_node(node: SymNode, n_visible: usize) -> Self {
        let node = Arc::new(node);
        let entry = |index| SymEntry { node: Arc::clone(&node), index: index as u32, version: None };
        Self { entries: (0..n_visible).map(entry).collect() }
    }

    /// Number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.entries.len()
    }

    /// The name of the node, if all outputs belong to one node.
    pub fn name(&self) -> Option<&str> {
        let first = &self.entries.first()?.node;
        self.entries.iter().all(|e| Arc::ptr_eq(&e.node, first)).then_some(first.name.as_str())
    }

    /// Names of the outputs: `conv0_output`, `bn_mean`, a variable's own name.
    pub fn outputs(&self) -> Vec<String> {
        self.entries.iter().map(SymEntry::name).collect()
    }

    /// Selects output `index`.
    ///
    /// # Errors
    /// Fails if the symbol has no output `index`.
    pub fn output(&self, index: usize) -> Result<Self> {
        let entry = self.entries.get(index).ok_or_else(|| {
            Error::invalid("output of a symbol", index, format!("an index below {}", self.entries.len()))
        })?;
        Ok(Self { entries: vec![entry.clone()] })
    }

    /// Selects the output called `name`.
    ///
    /// # Errors
    /// Fails if no output has this name, or if several outputs have it.
    pub fn output_named(&self, name: &str) -> Result<Self> {
        let found: Vec<&SymEntry> = self.entries.iter().filter(|e| e.name() == name).collect();
        match found.as_slice() {
            [one] => Ok(Self { entries: vec![(*one).clone()] }),
            [] => Err(Error::invalid("output of a symbol", format!("`{name}`"), "the name of one of its outputs")),
            many => {
                Err(Error::invalid("output of a symbol", format!("`{name}` {} times", many.len()), "a name used once"))
            }
        }
    }

    /// Returns a symbol of all visible outputs of all nodes, in graph order. It serves to observe inner values of a network.
    pub fn internals(&self) -> Self {
        let mut entries = Vec::new();
        for node in walk(&self.entries) {
            for index in 0..node.n_visible {
                entries.push(SymEntry { node: Arc::clone(&node), index: index as u32, version: None });
            }
        }
        Self { entries }
    }

    /// Names of the arguments, in graph order.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::graph`].
    pub fn arguments(&self) -> Result<Vec<String>> {
        Ok(self.graph()?.argument_names().into_iter().map(String::from).collect())
    }

    /// Names of the auxiliary states, in graph order.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::graph`].
    pub fn aux_states(&self) -> Result<Vec<String>> {
        Ok(self.graph()?.aux_state_names().into_iter().map(String::from).collect())
    }

    /// The verified graph of this symbol. Each use of a variable stores the number of operators that have written the
    /// variable (1 at the first use as an auxiliary state). A variable without `__init__` gets the initializer that its
    /// operator requests, if any.
    ///
    /// # Errors
    /// Fails if two variables have the same name.
    pub fn graph(&self) -> Result<Graph> {
        let nodes = walk(&self.entries);
        let ids: FxHashMap<*const SymNode, NodeId> =
            nodes.iter().enumerate().map(|(i, n)| (Arc::as_ptr(n), NodeId::new(i))).collect();
        let id_of = |node: &Arc<SymNode>| ids[&Arc::as_ptr(node)];
        let init = init_hints(&nodes, &id_of);
        let mut builder = GraphBuilder::new();
        let mut versions = vec![0u32; nodes.len()];
        for (i, node) in nodes.iter().enumerate() {
            let mut attrs = node.attrs.clone();
            let id = match node.call() {
                None => {
                    if let Some(text) = init.get(&NodeId::new(i))
                        && attrs.get("__init__").is_none()
                    {
                        attrs.set("__init__", *text);
                    }
                    builder.add_variable(&node.name, attrs)
                }
                Some((op, params)) => {
                    let n_arguments = node.inputs.len() - op.n_aux.min(node.inputs.len());
                    let mut inputs = Vec::with_capacity(node.inputs.len());
                    for (position, input) in node.inputs.iter().enumerate() {
                        let from = id_of(&input.node);
                        if position >= n_arguments {
                            versions[from.index()] += 1;
                        }
                        let version = input.version.unwrap_or(versions[from.index()]);
                        inputs.push(Entry { node: from, index: input.index, version });
                    }
                    builder.add_parsed_op(op, &node.name, attrs, params.clone(), inputs)?
                }
            };
            let deps: Vec<NodeId> = node.control_deps.iter().map(id_of).collect();
            builder.add_control_deps(id, &deps)?;
            builder.set_subgraphs(id, node.subgraphs.clone())?;
        }
        builder.set_heads(
            self.entries
                .iter()
                .map(|e| Entry { node: id_of(&e.node), index: e.index, version: e.version.unwrap_or(0) })
                .collect(),
        );
        builder.build()
    }

    /// Makes a symbol of a graph, for further composition. Entries keep the versions that they have in the graph.
    pub fn from_graph(graph: &Graph) -> Self {
        let mut nodes: Vec<Arc<SymNode>> = Vec::with_capacity(graph.n_nodes());
        let entry = |nodes: &[Arc<SymNode>], e: &Entry| SymEntry {
            node: Arc::clone(&nodes[e.node.index()]),
            index: e.index,
            version: Some(e.version),
        };
        for (_, node) in graph.iter() {
            let made = SymNode {
                call: node.call().map(|(op, params)| (Arc::clone(op), params.clone())),
                name: node.name.clone(),
                attrs: node.attrs.clone(),
                inputs: node.inputs.iter().map(|e| entry(&nodes, e)).collect(),
                control_deps: node.control_deps.iter().map(|d| Arc::clone(&nodes[d.index()])).collect(),
                subgraphs: node.subgraphs.clone(),
                n_visible: node.n_visible,
                n_outputs: node.n_outputs,
                is_composed: false,
            };
            nodes.push(Arc::new(made));
        }
        Self { entries: graph.heads().iter().map(|e| entry(&nodes, e)).collect() }
    }
}

/// The `__init__` texts that composed operators request for their variables.
fn init_hints(nodes: &[Arc<SymNode>], id_of: &dyn Fn(&Arc<SymNode>) -> NodeId) -> FxHashMap<NodeId, &'static str> {
    let mut hints = FxHashMap::default();
    for node in nodes.iter().filter(|n| n.is_composed) {
        let Some((op, params)) = node.call() else { continue };
        if op.init_hints.is_empty() {
            continue;
        }
        for (name, input) in op.input_names(params).iter().zip(&node.inputs) {
            let hint = op.init_hints.iter().find(|(wanted, _)| wanted == name);
            if let (Some((_, text)), true) = (hint, input.node.call.is_none()) {
                hints.entry(id_of(&input.node)).or_insert(*text);
            }
        }
    }
    hints
}

impl std::fmt::Debug for Symbol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Symbol").field(&self.outputs()).finish()
    }
}

#[cfg(test)]
mod tests;
