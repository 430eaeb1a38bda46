//! Tests common-subexpression elimination: the invariants G3, G16, G17 and G18, and calls that are never merged.

use super::{Key, eliminate_common};
use crate::passes::interpreter::{self as run, Choices, Given};
use crate::test_ops::smooth;
use crate::{Entry, GradientRequest, Graph, GraphBuilder, NodeId, gradient};
use mxrs_op::Attrs;
use proptest::prelude::*;
use std::collections::HashMap;

fn op_count(graph: &Graph, op: &str) -> usize {
    graph.nodes().iter().filter(|n| n.op_name() == op).count()
}

/// Checks G18 by comparing every pair: no two calls that may be merged are equal, unless one waits for a node after the
/// other.
fn nothing_left(graph: &Graph) -> bool {
    let is_head = |id: NodeId| graph.heads().iter().any(|h| h.node == id);
    let mut seen: HashMap<Key, NodeId> = HashMap::new();
    graph.iter().all(|(id, node)| match Key::of(node, is_head(id)) {
        None => true,
        Some(key) => match seen.insert(key, id) {
            None => true,
            Some(twin) => node.control_deps.iter().any(|d| *d > twin),
        },
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn g3_g16_g17_g18_hold(
        choices in prop::collection::vec((any::<u8>(), 0u16..6, 0u16..6, prop::bool::weighted(0.2)), 1..60),
        picked in prop::collection::vec(any::<u16>(), 1..6),
    ) {
        // Few operands, so that many calls are equal.
        let choices: Choices = choices;
        let ops = smooth::set();
        let graph = run::random_graph(&ops, &choices, &picked);
        let less = eliminate_common(&graph, &ops).unwrap();
        prop_assert_eq!(run::heads(&less, &Given::default()), run::heads(&graph, &Given::default()));
        prop_assert_eq!(run::run(&less, &Given::default()).variables, run::run(&graph, &Given::default()).variables);
        prop_assert!(nothing_left(&less), "{:?}", less);
        let again = eliminate_common(&less, &ops).unwrap();
        prop_assert_eq!(format!("{again:?}"), format!("{less:?}"));
        // Any order that respects the edges gives the same values, so no necessary edge was lost. Edges of the graph do not
        // order the readers of an auxiliary state against its writer, so in these graphs each state has only one reader.
        let order = run::any_order(&less, picked[0].into());
        prop_assert_eq!(order.len(), less.n_nodes());
        let any = run::run_in(&less, &Given::default(), order);
        let heads: Vec<_> = less.heads().iter().map(|h| any.entries[less.entry_id(*h).index()].clone()).collect();
        prop_assert_eq!(heads, run::heads(&graph, &Given::default()));

        // Checks the same for a training graph, and that its forward part stays in front.
        let request = GradientRequest::of_variables(&graph, ["x0", "x1", "x2"]).unwrap();
        let training = gradient(&graph, &ops, &request).unwrap();
        let merged = training.eliminate_common(&ops).unwrap();
        prop_assert_eq!(run::heads(&merged.graph, &Given::default()), run::heads(&training.graph, &Given::default()));
        prop_assert!(nothing_left(&merged.graph));
        prop_assert_eq!(merged.n_forward_nodes, less.n_nodes());
        for (a, b) in less.nodes().iter().zip(merged.graph.nodes()) {
            prop_assert_eq!((&a.name, &a.inputs, &a.control_deps), (&b.name, &b.inputs, &b.control_deps));
        }
        for (of, was) in merged.wanted.iter().zip(&training.wanted) {
            prop_assert_eq!(&merged.graph.node(of.node).name, &training.graph.node(was.node).name);
        }
    }
}

#[test]
fn effects_groups_and_parameters_keep_calls_apart() {
    let ops = smooth::set();
    let mut b = GraphBuilder::new();
    let x = Entry::new(b.add_variable("x", Attrs::new()), 0);
    let state = Entry::new(b.add_variable("state", Attrs::new()), 0);
    let none = Attrs::new;
    let mut heads = Vec::new();
    for i in 0..2 {
        let mut call = |op: &str, attrs: Attrs, inputs: Vec<Entry>| {
            let id = b.add_op(ops.get(op).unwrap(), format!("{op}{i}"), attrs, inputs).unwrap();
            heads.push(Entry::new(id, 0));
        };
        call("Noise", none(), vec![x]);
        call("Moving", none(), vec![x, state]);
        call("Tanh", Attrs::from([("__ctx_group__", ["a", "b"][i])]), vec![x]);
        call("Fan", Attrs::from([("num_outputs", ["2", "3"][i])]), vec![x]);
        // Different texts of equal parameters, and different annotations for learning rates, do not prevent merging.
        call("Sin", Attrs::from([("__lr_mult__", ["1", "2"][i])]), vec![x]);
        call("add_n", Attrs::from([("num_args", ["1", "01"][i])]), vec![x]);
    }
    b.set_heads(heads);
    let graph = b.build().unwrap();
    let less = eliminate_common(&graph, &ops).unwrap();
    for (op, n) in [("Noise", 2), ("Moving", 2), ("Tanh", 2), ("Fan", 2), ("Sin", 1), ("add_n", 1), ("_copy", 2)] {
        assert_eq!(op_count(&less, op), n, "{op}");
    }
    assert_eq!(less.output_names(), graph.output_names().iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn dependencies_are_united_and_never_close_a_cycle() {
    let ops = smooth::set();
    let mut b = GraphBuilder::new();
    let x = Entry::new(b.add_variable("x", Attrs::new()), 0);
    let mut call = |op: &str, name: &str, input: Entry, waits: &[NodeId]| {
        let id = b.add_op(ops.get(op).unwrap(), name, Attrs::new(), vec![input]).unwrap();
        b.add_control_deps(id, waits).unwrap();
        Entry::new(id, 0)
    };
    let first = call("Cos", "first", x, &[]);
    let a = call("Sin", "a", x, &[]);
    let same = call("Sin", "same", x, &[first.node]);
    let after_a = call("Tanh", "after_a", a, &[]);
    let later = call("Sin", "later", x, &[after_a.node]);
    b.set_heads(vec![first, a, same, after_a, later]);
    let graph = eliminate_common(&b.build().unwrap(), &ops).unwrap();
    assert_eq!(op_count(&graph, "Sin"), 2);
    assert_eq!(graph.node(graph.find("a").unwrap()).control_deps, [graph.find("first").unwrap()]);
    assert_eq!(graph.node(graph.find("same").unwrap()).op_name(), "_copy");
    assert_eq!(graph.node(graph.find("later").unwrap()).control_deps, [graph.find("after_a").unwrap()]);
}

/// An output that is listed twice stays listed twice, because the caller requested this. If two different outputs are
/// merged, a copy keeps them distinct.
#[test]
fn g17_outputs_listed_twice_and_merged() {
    let ops = smooth::set();
    let mut b = GraphBuilder::new();
    let x = Entry::new(b.add_variable("x", Attrs::new()), 0);
    let mut sin = |name: &str| Entry::new(b.add_op(ops.get("Sin").unwrap(), name, Attrs::new(), vec![x]).unwrap(), 0);
    let (p, q) = (sin("p"), sin("q"));
    b.set_heads(vec![p, q, p, q, x, x]);
    let graph = eliminate_common(&b.build().unwrap(), &ops).unwrap();
    assert_eq!(graph.output_names(), ["p_output", "q_output", "p_output", "q_output", "x", "x"]);
    assert_eq!((op_count(&graph, "Sin"), op_count(&graph, "_copy")), (1, 1));
}

/// Building a graph drops nodes that no output needs. So no pass is needed to drop them.
#[test]
fn what_no_output_needs_is_dropped_by_the_builder() {
    let ops = smooth::set();
    let mut b = GraphBuilder::new();
    let x = Entry::new(b.add_variable("x", Attrs::new()), 0);
    let y = Entry::new(b.add_op(ops.get("Sin").unwrap(), "y", Attrs::new(), vec![x]).unwrap(), 0);
    b.add_op(ops.get("Sin").unwrap(), "dead", Attrs::new(), vec![y]).unwrap();
    b.set_heads(vec![y]);
    assert_eq!(b.build_in_order().unwrap().0.n_nodes(), 2);
}
