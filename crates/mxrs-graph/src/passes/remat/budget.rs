//! Recomputation as cheap as possible within a budget of bytes.

use super::chain::Stages;
use super::cuts::Line;
use super::sqrt::in_segments;
use super::{must_store, recompute};
use crate::{GradientGraph, NodeId};
use mxrs_types::{Error, Result};

/// Choices tried of each kind.
const N_STEPS: usize = 8;

/// Finds the choice of calls to store that costs least and whose planned bytes are within `budget_bytes`: among prefixes
/// of the calls in order of cost per byte, checkpoints on the chain, and segments of several sizes. `None` when the graph fits
/// as it is.
///
/// `bytes` are those of a call's outputs, `cost` the work of a call in any unit, `planned_bytes` what the planner says of a
/// gradient graph.
///
/// # Errors
/// When no choice fits: the fewest bytes reached. What `planned_bytes` fails with.
pub fn within_budget(
    joined: &GradientGraph,
    budget_bytes: usize,
    bytes: impl Fn(NodeId) -> usize,
    cost: impl Fn(NodeId) -> f64,
    planned_bytes: impl Fn(&GradientGraph) -> Result<usize>,
) -> Result<Option<GradientGraph>> {
    let mut fewest = planned_bytes(joined)?;
    if fewest <= budget_bytes {
        return Ok(None);
    }
    let mut candidates = Vec::new();
    for stored in choices(joined, bytes, &cost) {
        let candidate = recompute(joined, |id| stored[id.index()])?;
        // The forward ids of both graphs are the same.
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

/// Sets of calls to store, per forward node.
fn choices(joined: &GradientGraph, bytes: impl Fn(NodeId) -> usize, cost: &impl Fn(NodeId) -> f64) -> Vec<Vec<bool>> {
    let line = Line::of(joined, bytes);
    let n_nodes = joined.n_forward_nodes;
    let mut choices = Vec::new();

    // The calls in order of cost per byte saved; each step computes an equal share of the bytes again.
    let must = must_store(joined);
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
