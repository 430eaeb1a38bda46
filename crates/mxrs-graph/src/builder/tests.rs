//! Tests the invariants G1 to G5 of `graph.rs`, and that errors in broken graphs name the node and the input.

use crate::{Entry, GraphBuilder, NodeId, test_ops as ops};
use mxrs_op::Attrs;
use proptest::prelude::*;

fn entry(node: NodeId) -> Entry {
    Entry::new(node, 0)
}

#[test]
fn broken_graphs_are_refused() {
    let mut b = GraphBuilder::new();
    let x = b.add_variable("x", Attrs::new());
    let fails = |result: mxrs_types::Result<NodeId>, words: &[&str]| {
        let error = result.unwrap_err().to_string();
        words.iter().for_each(|w| assert!(error.contains(w), "{error}: {w}"));
    };
    fails(b.add_op(&ops::add(), "a", Attrs::new(), vec![entry(x)]), &["Add", "`a`", "got 1", "2 (lhs, rhs)"]);
    fails(b.add_op(&ops::relu(), "r", Attrs::new(), vec![Entry::new(NodeId(7), 0)]), &["input 0 of node `r`", "7"]);
    fails(b.add_op(&ops::relu(), "r", Attrs::new(), vec![Entry::new(x, 1)]), &["output 1 of `x`", "below 1"]);
    fails(b.add_op(&ops::dense(), "d", Attrs::new(), vec![]), &["num_hidden", "reading node `d`"]);
    let r = b.add_op(&ops::relu(), "r", Attrs::new(), vec![entry(x)]).unwrap();
    let inputs = vec![entry(x), entry(x), entry(r), entry(x)];
    fails(b.add_op(&ops::norm(), "n", Attrs::new(), inputs), &["input 2 of node `n`", "a variable"]);
    assert!(b.add_control_deps(x, &[r]).unwrap_err().to_string().contains("control dependency of node `x`"));
    assert!(b.add_control_deps(NodeId(9), &[]).is_err());

    let mut b = GraphBuilder::new();
    let x = b.add_variable("x", Attrs::new());
    b.set_heads(vec![entry(x), Entry::new(x, 1)]);
    assert!(b.build().unwrap_err().to_string().contains("head 1"));
    let mut b = GraphBuilder::new();
    b.set_heads(vec![entry(NodeId(0))]);
    assert!(b.build().unwrap_err().to_string().contains("head 0"));
}

#[test]
fn g4_names_of_variables_are_unique() {
    let mut b = GraphBuilder::new();
    let (x, y) = (b.add_variable("x", Attrs::new()), b.add_variable("x", Attrs::new()));
    b.set_heads(vec![entry(x), entry(y)]);
    assert!(b.build().unwrap_err().to_string().contains("`x` twice"));
}

#[test]
fn control_dependencies_order_nodes_and_keep_them() {
    let mut b = GraphBuilder::new();
    let x = b.add_variable("x", Attrs::new());
    let first = b.add_op(&ops::relu(), "first", Attrs::new(), vec![entry(x)]).unwrap();
    let unused = b.add_op(&ops::relu(), "unused", Attrs::new(), vec![entry(x)]).unwrap();
    let last = b.add_op(&ops::relu(), "last", Attrs::new(), vec![entry(x)]).unwrap();
    b.add_control_deps(last, &[first]).unwrap();
    b.set_heads(vec![entry(last)]);
    let graph = b.build().unwrap();
    assert!(unused < last);
    let names: Vec<&str> = graph.nodes().iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["x", "first", "last"]);
    assert_eq!(graph.node(NodeId(2)).control_deps, [NodeId(1)]);
}

/// Makes a builder with one random node per choice; also returns the ids of all nodes.
fn random_builder(choices: &[(u8, u16, u16)]) -> (GraphBuilder, Vec<NodeId>) {
    let mut b = GraphBuilder::new();
    let mut nodes = vec![b.add_variable("v0", Attrs::new())];
    for (i, (kind, first, second)) in choices.iter().enumerate() {
        let pick = |n: u16| nodes[n as usize % nodes.len()];
        let (p, q) = (pick(*first), pick(*second));
        let name = format!("n{i}");
        let node = match kind % 4 {
            0 => b.add_variable(name, Attrs::new()),
            1 => b.add_op(&ops::relu(), name, Attrs::new(), vec![entry(p)]).unwrap(),
            2 => b.add_op(&ops::add(), name, Attrs::new(), vec![entry(p), entry(q)]).unwrap(),
            _ => {
                let node = b.add_op(&ops::relu(), name, Attrs::new(), vec![entry(p)]).unwrap();
                b.add_control_deps(node, &[q]).unwrap();
                node
            }
        };
        nodes.push(node);
    }
    (b, nodes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn g1_g2_g3_g5_hold(choices in prop::collection::vec(any::<(u8, u16, u16)>(), 1..60), heads in any::<(u16, u16)>()) {
        let head = |nodes: &[NodeId], n: u16| entry(nodes[n as usize % nodes.len()]);
        let build = |both: bool| {
            let (mut b, nodes) = random_builder(&choices);
            let mut list = vec![head(&nodes, heads.0)];
            if both {
                list.push(head(&nodes, heads.1));
            }
            b.set_heads(list);
            b.build().unwrap()
        };
        let (small, graph) = (build(false), build(true));
        // G1, G2: everything that a node needs comes before it.
        for (id, node) in graph.iter() {
            prop_assert!(node.inputs.iter().all(|e| e.node < id) && node.control_deps.iter().all(|d| *d < id));
        }
        // G3: appending a head keeps the ids.
        for (a, b) in small.nodes().iter().zip(graph.nodes()) {
            prop_assert_eq!(&a.name, &b.name);
        }
        // `consumers` is the inverse of `inputs`, and entry ids can be converted back.
        for (id, node) in graph.iter() {
            for (position, input) in node.inputs.iter().enumerate() {
                prop_assert!(graph.consumers(graph.entry_id(*input)).contains(&(id, position as u32)));
            }
            for output in graph.output_ids(id) {
                let (back, index) = graph.entry_at(output);
                prop_assert_eq!(graph.output_id(back, index), output);
            }
        }
        // G5: building the finished graph again keeps every id.
        let mut again = GraphBuilder::new();
        for (_, node) in graph.iter() {
            let id = match node.call() {
                None => again.add_variable(&node.name, node.attrs.clone()),
                Some((op, _)) => again.add_op(op, &node.name, node.attrs.clone(), node.inputs.clone()).unwrap(),
            };
            again.add_control_deps(id, &node.control_deps).unwrap();
        }
        again.set_heads(graph.heads().to_vec());
        prop_assert_eq!(format!("{:?}", again.build().unwrap()), format!("{graph:?}"));
    }
}
