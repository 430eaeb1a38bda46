//! Tests of placement: nodes follow their groups, and data crosses devices only through copies.

use super::place;
use crate::passes::interpreter::{self as run, Choices, Given};
use crate::test_ops::smooth;
use crate::{Entry, GradientRequest, Graph, GraphBuilder, NodeId, gradient};
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
    let (placed, devices) = place(&graph, &ops, HERE, &groups()).unwrap();
    let at = |name: &str| devices[placed.find(name).unwrap().index()];
    let expected = [("x", LEFT), ("before", LEFT), ("a", LEFT), ("follows", LEFT), ("m", RIGHT), ("state", RIGHT)];
    expected.iter().for_each(|(name, device)| assert_eq!(at(name), *device, "{name}"));
    assert_eq!(at("y"), RIGHT);
    // `follows` is read twice on the right device, and copied once.
    let copies: Vec<&str> =
        placed.nodes().iter().filter(|n| n.op_name() == "_CrossDeviceCopy").map(|n| n.name.as_str()).collect();
    assert_eq!(copies, ["follows_0_copy"]);
    assert_eq!(at("follows_0_copy"), RIGHT);
    // Without groups, every node stays on the default device.
    let (same, devices) = place(&graph, &ops, HERE, &IndexMap::new()).unwrap();
    assert_eq!((format!("{same:?}"), devices), (format!("{graph:?}"), vec![HERE; graph.n_nodes()]));
}

#[test]
fn what_cannot_be_placed_is_named() {
    let ops = smooth::set();
    let graph = net(&ops, &[("Sin", "y", "middle", &["x"])]);
    let text = place(&graph, &ops, HERE, &groups()).unwrap_err().to_string();
    assert!(text.contains("`y`") && text.contains("`middle`") && text.contains("left, right"), "{text}");
    let calls: [(&str, &str, &str, &[&str]); 2] =
        [("Moving", "m", "left", &["x", "state"]), ("Moving", "n", "right", &["m", "state"])];
    let text = place(&net(&ops, &calls), &ops, HERE, &groups()).unwrap_err().to_string();
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
        let joined = gradient(&graph, &ops, &GradientRequest::of_variables(&graph, ["x0", "x1", "x2"]).unwrap()).unwrap();
        let (placed, devices) = joined.place(&ops, HERE, &groups()).unwrap();
        prop_assert_eq!(devices.len(), placed.graph.n_nodes());
        for (id, node) in placed.graph.iter() {
            let is_copy = node.op_name() == "_CrossDeviceCopy";
            let crosses = |e: &Entry| devices[e.node.index()] != devices[id.index()];
            prop_assert!(node.inputs.iter().all(|e| crosses(e) == is_copy));
            if let Some(forward) = node.backward_of.filter(|_| !is_copy) {
                prop_assert_eq!(devices[forward.index()], devices[id.index()]);
            }
            prop_assert_eq!(placed.is_forward(id), node.backward_of.is_none());
        }
        prop_assert_eq!(run::heads(&placed.graph, &Given::default()), run::heads(&joined.graph, &Given::default()));
        let (forward, ahead) = place(&graph, &ops, HERE, &groups()).unwrap();
        prop_assert_eq!(placed.n_forward_nodes, forward.n_nodes());
        prop_assert_eq!(&devices[..ahead.len()], ahead.as_slice());
    }
}
