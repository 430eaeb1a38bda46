//! The cheapest recomputation within a budget of bytes.

use super::chain::Stages;
use super::cuts::Line;
use super::sqrt::in_segments;
use super::{must_store, recompute};
use crate::{NodeId, TrainingGraph};
use mxrs_types::{Error, Result};

/// The number of candidates of each kind that are tried.
const N_STEPS: usize = 8;

/// Finds the cheapest choice of calls to store whose planned bytes are within `budget_bytes`. Three kinds of choices are
/// tried: recomputing the calls with the lowest cost per byte, checkpoints on a chain, and segments of several sizes.
/// Returns `None` if the graph is within the budget without recomputation.
///
/// `bytes` are the bytes of a call's outputs, `cost` is the work of a call in any unit, and `planned_bytes` is the
/// planner's result for a training graph.
///
/// # Errors
/// Fails if no choice is within the budget; the error contains the fewest bytes that were reached. Also fails if
/// `planned_bytes` fails.
pub fn within_budget(
    training: &TrainingGraph,
    budget_bytes: usize,
    bytes: impl Fn(NodeId) -> usize,
    cost: impl Fn(NodeId) -> f64,
    planned_bytes: impl Fn(&TrainingGraph) -> Result<usize>,
) -> Result<Option<TrainingGraph>> {
    let mut fewest = planned_bytes(training)?;
    if fewest <= budget_bytes {
        return Ok(None);
    }
    let mut candidates = Vec::new();
    for stored in choices(training, bytes, &cost) {
        let candidate = recompute(training, |id| stored[id.index()])?;
        // The forward nodes of `candidate` and `training` have the same ids, so `cost` may be called with ids of either.
        let work: f64 = candidate.graph.nodes().iter().filter_map(|n| n.clone_of).map(&cost).sum();
        candidates.push((work, candidate));
    }
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (_, candidate) in candidates {
        let planned = planned_bytes(&candidate)?;
        if planned <= budget_bytes {
            return Ok(Some(candidate));
        }
        fewest = fewest.min(planned);
    }
    Err(Error::invalid(
        "budget of bytes for a training step",
        budget_bytes,
        format!("at least {fewest}, the fewest that recomputation reaches"),
    ))
}

/// The choices to try, each as one flag per forward node: whether to store it.
fn choices(training: &TrainingGraph, bytes: impl Fn(NodeId) -> usize, cost: &impl Fn(NodeId) -> f64) -> Vec<Vec<bool>> {
    let line = Line::of(training, bytes);
    let n_nodes = training.n_forward_nodes;
    let mut choices = Vec::new();

    // Recomputes the calls in order of cost per saved byte. Each choice saves about `total / N_STEPS` bytes more than
    // the choice before it.
    let must = must_store(training);
    let mut cheap: Vec<usize> =
        (0..line.calls.len()).filter(|i| line.saved[*i] > 0 && !must[line.calls[*i].index()]).collect();
    let rate = |i: &usize| cost(line.calls[*i]) / line.saved[*i] as f64;
    cheap.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
    let total: usize = cheap.iter().map(|i| line.saved[*i]).sum();
    let mut stored = vec![true; n_nodes];
    let (mut freed, mut step) = (0, 1);
    for i in cheap {
        stored[line.calls[i].index()] = false;
        freed += line.saved[i];
        if freed >= total / N_STEPS * step {
            choices.push(stored.clone());
            step += 1;
        }
    }
    choices.push(stored);

    let stages = Stages::of(&line);
    let bounds = stages.bounds();
    let every = bounds.len().div_ceil(N_STEPS).max(1);
    let chosen = bounds.into_iter().step_by(every).filter_map(|b| stages.cheapest(b)).map(|(_, chosen)| chosen);
    for chosen in chosen.chain(std::iter::once(stages.best())) {
        let from = chosen.last().map_or(0, |stage| stages.positions[*stage] + 1);
        choices.push(line.stored(n_nodes, chosen.into_iter().map(|stage| stages.positions[stage]), from));
    }

    let total: usize = line.saved.iter().sum();
    for n_segments in (1..=N_STEPS as u32).map(|k| 1usize << k) {
        let (positions, from) = in_segments(&line, total / n_segments);
        choices.push(line.stored(n_nodes, positions, from));
    }
    choices
}
