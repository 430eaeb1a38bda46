//! Common-subexpression elimination: equal calls on equal inputs are computed once.
//!
//! - `eliminate-common` needs the graph as the caller gave it, `eliminate-common-gradient` the training graph: the gradient
//!   often repeats calls of the forward graph.
//! - Both promise the same outputs, bit by bit. But if a value was computed twice, the terms of its gradient are summed in
//!   another order.
//! - Switch: [`BindOptions::eliminate_common`] (`MXNET_ELIMINATE_COMMON_EXPR`), on by default. The operator `_copy` must be
//!   among [`BindOptions::ops`]: if two heads are equal, the second becomes a copy, so that each head is an entry of its
//!   own.

use crate::options::BindOptions;
use crate::pipeline::{Context, GraphState};
use mxrs_graph::{Graph, eliminate_common};
use mxrs_types::Result;

/// The graph without equal calls. Heads keep their order and may have other names.
///
/// # Errors
/// Returns the errors of rebuilding the graph.
pub fn forward(graph: &Graph, options: &BindOptions) -> Result<Option<Graph>> {
    if !is_on(options) {
        return Ok(None);
    }
    let new = eliminate_common(graph, &options.ops)?;
    Ok(is_smaller(graph, &new).then_some(new))
}

/// The training graph without equal calls.
///
/// # Errors
/// Returns the errors of rebuilding the graph.
pub fn training(state: &GraphState, context: &Context<'_>) -> Result<Option<GraphState>> {
    if !is_on(context.options) || state.gradients.is_empty() {
        return Ok(None);
    }
    let new = state.graph.eliminate_common(&context.options.ops)?;
    Ok(is_smaller(&state.graph.graph, &new.graph).then(|| state.with_graph(new)))
}

fn is_on(options: &BindOptions) -> bool {
    options.eliminate_common && options.ops.get("_copy").is_ok()
}

/// Whether calls were merged. The node count alone does not show it: each merged head may have become a `_copy`.
fn is_smaller(old: &Graph, new: &Graph) -> bool {
    let n_calls = |graph: &Graph| graph.nodes().iter().filter(|node| node.op_name() != "_copy").count();
    n_calls(new) < n_calls(old)
}
