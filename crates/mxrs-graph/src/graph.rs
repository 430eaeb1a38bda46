//! The verified, immutable graph, with the lookups that every pass needs.
//!
//! Invariants of every `Graph` (tests cite the numbers):
//! - G1 data and control dependencies together form no cycle;
//! - G2 a node's inputs and control dependencies have smaller ids. Ids are the post-order of a depth-first walk from the
//!   heads (inputs in order, then control dependencies), so every node is reachable. In a graph made by a pass, ids may
//!   follow another order of execution, which the pass chose;
//! - G3 appending heads does not change the ids of a graph;
//! - G4 names of variables are unique;
//! - every entry refers to an existing output, every call has the number of inputs that its parameters require, and
//!   auxiliary inputs are variables.
//!
//! Only [`GraphBuilder`](crate::GraphBuilder) makes graphs.

use crate::{Entry, EntryId, Node, NodeId, control_flow};
use indexmap::IndexMap;
use mxrs_types::Device;
use rustc_hash::FxHashMap;
use std::fmt;

/// The value of a graph attribute. Each variant shows its form in a symbol file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphAttr {
    /// `["int", 1]`
    Int(i64),
    /// `["str", "x"]`
    Text(String),
    /// `["list_int", [1, 2]]`
    Ints(Vec<i64>),
    /// `["list_str", ["x", "y"]]`
    Texts(Vec<String>),
}

/// A verified graph. See the module for its invariants.
#[derive(Clone)]
pub struct Graph {
    nodes: Vec<Node>,
    heads: Vec<Entry>,
    attrs: IndexMap<String, GraphAttr>,
    /// The first entry id of each node; followed by the total number of entries.
    node_row_ptr: Vec<u32>,
    /// The node of each entry.
    entry_nodes: Vec<NodeId>,
    /// For each entry, the position in `consumer_list` at which its readers start.
    consumer_starts: Vec<u32>,
    consumer_list: Vec<(NodeId, u32)>,
    variables: Vec<NodeId>,
    is_aux: Vec<bool>,
    by_name: FxHashMap<String, NodeId>,
}

impl Graph {
    /// Indexes nodes that the builder has verified.
    pub(crate) fn from_verified(nodes: Vec<Node>, heads: Vec<Entry>, attrs: IndexMap<String, GraphAttr>) -> Self {
        let mut node_row_ptr = Vec::with_capacity(nodes.len() + 1);
        let mut entry_nodes = Vec::new();
        node_row_ptr.push(0);
        for (id, node) in nodes.iter().enumerate() {
            entry_nodes.extend(std::iter::repeat_n(NodeId::new(id), node.n_outputs));
            node_row_ptr.push(entry_nodes.len() as u32);
        }
        let entry_of = |e: &Entry| (node_row_ptr[e.node.index()] + e.index) as usize;
        let mut consumer_starts = vec![0u32; entry_nodes.len() + 1];
        for input in nodes.iter().flat_map(|n| &n.inputs) {
            consumer_starts[entry_of(input) + 1] += 1;
        }
        for i in 1..consumer_starts.len() {
            consumer_starts[i] += consumer_starts[i - 1];
        }
        let mut next = consumer_starts.clone();
        let mut consumer_list = vec![(NodeId(0), 0); *consumer_starts.last().unwrap_or(&0) as usize];
        let mut is_aux = vec![false; nodes.len()];
        for (id, node) in nodes.iter().enumerate() {
            for (position, input) in node.inputs.iter().enumerate() {
                let place = &mut next[entry_of(input)];
                consumer_list[*place as usize] = (NodeId::new(id), position as u32);
                *place += 1;
                is_aux[input.node.index()] |= node.is_aux_input(position);
            }
            if node.is_control_flow() {
                control_flow::aux_inputs(node).for_each(|input| is_aux[node.inputs[input].node.index()] = true);
            }
        }
        let variables = (0..nodes.len()).map(NodeId::new).filter(|id| nodes[id.index()].is_variable()).collect();
        let mut by_name: FxHashMap<String, NodeId> = FxHashMap::default();
        for (id, node) in nodes.iter().enumerate() {
            let place = by_name.entry(node.name.clone()).or_insert(NodeId::new(id));
            // If a variable and an operator have the same name, the name finds the variable, because users look up
            // variables.
            if node.is_variable() {
                *place = NodeId::new(id);
            }
        }
        Self {
            nodes,
            heads,
            attrs,
            node_row_ptr,
            entry_nodes,
            consumer_starts,
            consumer_list,
            variables,
            is_aux,
            by_name,
        }
    }

    /// Sets the device of each node, in id order.
    pub(crate) fn set_devices(&mut self, devices: impl IntoIterator<Item = Device>) {
        self.nodes.iter_mut().zip(devices).for_each(|(node, device)| node.device = Some(device));
    }

    /// The nodes in id order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The ids and nodes in id order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(i, n)| (NodeId::new(i), n))
    }

    /// The node with this id.
    ///
    /// # Panics
    /// Panics if the id belongs to another, larger graph.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The node called `name`; if a variable and an operator have this name, the variable.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    /// The number of nodes, including variables.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The number of entries: outputs of all nodes, including hidden ones.
    pub fn n_entries(&self) -> usize {
        self.entry_nodes.len()
    }

    /// First entry id of each node, followed by the total: the `node_row_ptr` of symbol files.
    pub fn node_row_ptr(&self) -> &[u32] {
        &self.node_row_ptr
    }

    /// The id of an entry.
    ///
    /// # Panics
    /// Panics if the entry belongs to another, larger graph.
    pub fn entry_id(&self, entry: Entry) -> EntryId {
        EntryId(self.node_row_ptr[entry.node.index()] + entry.index)
    }

    /// The entry id of output `index` of `node`.
    pub fn output_id(&self, node: NodeId, index: usize) -> EntryId {
        EntryId(self.node_row_ptr[node.index()] + index as u32)
    }

    /// The entry ids of all outputs of `node`.
    pub fn output_ids(&self, node: NodeId) -> impl DoubleEndedIterator<Item = EntryId> + use<> {
        (self.node_row_ptr[node.index()]..self.node_row_ptr[node.index() + 1]).map(EntryId)
    }

    /// The entry ids of all inputs of `node`.
    pub fn input_ids(&self, node: NodeId) -> impl DoubleEndedIterator<Item = EntryId> + '_ {
        self.node(node).inputs.iter().map(|e| self.entry_id(*e))
    }

    /// The node of an entry, and the index of the output.
    pub fn entry_at(&self, id: EntryId) -> (NodeId, usize) {
        let node = self.entry_nodes[id.index()];
        (node, (id.0 - self.node_row_ptr[node.index()]) as usize)
    }

    /// MXNet's name of an entry: `conv0_output`, `bn_mean`, or a variable's own name.
    pub fn entry_name(&self, id: EntryId) -> String {
        let (node, index) = self.entry_at(id);
        self.node(node).output_name(index)
    }

    /// Readers of an entry: node and input position, in id order. Heads are not readers.
    pub fn consumers(&self, id: EntryId) -> &[(NodeId, u32)] {
        let range = self.consumer_starts[id.index()] as usize..self.consumer_starts[id.index() + 1] as usize;
        &self.consumer_list[range]
    }

    /// The outputs of the graph.
    pub fn heads(&self) -> &[Entry] {
        &self.heads
    }

    /// Names of the outputs.
    pub fn output_names(&self) -> Vec<String> {
        self.heads.iter().map(|e| self.entry_name(self.entry_id(*e))).collect()
    }

    /// All variables in id order: the `arg_nodes` of symbol files.
    pub fn variables(&self) -> &[NodeId] {
        &self.variables
    }

    /// Whether some operator has output shapes that depend on values, so that the graph cannot be planned. Operators of
    /// subgraphs count too.
    pub fn has_shapes_by_values(&self) -> bool {
        let of_node =
            |node: &Node| node.has_shapes_by_values() || node.subgraphs.iter().any(|g| g.has_shapes_by_values());
        self.nodes().iter().any(of_node)
    }

    /// Whether a variable is an auxiliary state: some operator reads it at an auxiliary position. The operator may be in a
    /// subgraph. MXNet counts the auxiliary states of subgraphs as arguments.
    pub fn is_aux_state(&self, node: NodeId) -> bool {
        self.is_aux[node.index()]
    }

    /// Whether operators have this variable as input, but none of them reads it at inference. An example is the label of a
    /// loss.
    pub fn is_label(&self, variable: NodeId) -> bool {
        let readers = self.consumers(self.output_id(variable, 0));
        let ignores = |&(reader, position): &(NodeId, u32)| {
            let op = self.node(reader).op.as_ref();
            op.is_some_and(|op| op.ignored_at_inference.contains(&(position as usize)))
        };
        !readers.is_empty() && readers.iter().all(ignores)
    }

    /// Variables that are arguments, in id order.
    pub fn arguments(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.variables.iter().copied().filter(|id| !self.is_aux_state(*id))
    }

    /// Variables that are auxiliary states, in id order.
    pub fn aux_states(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.variables.iter().copied().filter(|id| self.is_aux_state(*id))
    }

    /// Names of the arguments.
    pub fn argument_names(&self) -> Vec<&str> {
        self.arguments().map(|id| self.node(id).name.as_str()).collect()
    }

    /// Names of the auxiliary states.
    pub fn aux_state_names(&self) -> Vec<&str> {
        self.aux_states().map(|id| self.node(id).name.as_str()).collect()
    }

    /// Graph attributes in the order written (`mxnet_version`, `is_np_shape`).
    pub fn attrs(&self) -> &IndexMap<String, GraphAttr> {
        &self.attrs
    }

    /// Whether shapes follow NumPy: 0 is a size, and only -1 means unknown.
    pub fn is_np_shape(&self) -> bool {
        matches!(self.attrs.get("is_np_shape"), Some(GraphAttr::Int(v)) if *v != 0)
    }
}

impl fmt::Debug for Graph {
    /// Prints one line per node.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, node) in self.iter() {
            write!(f, "{id} {} `{}` (", node.op_name(), node.name)?;
            for (i, input) in node.inputs.iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                write!(f, "{comma}{}", self.entry_name(self.entry_id(*input)))?;
            }
            writeln!(f, ")")?;
        }
        write!(f, "-> {}", self.output_names().join(", "))
    }
}
