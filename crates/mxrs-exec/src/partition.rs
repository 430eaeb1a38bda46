//! What a graph becomes before it is lowered for inference: calls on 16 bits calls on float32 where that is faster, chains of
//! calls one call, as [`BindOptions::patterns`] say.
//!
//! A replacement is taken where a backend has a kernel for it, or where none has one for what it replaces. Whatever goes
//! wrong on the way, the graph is lowered as it is.

use crate::bind::Known;
use crate::constants::constants;
use crate::fuse::lower_fused;
use crate::lower::{Bound, Source};
use crate::options::BindOptions;
use crate::program::Program;
use crate::report::FusedReport;
use crate::widen::{Described, lower_wide};
use mxrs_graph::{Graph, NodeId, Partitioned, Partitioning, partition};
use mxrs_op::{Backend, Member, OpCall, Proposal, Support, TensorDesc};
use mxrs_types::{Result, WriteReq};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Widens and partitions a graph and chooses kernels and layouts for inference.
///
/// # Errors
/// No backend runs some operator.
pub fn lower_inference(
    graph: &Graph,
    known: &Known,
    bound: &FxHashMap<NodeId, Bound>,
    options: &BindOptions,
) -> Result<Program> {
    let lower = |(graph, known, bound): Described<'_>| lower_typed(graph, known, bound, options);
    lower_wide((graph, known, bound), options, false, lower)
}

fn lower_typed(
    graph: &Graph,
    known: &Known,
    bound: &FxHashMap<NodeId, Bound>,
    options: &BindOptions,
) -> Result<Program> {
    if !options.patterns.is_empty() {
        match lower_partitioned(graph, known, bound, options) {
            Ok(Some(program)) => return Ok(program),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the graph is not partitioned"),
        }
    }
    lower_whole(graph, known, bound, options)
}

fn lower_whole(
    graph: &Graph,
    known: &Known,
    bound: &FxHashMap<NodeId, Bound>,
    options: &BindOptions,
) -> Result<Program> {
    let n_heads = graph.heads().len();
    let source = Source {
        graph,
        n_forward_nodes: graph.n_nodes(),
        shapes: &known.shapes,
        dtypes: &known.dtypes,
        bound,
        output_reqs: &vec![WriteReq::Write; n_heads],
        n_forward_heads: n_heads,
        is_train: false,
    };
    lower_fused(source, options)
}

/// `None` where there is nothing to replace.
fn lower_partitioned(
    graph: &Graph,
    known: &Known,
    bound: &FxHashMap<NodeId, Bound>,
    options: &BindOptions,
) -> Result<Option<Program>> {
    let entries = known.shapes.iter().zip(&known.dtypes);
    let descs: Vec<TensorDesc> = entries.map(|(shape, dtype)| TensorDesc::dense(shape.clone(), *dtype)).collect();
    let is_constant = constants(graph, bound);
    let with = Partitioning {
        patterns: &options.patterns,
        ops: &options.ops,
        descs: &descs,
        is_constant: &is_constant,
        accept: &|proposal| is_gain(&options.backends, proposal),
    };
    let new = partition(graph, &with)?;
    log(graph, &new, options.pattern_verbosity);
    if new.regions.is_empty() {
        return Ok(None);
    }
    let known = Known {
        shapes: new.descs.iter().map(|d| d.shape.clone()).collect(),
        dtypes: new.descs.iter().map(|d| d.dtype).collect(),
    };
    let moved = |(id, b): (&NodeId, &Bound)| Some((new.new_ids[id.index()]?, *b));
    let bound = bound.iter().filter_map(moved).collect();
    let mut program = lower_whole(&new.graph, &known, &bound, options)?;
    program.fused = reports(graph, &new);
    program.rewritten = program.rewritten.or(Some(Arc::new(new.graph)));
    Ok(Some(program))
}

/// Cost of a call on the backend that would run it; `None` where no backend runs it.
fn cost(backends: &[Arc<dyn Backend>], call: &OpCall<'_>) -> Option<f64> {
    let costs = backends.iter().filter_map(|backend| match backend.supports(call) {
        Support::Yes { cost } => Some(cost),
        Support::No(_) => None,
    });
    costs.min_by(f64::total_cmp)
}

/// Whether a backend with a better kernel than the reference runs a call.
pub(crate) fn is_fast(backends: &[Arc<dyn Backend>], call: &OpCall<'_>) -> bool {
    let is_fast = |support| matches!(support, Support::Yes { cost } if cost < Support::REFERENCE_COST);
    backends.iter().any(|backend| is_fast(backend.supports(call)))
}

/// Whether some backend has a kernel for the replacement, or the chain runs on reference kernels anyway.
fn is_gain(backends: &[Arc<dyn Backend>], proposal: &Proposal<'_>) -> bool {
    let is_real = |call: &OpCall<'_>| cost(backends, call).map(|cost| cost < Support::REFERENCE_COST);
    match is_real(&proposal.call) {
        None => false,
        Some(true) => true,
        Some(false) => !proposal.members.iter().any(|member| is_real(&call(member)) == Some(true)),
    }
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
