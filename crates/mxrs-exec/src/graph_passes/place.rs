//! Several devices in one graph: MXNet's `group2ctx`.
//!
//! - `place` sets the device of each node. It needs the graph as the caller gave it, after the passes that add calls,
//!   because the added calls may have groups too. Later passes that merge calls merge only calls on the same device.
//! - `place-copies` needs the training graph. It promises a `_CrossDeviceCopy` wherever a call reads a tensor of another
//!   device, and gradients on the devices of their arguments.
//! - Switch: [`BindOptions::groups`], empty by default.

use crate::options::BindOptions;
use crate::pipeline::{Context, GraphState};
use mxrs_graph::Graph;
use mxrs_types::Result;

/// The graph with the device of each node.
///
/// # Errors
/// Returns an error if a node is in an unknown group, or if operators on two devices write one auxiliary state.
pub fn place(graph: &Graph, options: &BindOptions) -> Result<Option<Graph>> {
    if options.groups.is_empty() {
        return Ok(None);
    }
    mxrs_graph::place(graph, options.device, &options.groups).map(Some)
}

/// The training graph with copies between devices.
///
/// # Errors
/// Returns an error if a copy is needed and its operator is not among [`BindOptions::ops`].
pub fn copies(state: &GraphState, context: &Context<'_>) -> Result<Option<GraphState>> {
    let options = context.options;
    if options.groups.is_empty() {
        return Ok(None);
    }
    Ok(state.graph.with_copies(&options.ops, options.device)?.map(|graph| state.with_graph(graph)))
}
