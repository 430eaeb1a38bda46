//! Partitioning for inference: replaces chains of calls by fewer calls, as [patterns](Pattern) define.
//!
//! A chain grows from its first call, the seed. Calls are tried as seeds in order of execution. A chain continues as long as
//! a single call reads the result of its last call, or a pair of calls that reduces to one result, as in `x * sigmoid(x)`.
//! So the chain ends at an output that is a head, that further calls read, or for which a call waits without reading it. It
//! also ends before a call that belongs to another chain. If the longest chain is not accepted, shorter chains from the same
//! seed are proposed. The replacement takes the position of the chain's last call.
//!
//! So a chain is closed: data and control dependencies leave it only at its end. A path that leaves it never returns, and no
//! search for cycles is needed:
//! - G19 the new graph has no cycle;
//! - G20 chains are disjoint and convex: a path from one call of a chain to another stays inside;
//! - G21 the outputs of the graph keep their number, order, names and, within rounding, their values.
//!
//! Calls of a gradient are not changed. Variables keep their order, and auxiliary states stay auxiliary states.

mod emit;
mod grow;

use super::names::UniqueNames;
use super::rewrite::{Rewrite, Rewritten};
use crate::{Graph, NodeId};
use emit::Emission;
use grow::{Chain, Grower};
use mxrs_op::{OpSet, Pattern, Proposal, TensorDesc};
use mxrs_types::{Device, Result};

/// The input of partitioning.
pub struct Partitioning<'a> {
    /// The patterns to search for; a seed takes the first pattern that matches.
    pub patterns: &'a [Pattern],
    /// The operators that replacements call.
    pub ops: &'a OpSet,
    /// The shape and type of every entry.
    pub descs: &'a [TensorDesc],
    /// For each node, whether its outputs are the same in every run.
    pub is_constant: &'a [bool],
    /// Whether to accept a replacement on the [device](crate::Node::device) of its chain.
    pub accept: &'a dyn Fn(&Proposal<'_>, Option<Device>) -> bool,
}

/// A chain that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Name of the pattern.
    pub pattern: &'static str,
    /// The calls of the chain in the old graph, in order.
    pub members: Vec<NodeId>,
    /// The node of the new graph that makes the output of the chain.
    pub node: NodeId,
}

/// A chain of which no part was replaced, because no proposal was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declined {
    /// Name of the pattern.
    pub pattern: &'static str,
    /// The first call of the chain in the old graph.
    pub seed: NodeId,
}

/// A partitioned graph.
pub struct Partitioned {
    /// The new graph.
    pub graph: Graph,
    /// The shape and type of every entry of the new graph.
    pub descs: Vec<TensorDesc>,
    /// The new id of each old node; `None` for calls that are not in the new graph.
    pub new_ids: Vec<Option<NodeId>>,
    /// The chains that were replaced.
    pub regions: Vec<Region>,
    /// The chains that were not replaced.
    pub declined: Vec<Declined>,
}

/// Replaces the chains of a graph.
///
/// # Errors
/// Fails if the replacement of a pattern calls an operator that `ops` does not have, or with impossible parameters.
pub fn partition(graph: &Graph, with: &Partitioning<'_>) -> Result<Partitioned> {
    let mut grower = Grower::new(graph, with);
    let mut chosen: Vec<Option<Emission>> = (0..graph.n_nodes()).map(|_| None).collect();
    let mut is_gone = vec![false; graph.n_nodes()];
    let mut declined = Vec::new();
    for seed in (0..graph.n_nodes()).map(NodeId::new) {
        for pattern in with.patterns {
            let Some(chain) = grower.grow(pattern, seed) else { continue };
            match longest_accepted(graph, with, pattern, &chain)? {
                None => declined.push(Declined { pattern: pattern.name, seed }),
                Some(emission) => {
                    let (last, inner) = emission.last_and_inner();
                    inner.iter().for_each(|id| is_gone[id.index()] = true);
                    grower.take(&emission.members);
                    chosen[last.index()] = Some(emission);
                    break;
                }
            }
        }
    }
    let mut names = UniqueNames::of(graph);
    let mut rewrite = Rewrite::of(graph);
    let mut made = Vec::new();
    let mut regions = Vec::new();
    for (id, old) in graph.iter().filter(|(id, _)| !is_gone[id.index()]) {
        match chosen[id.index()].take() {
            None => {
                let node = rewrite.moved(old);
                rewrite.put(id, node);
                made.push(graph.output_ids(id).map(|e| with.descs[e.index()].clone()).collect());
            }
            Some(emission) => {
                let node = emission.emit(graph, &mut rewrite, &mut names, &mut made)?;
                regions.push(Region { pattern: emission.pattern, members: emission.members, node });
            }
        }
    }
    rewrite.end_forward();
    let heads = graph.heads().iter().map(|head| rewrite.entry(*head)).collect();
    finish(rewrite.finish(heads)?, made, regions, declined)
}

/// The replacement of the longest part of the chain, from its seed on, for which a replacement is accepted.
fn longest_accepted(
    graph: &Graph,
    with: &Partitioning<'_>,
    pattern: &Pattern,
    chain: &Chain,
) -> Result<Option<Emission>> {
    for n_members in (2..=chain.calls.len()).rev().filter(|n| !chain.calls[n - 1].is_open) {
        if let Some(emission) = Emission::propose(graph, with, pattern, &chain.calls[..n_members])? {
            return Ok(Some(emission));
        }
    }
    Ok(None)
}

/// Assigns the descriptions in `made` to the nodes of the new graph. `made` lists all added nodes in order, but the graph
/// lacks the nodes that no head needs.
fn finish(
    rewritten: Rewritten,
    made: Vec<Vec<TensorDesc>>,
    mut regions: Vec<Region>,
    declined: Vec<Declined>,
) -> Result<Partitioned> {
    let Rewritten { graph, new_ids, of_added, .. } = rewritten;
    let mut of_node: Vec<Vec<TensorDesc>> = vec![Vec::new(); graph.n_nodes()];
    for (descs, id) in made.into_iter().zip(&of_added) {
        if let Some(id) = id {
            of_node[id.index()] = descs;
        }
    }
    let is_left = |region: &mut Region| match of_added[region.node.index()] {
        Some(node) => {
            region.node = node;
            true
        }
        None => false,
    };
    regions.retain_mut(is_left);
    Ok(Partitioned { graph, descs: of_node.into_iter().flatten().collect(), new_ids, regions, declined })
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod toy;
