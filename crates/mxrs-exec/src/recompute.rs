//! What the gradient computes again, as [`Recompute`] says: choices of the graph's passes, weighed by planned bytes.

use crate::bind::Known;
use crate::options::{BindOptions, Recompute};
use crate::planned::planned_arena_bytes;
use crate::program::Program;
use mxrs_graph::{
    GradientGraph, Mirroring, Node, NodeId, chain_checkpoints, first_again, mirror, recompute, recompute_if_smaller,
    sqrt_segments, within_budget,
};
use mxrs_op::TensorDesc;
use mxrs_types::{Result, ResultExt};
use rustc_hash::FxHashMap;

/// The graph with clones, `None` where it stays as it is. `forward` describes the entries of the forward part, `lower` makes
/// a program of a candidate.
///
/// # Errors
/// A budget that cannot be met, stating the least reachable; what `lower` and the planner fail with.
pub fn recomputed(
    joined: &GradientGraph,
    forward: &Known,
    options: &BindOptions,
    is_train: bool,
    lower: impl Fn(&GradientGraph) -> Result<Program>,
) -> Result<Option<GradientGraph>> {
    let planned = |candidate: &GradientGraph| planned_arena_bytes(&lower(candidate)?, &options.plan);
    // Forward entries have the same ids in the joined graph.
    let bytes = |id: NodeId| -> usize {
        let entries = joined.graph.output_ids(id).map(|e| e.index());
        entries.map(|e| TensorDesc::dense(forward.shapes[e].clone(), forward.dtypes[e]).size_bytes()).sum()
    };
    let rule = |node: &Node| mirroring(node, options.recompute == Recompute::Mirror, is_train);
    let choices = match options.recompute {
        Recompute::Off | Recompute::Light if is_annotated(joined) => vec![mirror(joined, rule, bytes)],
        Recompute::Off => return Ok(None),
        Recompute::Light if !has_again(joined) => return Ok(None),
        Recompute::Light => {
            let before = planned(joined)?;
            let stored = first_again(joined, before / 100 * LIGHT_PERCENT, bytes);
            let less = recompute(joined, |id| stored[id.index()])?;
            return Ok((planned(&less)? < before).then_some(less));
        }
        Recompute::Mirror => vec![mirror(joined, rule, bytes)],
        Recompute::Sqrt => vec![sqrt_segments(joined, bytes)],
        // Where much of the graph is no chain, cuts through several branches do better.
        Recompute::Chain => vec![chain_checkpoints(joined, bytes), sqrt_segments(joined, bytes)],
        Recompute::Budget(budget) => {
            let work = work(&lower(joined)?);
            let cost = |id: NodeId| work.get(&joined.graph.node(id).name).map_or(0.0, |work| *work as f64);
            return within_budget(joined, budget, bytes, cost, planned)
                .context(|| "recomputing within a budget of bytes");
        }
    };
    recompute_if_smaller(joined, &choices, planned)
}

/// Percent of the arena that the lightest mode wants to free.
const LIGHT_PERCENT: usize = 10;

/// Whether some operator says how its output is made again.
fn has_again(joined: &GradientGraph) -> bool {
    joined.graph.nodes()[..joined.n_forward_nodes].iter().any(|n| n.op.as_ref().is_some_and(|op| op.again.is_some()))
}

/// Whether a call says itself if it is computed again.
fn is_annotated(joined: &GradientGraph) -> bool {
    joined.graph.nodes()[..joined.n_forward_nodes].iter().any(|n| n.attrs.get("__force_mirroring__").is_some())
}

fn mirroring(node: &Node, wants_cheap: bool, is_train: bool) -> Mirroring {
    match node.call() {
        Some((op, params)) if (op.is_random)(params, is_train) => Mirroring::Never,
        Some((op, _)) if wants_cheap && !op.is_costly => Mirroring::Candidate,
        _ => Mirroring::Stored,
    }
}

/// Multiply-adds of each call, by name.
fn work(program: &Program) -> FxHashMap<String, u64> {
    program.steps.iter().map(|step| (step.name.clone(), step.multiply_adds)).collect()
}
