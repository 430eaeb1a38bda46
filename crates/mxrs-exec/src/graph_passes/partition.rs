//! Partitioning: chains of calls become one fused call, as [`BindOptions::patterns`](crate::BindOptions::patterns) describe.
//!
//! - Needs a forward graph with shapes and types, bound for inference without gradients.
//! - Promises that outputs keep their names, and their values within rounding. A replacement is made if a backend has a
//!   kernel for it, or if the chain runs on reference kernels either way. A backend named by
//!   [`BindOptions::pattern_backend`](crate::BindOptions::pattern_backend) decides alone.
//! - Switch: [`BindOptions::patterns`](crate::BindOptions::patterns) (`MXNET_SUBGRAPH_BACKEND`), empty by default.

use crate::bind::Known;
use crate::choose::has_fast_kernel;
use crate::constants::constants;
use crate::device::backends_on;
use crate::lower::Bound;
use crate::pipeline::{Context, GraphState, Typed};
use crate::report::FusedReport;
use mxrs_graph::{Graph, NodeId, Partitioned, Partitioning, partition};
use mxrs_op::{Backend, Member, OpCall, Proposal, TensorDesc};
use mxrs_types::Result;
use std::sync::Arc;

/// Replaces the chains that match a pattern.
///
/// # Errors
/// Returns the errors of rebuilding the graph.
pub fn run(state: &GraphState, context: &Context<'_>) -> Result<Option<GraphState>> {
    let options = context.options;
    if context.is_train || context.has_gradient || options.patterns.is_empty() {
        return Ok(None);
    }
    let graph = &state.graph.graph;
    let Typed { known, bound } = &**state.typed(options)?;
    let entries = known.shapes.iter().zip(&known.dtypes);
    let descs: Vec<TensorDesc> = entries.map(|(shape, dtype)| TensorDesc::dense(shape.clone(), *dtype)).collect();
    let is_constant = constants(graph, bound);
    let with = Partitioning {
        patterns: &options.patterns,
        ops: &options.ops,
        descs: &descs,
        is_constant: &is_constant,
        accept: &|proposal, device| {
            let backends = backends_on(options, device.unwrap_or(options.device));
            is_gain(&backends, options.pattern_backend, proposal)
        },
    };
    let new = partition(graph, &with)?;
    log(graph, &new, options.pattern_verbosity);
    if new.regions.is_empty() {
        return Ok(None);
    }
    let replaced = reports(graph, &new);
    let known = Known {
        shapes: new.descs.iter().map(|d| d.shape.clone()).collect(),
        dtypes: new.descs.iter().map(|d| d.dtype).collect(),
    };
    let moved = |(id, b): (&NodeId, &Bound)| Some((new.new_ids[id.index()]?, *b));
    let bound = bound.iter().filter_map(moved).collect();
    let mut state = GraphState::new(Arc::new(new.graph), Typed { known, bound });
    state.replaced = replaced;
    Ok(Some(state))
}

/// Whether to make a replacement. If there is a `name`, the replacement is made if the backend of that name has a kernel
/// for it. Otherwise it is made if any backend has a kernel for it, or if the chain runs on reference kernels anyway.
fn is_gain(backends: &[Arc<dyn Backend>], name: Option<&str>, proposal: &Proposal<'_>) -> bool {
    if let Some(name) = name {
        let mut named = backends.iter().filter(|backend| backend.name() == name);
        return named.any(|backend| backend.offer(&proposal.call).is_ok());
    }
    let is_real = |call: &OpCall<'_>| backends.iter().any(|backend| has_fast_kernel(&**backend, call));
    let runs = || backends.iter().any(|backend| backend.offer(&proposal.call).is_ok());
    is_real(&proposal.call) || (runs() && !proposal.members.iter().any(|member| is_real(&call(member))))
}

fn call<'a>(member: &Member<'a>) -> OpCall<'a> {
    let &Member { op, params, inputs, outputs, is_constant, .. } = member;
    OpCall { op, params, inputs, outputs, is_constant, is_train: false }
}

fn reports(graph: &Graph, new: &Partitioned) -> Vec<FusedReport> {
    let report = |region: &mxrs_graph::Region| {
        let node = new.graph.node(region.node);
        FusedReport {
            name: node.name.clone(),
            op: node.op_name(),
            pattern: region.pattern,
            replaced: region.members.iter().map(|id| graph.node(*id).name.clone()).collect(),
        }
    };
    new.regions.iter().map(report).collect()
}

fn log(graph: &Graph, new: &Partitioned, verbosity: u8) {
    let name = |id: NodeId| graph.node(id).name.as_str();
    if verbosity >= 2 {
        for fused in reports(graph, new) {
            tracing::info!("`{}` ({}) replaces {}", fused.name, fused.op, fused.replaced.join(", "));
        }
        for declined in &new.declined {
            tracing::info!(
                "no backend has a kernel for the {} chain from `{}` on",
                declined.pattern,
                name(declined.seed)
            );
        }
    }
    if let (1, Some(first)) = (verbosity, new.declined.first()) {
        let n = new.declined.len();
        tracing::info!("{n} chains of calls stay as they are, the first from `{}` on: no kernel", name(first.seed));
    }
}
