//! Tests fusion on random graphs: F1 to F5 and G3, with random classes, refused sets and types.

use super::*;
use crate::passes::interpreter::{self as run, Choices, Given};
use crate::test_ops::smooth;
use crate::{GradientRequest, gradient, recompute};
use mxrs_op::{FUSED_OP, Fused, fused_op};
use proptest::prelude::*;
use std::collections::BTreeSet;

type Checked = std::result::Result<(), TestCaseError>;

/// The parts of a fusion request that vary. The class of a call, and whether a set is refused, are computed from node
/// ids and `salt`.
struct Asked {
    n_forward_nodes: usize,
    reach: Reach,
    salt: u64,
}

impl Asked {
    fn class(&self, id: NodeId) -> Option<u64> {
        match (id.index() as u64).wrapping_add(self.salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60 {
            0 => None,
            1 => Some(1),
            _ => Some(0),
        }
    }

    fn denies(&self, members: &[NodeId]) -> bool {
        (members[0].index() as u64 ^ self.salt).is_multiple_of(4)
    }

    fn fuse(&self, graph: &Graph) -> Option<FusedGraph> {
        let dtype = |i: usize| if (i as u64 ^ self.salt).is_multiple_of(3) { DType::F64 } else { DType::F16 };
        fuse_pointwise(
            graph,
            &FusionRequest {
                op: &Arc::new(fused_op()),
                n_forward_nodes: self.n_forward_nodes,
                shapes: &vec![Shape::from([run::LENGTH]); graph.n_entries()],
                dtypes: &(0..graph.n_entries()).map(dtype).collect::<Vec<_>>(),
                is_train: true,
                reach: self.reach,
                class: &|id| self.class(id),
                accept: &|set| !self.denies(set.members),
            },
        )
        .expect("a well-formed request")
    }
}

/// For each node, the nodes that must run earlier: its inputs and control dependencies, and the ancestors of these.
fn ancestors(graph: &Graph) -> Vec<BTreeSet<NodeId>> {
    let mut all: Vec<BTreeSet<NodeId>> = Vec::new();
    for node in graph.nodes() {
        let before = node.inputs.iter().map(|e| e.node).chain(node.control_deps.iter().copied());
        all.push(before.flat_map(|b| all[b.index()].iter().copied().chain([b]).collect::<Vec<_>>()).collect());
    }
    all
}

/// Checks every rule of a fused graph.
fn check(old: &Graph, new: &FusedGraph, asked: &Asked) -> Checked {
    let (before, after) = (ancestors(old), ancestors(&new.graph));
    let is_forward = |id: &NodeId| id.index() < asked.n_forward_nodes;
    let mut n_gone = 0;
    for members in &new.sets {
        // F1: a node between two members is a member.
        for id in (0..old.n_nodes()).map(NodeId::new).filter(|id| !members.contains(id)) {
            let reads_it = members.iter().any(|m| before[id.index()].contains(m));
            let feeds_it = members.iter().any(|m| before[m.index()].contains(&id));
            prop_assert!(!(reads_it && feeds_it), "F1: {} is between {:?}", id, members);
        }
        // F3: all members belong to the forward part, or none does. All members also have the same class.
        prop_assert!(members.iter().all(is_forward) || !members.iter().any(is_forward), "F3: {:?}", members);
        let class = asked.class(members[0]);
        prop_assert!(!asked.denies(members));
        prop_assert!(class.is_some() && members.iter().all(|m| asked.class(*m) == class));
        // F4: at least two calls are fused.
        prop_assert!(members.len() >= 2, "F4");
        n_gone += members.len() - 1;
        let fused = new.graph.node(new.nodes[members[0].index()].expect("a set is read"));
        prop_assert!(fused.op_name() == FUSED_OP && members.len() <= MAX_CALLS && fused.n_outputs <= MAX_OUTPUTS);
        prop_assert!(fused.inputs.len() + fused.n_outputs <= MAX_TENSORS);
        prop_assert_eq!(fused.params.as_ref().expect("a call").get::<Fused>().calls.len(), members.len());
        prop_assert!(members.iter().all(|m| new.nodes[m.index()] == new.nodes[members[0].index()]));
    }
    prop_assert_eq!(new.graph.n_nodes(), old.n_nodes() - n_gone, "F4");
    // G3 and edges: a node that had to run before another node still runs before it, and the forward part needs nothing of
    // the gradient.
    for (id, node) in old.iter() {
        let here = new.nodes[id.index()].expect("nothing is dropped");
        prop_assert_eq!(here.index() < new.n_forward_nodes, is_forward(&id), "G3");
        for dep in node.inputs.iter().map(|e| &e.node).chain(&node.control_deps) {
            let there = new.nodes[dep.index()].expect("nothing is dropped");
            prop_assert!(there == here || after[here.index()].contains(&there), "{} waits for {}", node.name, dep);
        }
    }
    for (id, node) in new.graph.iter() {
        let deps = node.inputs.iter().map(|e| e.node).chain(node.control_deps.iter().copied());
        prop_assert!(deps.into_iter().all(|dep| dep < id), "ids are an order of execution");
    }
    // F5: the heads still exist, and every entry has the value of its old entry.
    prop_assert_eq!(new.entries.len(), new.graph.n_entries());
    for (head, was) in new.graph.heads().iter().zip(old.heads()) {
        prop_assert_eq!(new.entries[new.graph.entry_id(*head).index()], old.entry_id(*was), "F5");
    }
    // F2: equal bits, in id order and in any order that the edges allow.
    let expected = run::run(old, &Given::default());
    let order = run::any_order(&new.graph, asked.salt);
    prop_assert_eq!(order.len(), new.graph.n_nodes(), "F1: no cycle");
    for found in [run::run(&new.graph, &Given::default()), run::run_in(&new.graph, &Given::default(), order)] {
        for (value, was) in found.entries.iter().zip(&new.entries) {
            let (maker, _) = old.entry_at(*was);
            // In another order an auxiliary state is rewritten at another time, so its value may differ.
            if !old.node(maker).is_variable() {
                prop_assert_eq!(value, &expected.entries[was.index()], "F2: {}", old.entry_name(*was));
            }
        }
        prop_assert_eq!(&found.variables, &expected.variables, "F2: states");
    }
    Ok(())
}

fn picked() -> impl Strategy<Value = (Choices, Vec<u16>)> {
    let choices = prop::collection::vec(any::<(u8, u16, u16, bool)>(), 1..60);
    (choices, prop::collection::vec(any::<u16>(), 1..4))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn f1_to_f5_hold_on_forward_graphs((choices, heads) in picked(), reach in 0usize..3, salt in any::<u64>()) {
        let graph = run::random_graph(&smooth::set(), &choices, &heads);
        let asked = Asked { n_forward_nodes: graph.n_nodes(), reach: Reach::ALL[reach], salt };
        if let Some(fused) = asked.fuse(&graph) {
            check(&graph, &fused, &asked)?;
        }
    }

    #[test]
    fn f1_to_f5_and_g3_hold_on_gradient_graphs(
        (choices, heads) in picked(),
        stored in prop::collection::vec(any::<bool>(), 16),
        reach in 0usize..3,
        salt in any::<u64>(),
    ) {
        let ops = smooth::set();
        let graph = run::random_graph(&ops, &choices, &heads);
        let wanted = GradientRequest::of_variables(&graph, ["x0", "x1", "x2"])?;
        let all = gradient(&graph, &ops, &wanted)?;
        let again = recompute(&all, |id| stored[id.index() % stored.len()])?;
        for training in [all, again] {
            let asked = Asked { n_forward_nodes: training.n_forward_nodes, reach: Reach::ALL[reach], salt };
            if let Some(fused) = asked.fuse(&training.graph) {
                check(&training.graph, &fused, &asked)?;
            }
        }
    }
}
