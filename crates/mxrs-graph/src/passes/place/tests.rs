//! Tests of placement: nodes follow their groups, and data crosses devices only through copies.

use super::place;
use crate::passes::interpreter::{self as run, Choices, Given};
use crate::test_ops::smooth;
use crate::{Entry, GradientRequest, Graph, GraphBuilder, NodeId, TrainingGraph, gradient};
use indexmap::IndexMap;
use mxrs_op::{Attrs, OpSet};
use mxrs_types::Device;
use proptest::prelude::*;

const HERE: Device = Device::cpu(0);
const LEFT: Device = Device::gpu(0);
const RIGHT: Device = Device::gpu(1);

fn groups() -> IndexMap<String, Device> {
    IndexMap::from([("left".to_string(), LEFT), ("right".to_string(), RIGHT)])
}

/// The placed graph with the copies that it needs.
fn with_copies(graph: &Graph, ops: &OpSet) -> TrainingGraph {
    let forward = TrainingGraph {
        graph: place(graph, HERE, &groups()).unwrap(),
        n_forward_nodes: graph.n_nodes(),
        n_forward_heads: graph.heads().len(),
        wanted: Vec::new(),
        head_grads: vec![None; graph.heads().len()],
    };
    forward.with_copies(ops, HERE).unwrap().unwrap_or(forward)
}

/// Adds calls `(operator, name, group, inputs)`, the last of which is the head.
fn net(ops: &OpSet, calls: &[(&str, &str, &str, &[&str])]) -> Graph {
    let mut b = GraphBuilder::new();
    let mut made: IndexMap<String, NodeId> = IndexMap::new();
    for (op, name, group, inputs) in calls {
        for input in *inputs {
            if !made.contains_key(*input) {
                made.insert(input.to_string(), b.add_variable(*input, Attrs::new()));
            }
        }
        let attrs = if group.is_empty() { Attrs::new() } else { Attrs::from([("__ctx_group__", *group)]) };
        let inputs = inputs.iter().map(|i| Entry::new(made[*i], 0)).collect();
        made.insert(name.to_string(), b.add_op(ops.get(op).unwrap(), *name, attrs, inputs).unwrap());
    }
    b.set_heads(vec![Entry::new(*made.last().unwrap().1, 0)]);
    b.build().unwrap()
}

#[test]
fn nodes_follow_groups_and_neighbors() {
    let ops = smooth::set();
    let calls: [(&str, &str, &str, &[&str]); 5] = [
        ("Sin", "before", "", &["x"]),
        ("Tanh", "a", "left", &["before"]),
        ("Sin", "follows", "", &["a"]),
        ("Moving", "m", "right", &["follows", "state"]),
        ("Mul", "y", "", &["m", "follows"]),
    ];
    let graph = net(&ops, &calls);
    let placed = with_copies(&graph, &ops).graph;
    let at = |name: &str| placed.node(placed.find(name).unwrap()).device;
    let expected = [("x", HERE), ("before", HERE), ("a", LEFT), ("follows", LEFT), ("m", RIGHT), ("state", RIGHT)];
    expected.iter().for_each(|(name, device)| assert_eq!(at(name), Some(*device), "{name}"));
    assert_eq!(at("y"), Some(RIGHT));
    // `follows` is read twice on the right device, and copied once.
    let copies: Vec<&str> =
        placed.nodes().iter().filter(|n| n.op_name() == "_CrossDeviceCopy").map(|n| n.name.as_str()).collect();
    assert_eq!(copies, ["before_0_copy", "follows_0_copy"]);
    assert_eq!([at("before_0_copy"), at("follows_0_copy")], [Some(LEFT), Some(RIGHT)]);
}

#[test]
fn what_cannot_be_placed_is_named() {
    let ops = smooth::set();
    let graph = net(&ops, &[("Sin", "y", "middle", &["x"])]);
    let text = place(&graph, HERE, &groups()).unwrap_err().to_string();
    assert!(text.contains("`y`") && text.contains("`middle`") && text.contains("left, right"), "{text}");
    let calls: [(&str, &str, &str, &[&str]); 2] =
        [("Moving", "m", "left", &["x", "state"]), ("Moving", "n", "right", &["m", "state"])];
    let text = place(&net(&ops, &calls), HERE, &groups()).unwrap_err().to_string();
    assert!(text.contains("`state`") && text.contains("`n`") && text.contains("gpu(1)"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn g3_holds_and_values_stay(
        choices in prop::collection::vec(any::<(u8, u16, u16, bool)>(), 1..50),
        marks in prop::collection::vec(0u8..4, 200),
    ) {
        let ops = smooth::set();
        let choices: Choices = choices;
        let plain = run::random_graph(&ops, &choices, &[7]);
        // The same graph with groups written on some calls.
        let mut b = GraphBuilder::new();
        for (id, node) in plain.iter() {
            let mut node = node.clone();
            let group = ["left", "right"].get(marks[id.index() % marks.len()] as usize);
            if let Some(group) = group.filter(|_| !node.is_variable()) {
                node.attrs.set("__ctx_group__", *group);
            }
            b.push(node);
        }
        b.set_heads(plain.heads().to_vec());
        let graph = b.build().unwrap();
        let wanted = ["x0", "x1", "x2"];
        let differentiated = |graph: &Graph| {
            gradient(graph, &ops, &GradientRequest::of_variables(graph, wanted).unwrap()).unwrap()
        };
        let plain = differentiated(&graph);
        let placed = differentiated(&place(&graph, HERE, &groups()).unwrap());
        let placed = placed.with_copies(&ops, HERE).unwrap().unwrap_or(placed);
        let on = |id: NodeId| placed.graph.node(id).device.unwrap();
        for (id, node) in placed.graph.iter() {
            let is_copy = node.op_name() == "_CrossDeviceCopy";
            prop_assert!(node.inputs.iter().all(|e| (on(e.node) != on(id)) == is_copy));
            let is_sum = node.op_name() == "add_n" || node.op_name() == "_grad_add";
            if let Some(forward) = node.backward_of.filter(|_| !is_copy && !is_sum) {
                prop_assert_eq!(on(forward), on(id));
            }
            prop_assert_eq!(placed.is_forward(id), node.backward_of.is_none());
        }
        for (at, wanted) in placed.wanted.iter().enumerate() {
            prop_assert_eq!(on(wanted.node), on(placed.graph.heads()[placed.n_forward_heads + at].node));
        }
        prop_assert_eq!(run::heads(&placed.graph, &Given::default()), run::heads(&plain.graph, &Given::default()));
        let forward = with_copies(&graph, &ops);
        prop_assert_eq!(placed.n_forward_nodes, forward.graph.n_nodes());
        for (ahead, node) in forward.graph.nodes().iter().zip(placed.graph.nodes()) {
            prop_assert_eq!((&ahead.name, ahead.device), (&node.name, node.device));
        }
    }
}
