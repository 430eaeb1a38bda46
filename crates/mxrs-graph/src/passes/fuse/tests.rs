//! Fusion: F1 to F5 and G3 on random graphs, what is never fused, reach and limits.

use super::*;
use crate::passes::interpreter::{self as run, Choices, Given};
use crate::test_ops::growth::growth_is_linear;
use crate::test_ops::smooth;
use crate::{GradientRequest, Node, gradient, recompute};
use mxrs_op::{Attrs, FUSED_OP, Fused, OpSet, View, fused_op};
use proptest::prelude::*;
use std::collections::BTreeSet;

type Checked = std::result::Result<(), TestCaseError>;

/// Everything a request may say, with answers made of node ids and a number.
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

/// All calls, any distance: what the small tests ask.
fn fuse_all(graph: &Graph, reach: Reach) -> Option<FusedGraph> {
    fuse_where(graph, reach, graph.n_nodes(), &|_| Some(0))
}

fn fuse_where(
    graph: &Graph,
    reach: Reach,
    n_forward_nodes: usize,
    class: &dyn Fn(NodeId) -> Option<u64>,
) -> Option<FusedGraph> {
    let n = graph.n_entries();
    let request = FusionRequest {
        op: &Arc::new(fused_op()),
        n_forward_nodes,
        shapes: &vec![Shape::from([run::LENGTH]); n],
        dtypes: &vec![DType::F32; n],
        is_train: true,
        reach,
        class,
        accept: &|_| true,
    };
    fuse_pointwise(graph, &request).expect("a well-formed request")
}

/// What runs before a node, without which it cannot run: inputs and control dependencies, and theirs.
fn ancestors(graph: &Graph) -> Vec<BTreeSet<NodeId>> {
    let mut all: Vec<BTreeSet<NodeId>> = Vec::new();
    for node in graph.nodes() {
        let before = node.inputs.iter().map(|e| e.node).chain(node.control_deps.iter().copied());
        all.push(before.flat_map(|b| all[b.index()].iter().copied().chain([b]).collect::<Vec<_>>()).collect());
    }
    all
}

/// Every rule of a fused graph.
fn check(old: &Graph, new: &FusedGraph, asked: &Asked) -> Checked {
    let (before, after) = (ancestors(old), ancestors(&new.graph));
    let is_forward = |id: &NodeId| id.index() < asked.n_forward_nodes;
    let mut n_gone = 0;
    for members in &new.sets {
        // F1: what is between two members is a member.
        for id in (0..old.n_nodes()).map(NodeId::new).filter(|id| !members.contains(id)) {
            let reads_it = members.iter().any(|m| before[id.index()].contains(m));
            let feeds_it = members.iter().any(|m| before[m.index()].contains(&id));
            prop_assert!(!(reads_it && feeds_it), "F1: {} is between {:?}", id, members);
        }
        // F3 and classes.
        prop_assert!(members.iter().all(is_forward) || !members.iter().any(is_forward), "F3: {:?}", members);
        let class = asked.class(members[0]);
        prop_assert!(!asked.denies(members));
        prop_assert!(class.is_some() && members.iter().all(|m| asked.class(*m) == class));
        // F4: at least two become one.
        prop_assert!(members.len() >= 2, "F4");
        n_gone += members.len() - 1;
        let fused = new.graph.node(new.nodes[members[0].index()].expect("a set is read"));
        prop_assert!(fused.op_name() == FUSED_OP && members.len() <= MAX_CALLS && fused.n_outputs <= MAX_OUTPUTS);
        prop_assert!(fused.inputs.len() + fused.n_outputs <= MAX_TENSORS);
        prop_assert_eq!(fused.params.as_ref().expect("a call").get::<Fused>().calls.len(), members.len());
        prop_assert!(members.iter().all(|m| new.nodes[m.index()] == new.nodes[members[0].index()]));
    }
    prop_assert_eq!(new.graph.n_nodes(), old.n_nodes() - n_gone, "F4");
    // G3, and edges: what had to run before another still has to, and the forward part needs nothing of the gradient.
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
    // F5: heads, and every entry with its old name's value.
    prop_assert_eq!(new.entries.len(), new.graph.n_entries());
    for (head, was) in new.graph.heads().iter().zip(old.heads()) {
        prop_assert_eq!(new.entries[new.graph.entry_id(*head).index()], old.entry_id(*was), "F5");
    }
    // F2: equal bits, in order of ids and in any order that the edges allow.
    let expected = run::run(old, &Given::default());
    let order = run::any_order(&new.graph, asked.salt);
    prop_assert_eq!(order.len(), new.graph.n_nodes(), "F1: no cycle");
    for found in [run::run(&new.graph, &Given::default()), run::run_in(&new.graph, &Given::default(), order)] {
        for (value, was) in found.entries.iter().zip(&new.entries) {
            let (maker, _) = old.entry_at(*was);
            // A state is rewritten at another time in another order.
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
        for joined in [all, again] {
            let asked = Asked { n_forward_nodes: joined.n_forward_nodes, reach: Reach::ALL[reach], salt };
            if let Some(fused) = asked.fuse(&joined.graph) {
                check(&joined.graph, &fused, &asked)?;
            }
        }
    }
}

/// A graph under construction.
struct Net {
    ops: OpSet,
    b: crate::GraphBuilder,
}

impl Net {
    fn new() -> Self {
        Self { ops: smooth::set(), b: crate::GraphBuilder::new() }
    }

    fn variable(&mut self, name: &str) -> Entry {
        Entry::new(self.b.add_variable(name, Attrs::new()), 0)
    }

    fn call(&mut self, op: &str, name: &str, inputs: &[Entry]) -> Entry {
        let op = self.ops.get(op).expect("a test operator");
        Entry::new(self.b.add_op(op, name, Attrs::new(), inputs.to_vec()).expect("a call"), 0)
    }

    fn graph(self, heads: &[Entry]) -> Graph {
        let Self { mut b, .. } = self;
        b.set_heads(heads.to_vec());
        b.build().expect("a graph")
    }
}

/// Names of the calls in each set.
fn sets(graph: &Graph, fused: Option<FusedGraph>) -> Vec<Vec<String>> {
    let names = |set: &Vec<NodeId>| set.iter().map(|id| graph.node(*id).name.clone()).collect();
    fused.map_or(Vec::new(), |fused| fused.sets.iter().map(names).collect())
}

#[test]
fn d86_a_chain_of_five_is_one_call() {
    let mut net = Net::new();
    let mut last = net.variable("x");
    for name in ["a", "b", "c", "d", "e"] {
        last = net.call("Sin", name, &[last]);
    }
    let graph = net.graph(&[last]);
    for reach in Reach::ALL {
        let fused = fuse_all(&graph, reach).expect("something to fuse");
        assert_eq!(fused.graph.nodes().iter().map(Node::op_name).collect::<Vec<_>>(), ["null", FUSED_OP]);
        assert_eq!(fused.sets[0].len(), 5);
    }
    assert!(fuse_where(&graph, Reach::Any, graph.n_nodes(), &|_| None).is_none(), "calls without class stay");
}

/// F1: a path through something else keeps calls apart, data and control alike.
#[test]
fn f1_paths_outside_keep_calls_apart() {
    for by_control in [false, true] {
        let mut net = Net::new();
        let x = net.variable("x");
        let a = net.call("Sin", "a", &[x]);
        let outside = net.call("Opaque", "outside", &[if by_control { x } else { a }]);
        let b = net.call("Add", "b", &[a, if by_control { x } else { outside }]);
        if by_control {
            net.b.add_control_deps(outside.node, &[a.node]).unwrap();
            net.b.add_control_deps(b.node, &[outside.node]).unwrap();
        }
        let graph = net.graph(&[b, outside]);
        assert!(fuse_all(&graph, Reach::Any).is_none(), "{by_control}");
    }
}

/// Two sets that a call joins become one, whichever of them has to move.
#[test]
fn branches_meet() {
    let mut net = Net::new();
    let (x, y) = (net.variable("x"), net.variable("y"));
    let left = net.call("Sin", "left", &[x]);
    let left = net.call("Tanh", "left2", &[left]);
    let p = net.call("Opaque", "p", &[y]);
    let right = net.call("Sin", "right", &[p]);
    let both = net.call("Mul", "both", &[left, right]);
    let graph = net.graph(&[both]);
    assert_eq!(sets(&graph, fuse_all(&graph, Reach::Any)), [["left", "left2", "right", "both"]]);
    assert_eq!(sets(&graph, fuse_all(&graph, Reach::Neighbours)), [vec!["left", "left2"], vec!["right", "both"]]);
    // A call that nothing holds back runs earlier, beside the one it reads.
    let mut net = Net::new();
    let x = net.variable("x");
    let a = net.call("Sin", "a", &[x]);
    let outside = net.call("Opaque", "outside", &[a]);
    let b = net.call("Tanh", "b", &[a]);
    let graph = net.graph(&[outside, b]);
    assert_eq!(sets(&graph, fuse_all(&graph, Reach::Any)), [["a", "b"]]);
}

/// A sum of sums that waits keeps all terms alive; a call that waits in place of what it reads keeps nothing more.
#[test]
fn g14_same_bytes_keeps_nothing_more_alive() {
    let terms = |first: &str| {
        let mut net = Net::new();
        let x = net.variable("x");
        let t = ["t1", "t2", "t3"].map(|name| net.call("Opaque", name, &[x]));
        let one = net.call(first, "one", if first == "Add" { &t[..2] } else { &t[..1] });
        let two = net.call("Add", "two", &[one, t[2]]);
        // Two first, so that the third term is made between the sums.
        net.graph(&[two])
    };
    let (sum, sine) = (terms("Add"), terms("Sin"));
    assert_eq!(sets(&sum, fuse_all(&sum, Reach::Any)), [["one", "two"]]);
    assert!(fuse_all(&sum, Reach::SameBytes).is_none());
    assert_eq!(sets(&sine, fuse_all(&sine, Reach::SameBytes)), [["one", "two"]]);
    assert!(fuse_all(&sine, Reach::Neighbours).is_none());
}

/// What runs earlier than it has to keeps its outputs alive meanwhile, unless they are heads, and frees what it reads.
#[test]
fn g14_what_hurries_keeps_nothing_more_alive() {
    let beside = |b_is_head: bool| {
        let mut net = Net::new();
        let x = net.variable("x");
        let a = net.call("Sin", "a", &[x]);
        let outside = net.call("Opaque", "outside", &[a]);
        let b = net.call("Tanh", "b", &[a]);
        let c = net.call("Sin", "c", &[b]);
        let end = net.call("Opaque", "end", &[c]);
        net.graph(&[outside, if b_is_head { c } else { end }])
    };
    let (head, inner) = (beside(true), beside(false));
    assert_eq!(sets(&head, fuse_all(&head, Reach::SameBytes)), [["a", "b", "c"]]);
    assert_eq!(sets(&inner, fuse_all(&inner, Reach::Any)), [["a", "b", "c"]]);
    assert_eq!(sets(&inner, fuse_all(&inner, Reach::SameBytes)), [["b", "c"]]);
    // `a` must not wait, because `outside` waits for it; `fan` made there would be two tensors in place of one.
    let mut net = Net::new();
    let x = net.variable("x");
    let a = net.call("Sin", "a", &[x]);
    let outside = net.call("Opaque", "outside", &[x]);
    net.b.add_control_deps(outside.node, &[a.node]).unwrap();
    let op = net.ops.get("Fan").unwrap();
    let two = Attrs::from([("num_outputs", "2")]);
    let fan = net.b.add_op(op, "fan", two, vec![a]).unwrap();
    let ends = [0, 1].map(|i| net.call("Opaque", &format!("end{i}"), &[Entry::new(fan, i)]));
    let graph = net.graph(&[outside, ends[0], ends[1]]);
    assert_eq!(sets(&graph, fuse_all(&graph, Reach::Any)), [["a", "fan"]]);
    assert!(fuse_all(&graph, Reach::SameBytes).is_none());
}

#[test]
fn f3_forward_and_gradient_stay_apart() {
    let mut net = Net::new();
    let x = net.variable("x");
    let a = net.call("Sin", "a", &[x]);
    let b = net.call("Sin", "b", &[a]);
    let graph = net.graph(&[a, b]);
    assert!(fuse_all(&graph, Reach::Any).is_some());
    assert!(fuse_where(&graph, Reach::Any, 2, &|_| Some(0)).is_none());
}

/// Variables that some call rewrites, inputs that are not read, views, other shapes, other context groups.
#[test]
fn what_is_never_fused() {
    let two = |change: &dyn Fn(&mut Net, Entry) -> Entry| {
        let mut net = Net::new();
        let x = net.variable("x");
        let a = net.call("Sin", "a", &[x]);
        let b = change(&mut net, a);
        let graph = net.graph(&[b]);
        sets(&graph, fuse_all(&graph, Reach::Any)).len()
    };
    assert_eq!(two(&|net, a| net.call("Tanh", "b", &[a])), 1);
    assert_eq!(two(&|net, a| net.call("ones_like", "b", &[a])), 0, "only the shape of `a` is read");
    assert_eq!(two(&|net, a| net.call("Noise", "b", &[a])), 0, "random");
    let renamed = |net: &mut Net, a| {
        let mut op = (**net.ops.get("_copy").unwrap()).clone();
        op.view = |_, _| View::Identity;
        Entry::new(net.b.add_op(&Arc::new(op), "b", Attrs::new(), vec![a]).unwrap(), 0)
    };
    assert_eq!(two(&renamed), 0, "a view costs nothing");
    let elsewhere = |net: &mut Net, a| {
        let group = Attrs::from([("__ctx_group__", "dev1")]);
        Entry::new(net.b.add_op(net.ops.get("Tanh").unwrap(), "b", group, vec![a]).unwrap(), 0)
    };
    assert_eq!(two(&elsewhere), 0, "on another device");
    let rewritten = |net: &mut Net, a| {
        let state = net.variable("state");
        let c = net.call("Mul", "c", &[a, state]);
        net.call("Moving", "b", &[c, state])
    };
    assert_eq!(two(&rewritten), 0, "`c` reads what `b` rewrites");

    let mut net = Net::new();
    let x = net.variable("x");
    let a = net.call("Sin", "a", &[x]);
    let b = net.call("Sin", "b", &[a]);
    let graph = net.graph(&[b]);
    let of = |shapes: &[Shape], dtypes: &[DType]| {
        fuse_pointwise(
            &graph,
            &FusionRequest {
                op: &Arc::new(fused_op()),
                n_forward_nodes: graph.n_nodes(),
                shapes,
                dtypes,
                is_train: false,
                reach: Reach::Any,
                class: &|_| Some(0),
                accept: &|_| true,
            },
        )
    };
    let flat = |n: usize| Shape::from([n]);
    assert!(of(&[flat(3), flat(3), flat(3)], &[DType::F32; 3]).unwrap().is_some());
    assert!(of(&[flat(3), flat(3), flat(4)], &[DType::F32; 3]).unwrap().is_none());
    assert!(of(&[flat(4), flat(3), flat(3)], &[DType::F32; 3]).unwrap().is_none());
    assert!(of(&[flat(0), flat(0), flat(0)], &[DType::F32; 3]).unwrap().is_none(), "nothing to compute");
    assert!(of(&[flat(3), flat(3)], &[DType::F32; 3]).is_err());
}

/// Sets are full at 16 tensors and at 32 calls, and the rest makes other sets.
#[test]
fn sets_are_bounded() {
    let mut net = Net::new();
    let mut last = net.variable("x");
    for i in 0..3 * MAX_CALLS {
        last = net.call("Sin", &format!("s{i}"), &[last]);
    }
    let graph = net.graph(&[last]);
    let sizes: Vec<usize> = fuse_all(&graph, Reach::Any).unwrap().sets.iter().map(Vec::len).collect();
    assert_eq!(sizes, [MAX_CALLS; 3]);
    let mut net = Net::new();
    let mut last = net.variable("x");
    for i in 0..40 {
        let other = net.variable(&format!("y{i}"));
        last = net.call("Mul", &format!("m{i}"), &[last, other]);
    }
    let graph = net.graph(&[last]);
    let fused = fuse_all(&graph, Reach::Any).unwrap();
    assert!(fused.graph.nodes().iter().all(|n| n.inputs.len() + n.n_outputs <= MAX_TENSORS));
    assert_eq!(fused.graph.nodes().iter().filter(|n| !n.is_variable()).count(), 3);
}

/// Near-linear time: 20,000 and 100,000 calls in chains, in a fan, and in pairs that wait for each other.
#[test]
fn large_graphs_take_linear_time() {
    for kind in 0..3 {
        let fuse = |n: usize| {
            let mut net = Net::new();
            let x = net.variable("x");
            let (mut last, mut heads) = (x, Vec::new());
            for i in 0..n {
                let from = if kind == 1 { x } else { last };
                last = match i % 7 {
                    0 if kind == 2 => net.call("Opaque", &format!("o{i}"), &[from]),
                    _ => net.call("Mul", &format!("m{i}"), &[from, from]),
                };
                heads.push(last);
            }
            let graph = net.graph(if kind == 1 { &heads } else { &heads[heads.len() - 1..] });
            move || assert_eq!(fuse_all(&graph, Reach::SameBytes).is_some(), kind != 1)
        };
        growth_is_linear(5, fuse(20_000), fuse(100_000));
    }
}
