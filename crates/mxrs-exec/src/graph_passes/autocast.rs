//! Mixed precision: products compute in half precision, sums of gradients in float32.
//!
//! - `autocast` needs the graph as the caller gave it. It promises that parameters, inputs and outputs keep float32.
//! - `wide-sums` needs the training graph. It promises that gradients of a value that several calls read are summed in
//!   float32.
//! - Switch: [`BindOptions::autocast`], off by default.

use crate::options::BindOptions;
use crate::pipeline::{Context, GraphState};
use mxrs_graph::Graph;
use mxrs_types::{DType, Error, Result};

/// The graph with products in half precision.
///
/// # Errors
/// Returns an error if the requested type is not a half-precision float.
pub fn autocast(graph: &Graph, options: &BindOptions) -> Result<Option<Graph>> {
    match options.autocast {
        Some(half @ (DType::BF16 | DType::F16)) => mxrs_graph::autocast(graph, &options.ops, half).map(Some),
        Some(other) => Err(Error::invalid("type of mixed precision", other.name(), "bfloat16 or float16")),
        None => Ok(None),
    }
}

/// The training graph with sums of gradients in float32.
///
/// # Errors
/// Returns the errors of rebuilding the graph.
pub fn wide_sums(state: &GraphState, context: &Context<'_>) -> Result<Option<GraphState>> {
    if context.options.autocast.is_none() || state.gradients.is_empty() {
        return Ok(None);
    }
    let dtypes = &state.forward.typed.known.dtypes;
    Ok(Some(state.with_graph(state.graph.wide_sums(dtypes)?)))
}
