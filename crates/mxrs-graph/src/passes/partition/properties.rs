//! Tests partitioning on random graphs: no cycles (G19), disjoint and convex chains (G20), and equal outputs (G21).

use super::Partitioned;
use super::toy::{Choices, partitioned, partitioned_with, pattern, random_graph};
use crate::passes::interpreter::{Given, any_order, heads, run_in};
use crate::test_ops::smooth;
use crate::{Graph, NodeId};
use mxrs_op::Proposal;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// For each node, the nodes that can be reached from it through data and control dependencies, including itself.
fn reachable(graph: &Graph) -> Vec<BTreeSet<NodeId>> {
    let mut from: Vec<BTreeSet<NodeId>> = (0..graph.n_nodes()).map(|i| BTreeSet::from([NodeId::new(i)])).collect();
    for (id, node) in graph.iter().rev() {
        let after = from[id.index()].clone();
        let before = node.inputs.iter().map(|e| e.node).chain(node.control_deps.iter().copied());
        before.for_each(|b| from[b.index()].extend(&after));
    }
    from
}

fn check(old: &Graph, new: &Partitioned, salt: u64) -> Result<(), TestCaseError> {
    // G19: every node comes after what it needs.
    for (id, node) in new.graph.iter() {
        prop_assert!(node.inputs.iter().all(|e| e.node < id) && node.control_deps.iter().all(|d| *d < id));
    }
    // G20: chains are disjoint and convex.
    let mut taken = BTreeSet::new();
    let reach = reachable(old);
    for region in &new.regions {
        prop_assert!(region.members.len() > 1);
        for member in &region.members {
            prop_assert!(taken.insert(*member), "{member} is in two chains");
        }
        let inside: BTreeSet<NodeId> = region.members.iter().copied().collect();
        for outside in (0..old.n_nodes()).map(NodeId::new).filter(|id| !inside.contains(id)) {
            let is_left = inside.iter().any(|m| reach[m.index()].contains(&outside));
            let comes_back = inside.iter().any(|m| reach[outside.index()].contains(m));
            prop_assert!(!(is_left && comes_back), "a path through {outside}");
        }
    }
    // G21: the outputs are the same, also in any other order of execution.
    prop_assert_eq!(old.output_names(), new.graph.output_names());
    let expected = heads(old, &Given::default());
    let run = run_in(&new.graph, &Given::default(), any_order(&new.graph, salt));
    let got: Vec<&Vec<f64>> = new.graph.heads().iter().map(|h| &run.entries[new.graph.entry_id(*h).index()]).collect();
    for (a, b) in expected.iter().flatten().zip(got.into_iter().flatten()) {
        prop_assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{} became {}", a, b);
    }
    prop_assert_eq!(new.descs.len(), new.graph.n_entries());
    // A node that had to run before another node still runs before it.
    let reach_new = reachable(&new.graph);
    let names: BTreeSet<&str> = new.graph.nodes().iter().map(|n| n.name.as_str()).collect();
    for (id, node) in old.iter().filter(|(_, n)| names.contains(n.name.as_str())) {
        for after in reach[id.index()].iter().map(|a| &old.node(*a).name).filter(|a| names.contains(a.as_str())) {
            let find = |name: &str| new.graph.find(name).expect("it is there");
            let is_before = reach_new[find(&node.name).index()].contains(&find(after));
            prop_assert!(is_before, "{} no longer comes before {}", node.name, after);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn g19_g22_g23_hold(
        choices in prop::collection::vec(any::<(u8, u16, u16, bool)>(), 1..40),
        chosen in prop::collection::vec(any::<u16>(), 0..4),
        salt in any::<u64>(),
    ) {
        let graph = random_graph(&choices, &chosen);
        let new = partitioned(&graph);
        check(&graph, &new, salt)?;
        // A second run finds no chain to replace. The stage for constant shifts is removed from the pattern, because
        // the calls that fold a shift into a `Scale` can match the pattern again.
        let mut joins = pattern();
        joins.then.remove(0);
        let again = partitioned_with(&new.graph, &smooth::set(), &[joins], &|_| true);
        prop_assert_eq!(again.regions.len(), 0, "{:?}", new.graph);
        // G19 to G21 also hold if some proposals are rejected.
        let picky = |p: &Proposal<'_>| (salt >> (p.members.len() + p.call.inputs.len())) & 1 == 0;
        check(&graph, &partitioned_with(&graph, &smooth::set(), &[pattern()], &picky), salt)?;
    }
}

/// The random graphs contain chains of every length.
#[test]
fn random_graphs_have_long_chains() {
    let mut lengths = BTreeSet::new();
    let mut state = 1u64;
    for _ in 0..200 {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as u16
        };
        let choices: Choices = (0..40).map(|_| (next() as u8, next(), next(), next() % 2 == 0)).collect();
        let new = partitioned(&random_graph(&choices, &[next()]));
        lengths.extend(new.regions.iter().map(|r| r.members.len()));
    }
    assert_eq!(lengths, BTreeSet::from([2, 3, 4]));
}
