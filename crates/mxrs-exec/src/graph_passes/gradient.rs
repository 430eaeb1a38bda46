//! Appends the gradient to the forward graph: the training graph.
//!
//! - Needs a forward graph with shapes and types.
//! - Promises one head per requested gradient, after the forward heads, and a variable for each head gradient that the
//!   program reads.
//! - Switch: [`BindOptions::gradients`](crate::BindOptions::gradients). A graph that is bound with gradients needs this
//!   pass.

use crate::gradients::{GradReq, GradRequests};
use crate::pipeline::{Context, GraphState, Wanted};
use mxrs_graph::{Entry, GradientRequest, Graph, HeadGrads, NodeId, Unreachable, gradient};
use mxrs_types::{Error, Result};

/// Differentiates the forward graph.
///
/// # Errors
/// Returns an error if a request names an unknown argument, or if an operator between a head and an argument whose
/// gradient is requested is not differentiable.
pub fn run(state: &GraphState, context: &Context<'_>) -> Result<Option<GraphState>> {
    let Some(requests) = context.options.gradients.as_ref().filter(|_| context.has_gradient) else { return Ok(None) };
    let graph = &*state.forward.graph;
    let wanted = arguments(graph, requests)?;
    if wanted.is_empty() {
        return Ok(None);
    }
    let describe = |id: &NodeId| {
        let name = &graph.node(*id).name;
        state.forward.describe(name.clone(), requests.of(name), graph.output_id(*id, 0).index())
    };
    let gradients: Vec<Wanted> = wanted.iter().map(describe).collect();
    let request = GradientRequest {
        wanted: wanted.iter().map(|id| Entry::new(*id, 0)).collect(),
        head_grads: HeadGrads::Variables,
        sum_cap: context.options.grad_sum_cap,
        unreachable: Unreachable::Zeros,
    };
    Ok(Some(state.differentiated(gradient(graph, &context.options.ops, &request)?, gradients)))
}

/// The arguments whose gradient is requested.
///
/// # Errors
/// Returns an error if a request names something that is not an argument.
pub fn arguments(graph: &Graph, requests: &GradRequests) -> Result<Vec<NodeId>> {
    let is_argument = |name: &str| graph.arguments().any(|id| graph.node(id).name == name);
    if let Some(unknown) = requests.names().find(|name| !is_argument(name)) {
        let known: Vec<&str> = graph.argument_names().into_iter().take(12).collect();
        return Err(Error::invalid("grad_req for", unknown, format!("an argument: {}, …", known.join(", "))));
    }
    Ok(graph.arguments().filter(|id| requests.of(&graph.node(*id).name) != GradReq::Null).collect())
}
