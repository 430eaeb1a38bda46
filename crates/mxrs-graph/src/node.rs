//! A node: a variable or a call of an operator.

use crate::{Entry, Graph, NodeId};
use mxrs_op::{Attrs, OpDef, OpParams};
use mxrs_types::Device;
use std::sync::Arc;

/// A variable (no operator) or a call of an operator.
#[derive(Clone, Debug)]
pub struct Node {
    /// The operator; `None` for a variable.
    pub op: Option<Arc<OpDef>>,
    /// Name, unique among variables.
    pub name: String,
    /// Attributes as text, as the file has them.
    pub attrs: Attrs,
    /// The parsed attributes; `None` for a variable.
    pub params: Option<OpParams>,
    /// The inputs in the operator's order, auxiliary states last.
    pub inputs: Vec<Entry>,
    /// Nodes that must run earlier although no data flows from them.
    pub control_deps: Vec<NodeId>,
    /// Graphs of control-flow operators, and of nodes that other programs partitioned.
    pub subgraphs: Vec<Arc<Graph>>,
    /// The number of outputs, including hidden ones; 1 for a variable.
    pub n_outputs: usize,
    /// The number of outputs that a user sees.
    pub n_visible: usize,
    /// In a training graph: the forward node to whose gradient this call belongs. `None` for forward nodes and for variables
    /// that contain the gradient of a head.
    pub backward_of: Option<NodeId>,
    /// In a training graph: the node that this call recomputes to save memory. The call has the operator of that node, or
    /// the operator that [recomputes](OpDef::recompute) the node's first output. It has the same parameters, draws the same
    /// random numbers and does not rewrite its inputs. Fusion keeps this mark if it fuses the call or the node, because
    /// pointwise calls neither draw random numbers nor rewrite inputs.
    pub clone_of: Option<NodeId>,
    /// The device on which a call runs, or on which the array of a variable lies. `None` in a graph that is not
    /// [placed](crate::place): then every node is on the device on which the graph is bound.
    pub device: Option<Device>,
}

impl Node {
    /// Makes a variable.
    pub(crate) fn variable(name: String, attrs: Attrs) -> Self {
        Self {
            op: None,
            name,
            attrs,
            params: None,
            inputs: Vec::new(),
            control_deps: Vec::new(),
            subgraphs: Vec::new(),
            n_outputs: 1,
            n_visible: 1,
            backward_of: None,
            clone_of: None,
            device: None,
        }
    }

    /// Whether the output shapes of the call depend on the values of an input, so that inference cannot know them.
    pub fn has_shapes_by_values(&self) -> bool {
        self.op.as_ref().is_some_and(|op| op.by_values.is_some())
    }

    /// Whether this is a variable.
    pub fn is_variable(&self) -> bool {
        self.op.is_none()
    }

    /// The operator and parameters; `None` for a variable.
    pub fn call(&self) -> Option<(&Arc<OpDef>, &OpParams)> {
        Some((self.op.as_ref()?, self.params.as_ref()?))
    }

    /// The operator's name; `null` for a variable, as in files.
    pub fn op_name(&self) -> &'static str {
        self.op.as_ref().map_or("null", |op| op.name)
    }

    /// The number of inputs that are arguments; the rest are auxiliary states.
    pub fn n_arguments(&self) -> usize {
        self.inputs.len() - self.op.as_ref().map_or(0, |op| op.n_aux.min(self.inputs.len()))
    }

    /// Whether input `index` is an auxiliary state.
    pub fn is_aux_input(&self, index: usize) -> bool {
        index >= self.n_arguments()
    }

    /// The name of output `index`: the name of a variable itself; for a call `<node>_output`, `<node>_<suffix>` or
    /// `<node>_output<index>`.
    pub fn output_name(&self, index: usize) -> String {
        output_name(self.op.as_deref(), &self.name, index, self.n_outputs)
    }
}

/// MXNet's name of an output.
pub(crate) fn output_name(op: Option<&OpDef>, name: &str, index: usize, n_outputs: usize) -> String {
    let Some(op) = op else { return name.into() };
    match op.output_names.get(index) {
        Some(suffix) if op.output_names.len() >= n_outputs => format!("{name}_{suffix}"),
        _ if n_outputs == 1 => format!("{name}_output"),
        _ => format!("{name}_output{index}"),
    }
}
