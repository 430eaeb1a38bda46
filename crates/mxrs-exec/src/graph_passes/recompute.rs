//! Recomputation: the gradient computes some activations again instead of keeping them in memory.
//!
//! - Needs a training graph.
//! - Promises the same values, gradients, auxiliary states and random numbers, in an arena that is not larger. Candidates
//!   are lowered and planned, and the pass compares their bytes.
//! - Switch: [`BindOptions::recompute`] (`MXRS_REMAT`). With a budget of bytes, binding fails if this pass fails.

use crate::bind::Known;
use crate::options::{BindOptions, Recompute};
use crate::pipeline::{Context, GraphState};
use crate::program::Program;
use crate::program_passes::plan_memory::planned_arena_bytes;
use mxrs_graph::{
    Mirroring, Node, NodeId, TrainingGraph, chain_checkpoints, first_recomputed, mirror, recompute,
    recompute_if_smaller, sqrt_segments, within_budget,
};
use mxrs_op::TensorDesc;
use mxrs_types::{Result, ResultExt};
use rustc_hash::FxHashMap;

/// Clones the calls that are to be computed again, if that makes the planned arena smaller.
///
/// # Errors
/// Returns an error if a budget cannot be met; the error gives the smallest budget that can. Returns an error if a
/// candidate cannot be lowered or planned.
pub fn run(state: &GraphState, context: &Context<'_>) -> Result<Option<GraphState>> {
    if state.gradients.is_empty() {
        return Ok(None);
    }
    let forward = &state.typed(context.options)?.known;
    let lower = |candidate: &TrainingGraph| state.lower_candidate(candidate, context);
    let less = recomputed(&state.graph, forward, context.options, context.is_train, lower)?;
    Ok(less.map(|graph| state.with_graph(graph)))
}

/// The graph in which the calls to be computed again are cloned, or `None` if the graph stays as it is. `known`
/// describes the entries of the graph, and `lower` lowers a candidate graph to a program.
fn recomputed(
    graph: &TrainingGraph,
    known: &Known,
    options: &BindOptions,
    is_train: bool,
    lower: impl Fn(&TrainingGraph) -> Result<Program>,
) -> Result<Option<TrainingGraph>> {
    let planned = |candidate: &TrainingGraph| planned_arena_bytes(&lower(candidate)?, &options.plan);
    let bytes = |id: NodeId| -> usize {
        let entries = graph.graph.output_ids(id).map(|e| e.index());
        entries.map(|e| TensorDesc::dense(known.shapes[e].clone(), known.dtypes[e]).size_bytes()).sum()
    };
    let rule = |node: &Node| mirroring(node, options.recompute == Recompute::Mirror, is_train);
    let choices = match options.recompute {
        Recompute::Off | Recompute::Light if is_annotated(graph) => vec![mirror(graph, rule, bytes)],
        Recompute::Off => return Ok(None),
        Recompute::Light if !has_recomputation(graph) => return Ok(None),
        Recompute::Light => {
            let before = planned(graph)?;
            let stored = first_recomputed(graph, before / 100 * LIGHT_PERCENT, bytes);
            let less = recompute(graph, |id| stored[id.index()])?;
            return Ok((planned(&less)? < before).then_some(less));
        }
        Recompute::Mirror => vec![mirror(graph, rule, bytes)],
        Recompute::Sqrt => vec![sqrt_segments(graph, bytes)],
        // The second candidate cuts the graph into segments across several branches. It saves more memory if much of the
        // graph is not a chain.
        Recompute::Chain => vec![chain_checkpoints(graph, bytes), sqrt_segments(graph, bytes)],
        Recompute::Budget(budget) => {
            let work = work(&lower(graph)?);
            let cost = |id: NodeId| work.get(&graph.graph.node(id).name).map_or(0.0, |work| *work as f64);
            return within_budget(graph, budget, bytes, cost, planned)
                .context(|| "recomputing within a budget of bytes");
        }
    };
    recompute_if_smaller(graph, &choices, planned)
}

/// Percent of the arena that `Recompute::Light` tries to free.
const LIGHT_PERCENT: usize = 10;

/// Whether some operator of the forward graph declares how its output can be recomputed.
fn has_recomputation(graph: &TrainingGraph) -> bool {
    graph.graph.nodes()[..graph.n_forward_nodes].iter().any(|n| n.op.as_ref().is_some_and(|op| op.recompute.is_some()))
}

/// Whether some forward call has the attribute `__force_mirroring__`.
fn is_annotated(graph: &TrainingGraph) -> bool {
    graph.graph.nodes()[..graph.n_forward_nodes].iter().any(|n| n.attrs.get("__force_mirroring__").is_some())
}

fn mirroring(node: &Node, wants_cheap: bool, is_train: bool) -> Mirroring {
    match node.call() {
        Some((op, params)) if op.is_custom || (op.is_random)(params, is_train) => Mirroring::Never,
        // A second copy between devices would cost more than it saves.
        Some((op, _)) if wants_cheap && !op.is_costly && !op.crosses_devices => Mirroring::Candidate,
        _ => Mirroring::Stored,
    }
}

/// Multiply-adds of each call, by name.
fn work(program: &Program) -> FxHashMap<String, u64> {
    program.steps.iter().map(|step| (step.name.clone(), step.multiply_adds)).collect()
}
