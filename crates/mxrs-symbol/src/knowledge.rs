//! The facts about operators that this crate needs, and the checks that use them.

use crate::check::inconsistent;
use crate::{Attrs, SymbolFile};
use mxrs_format::fault;
use mxrs_types::{FormatErrorKind, Result};

/// Facts about operators, supplied by a caller that has the operators.
pub trait OperatorKnowledge {
    /// Names of all inputs of `op` with these attributes in order, including auxiliary states; `None` for an unknown
    /// operator.
    fn input_names(&self, op: &str, attrs: &Attrs) -> Option<Vec<String>>;

    /// Number of outputs of `op` with these attributes, including hidden ones; `None` if not known.
    fn n_outputs(&self, op: &str, attrs: &Attrs) -> Option<usize> {
        let _ = (op, attrs);
        None
    }

    /// The `__init__` attribute for the variable at `input` of `op`, such as `["zero", {}]` for `moving_mean` of BatchNorm;
    /// `None` for ordinary inputs.
    fn default_init(&self, op: &str, input: &str) -> Option<String> {
        let _ = (op, input);
        None
    }

    /// Known operators with names similar to `op`, for error messages.
    fn nearest(&self, op: &str) -> Vec<String> {
        let _ = op;
        Vec::new()
    }
}

/// Checks operators, numbers of inputs and numbers of outputs, also in subgraphs.
///
/// # Errors
/// Returns `UnknownOperator` with the most similar names, and `Inconsistent` for a wrong number of inputs or an output that
/// the operator does not have.
pub fn check_operators(graph: &SymbolFile, knowledge: &dyn OperatorKnowledge) -> Result<()> {
    let mut n_outputs = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        if node.is_variable() {
            n_outputs.push(Some(1));
            continue;
        }
        let Some(inputs) = knowledge.input_names(&node.op, &node.attrs) else {
            let nearest = knowledge.nearest(&node.op);
            let hint = if nearest.is_empty() { String::new() } else { format!("; nearest: {}", nearest.join(", ")) };
            let context = format!("`{}` of node `{}`{hint}", node.op, node.name);
            return Err(fault::whole(FormatErrorKind::UnknownOperator, context));
        };
        if inputs.len() != node.inputs.len() {
            let context = format!(
                "{} `{}` has {} inputs, expected {} ({})",
                node.op,
                node.name,
                node.inputs.len(),
                inputs.len(),
                inputs.join(", ")
            );
            return Err(inconsistent(context));
        }
        n_outputs.push(knowledge.n_outputs(&node.op, &node.attrs));
        for subgraph in &node.subgraphs {
            check_operators(subgraph, knowledge)
                .map_err(|e| e.context(format!("checking a subgraph of `{}`", node.name)))?;
        }
    }
    for entry in graph.nodes.iter().flat_map(|node| &node.inputs).chain(&graph.heads) {
        let count = n_outputs.get(entry.node as usize).copied().flatten();
        if count.is_some_and(|count| entry.index as usize >= count) {
            let node = &graph.nodes[entry.node as usize];
            let context = format!("output {} of {} `{}` does not exist", entry.index, node.op, node.name);
            return Err(inconsistent(context));
        }
    }
    Ok(())
}
