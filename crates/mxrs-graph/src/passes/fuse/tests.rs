//! Tests fusion of small graphs: calls that are fused and calls that are not, reach and limits.

use super::*;
use crate::Node;
use crate::passes::interpreter as run;
use crate::test_ops::growth::growth_is_linear;
use crate::test_ops::smooth;
use mxrs_op::{Attrs, FUSED_OP, OpSet, View, fused_op};

/// Fuses a graph in which all calls have the same class.
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

/// The names of the calls in each set.
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

/// F1: two calls are not fused if a path through another node, by data or control dependencies, connects them.
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

/// A call that reads two sets merges them, no matter which of the sets has to move.
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
    assert_eq!(sets(&graph, fuse_all(&graph, Reach::Neighbors)), [vec!["left", "left2"], vec!["right", "both"]]);
    // A call without obstacles runs earlier, next to the call that it reads.
    let mut net = Net::new();
    let x = net.variable("x");
    let a = net.call("Sin", "a", &[x]);
    let outside = net.call("Opaque", "outside", &[a]);
    let b = net.call("Tanh", "b", &[a]);
    let graph = net.graph(&[outside, b]);
    assert_eq!(sets(&graph, fuse_all(&graph, Reach::Any)), [["a", "b"]]);
}

/// A sum that runs later keeps all its terms alive longer. A call with one input that runs later keeps its input alive
/// instead of its output, which needs no more bytes.
#[test]
fn g14_same_bytes_keeps_nothing_more_alive() {
    let terms = |first: &str| {
        let mut net = Net::new();
        let x = net.variable("x");
        let t = ["t1", "t2", "t3"].map(|name| net.call("Opaque", name, &[x]));
        let one = net.call(first, "one", if first == "Add" { &t[..2] } else { &t[..1] });
        let two = net.call("Add", "two", &[one, t[2]]);
        // `two` comes after the third term in id order, so the third term is made between the two sums.
        net.graph(&[two])
    };
    let (sum, sine) = (terms("Add"), terms("Sin"));
    assert_eq!(sets(&sum, fuse_all(&sum, Reach::Any)), [["one", "two"]]);
    assert!(fuse_all(&sum, Reach::SameBytes).is_none());
    assert_eq!(sets(&sine, fuse_all(&sine, Reach::SameBytes)), [["one", "two"]]);
    assert!(fuse_all(&sine, Reach::Neighbors).is_none());
}

/// A call that runs earlier than necessary keeps its outputs alive longer, unless they are heads, and frees its inputs
/// earlier.
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
    // `a` cannot run later, because `outside` waits for `a`. If `fan` ran at the position of `a`, its two outputs would be
    // alive during `outside`, instead of the output of `a`.
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

/// Two calls are not fused if they differ in shape or context group. A call is never fused if it reads a variable that some
/// call rewrites, does not read one of its inputs, or is a view.
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

/// A set has at most 16 tensors and at most 32 calls; further calls form other sets.
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

/// Time grows almost linearly: 20,000 and 100,000 calls in chains, in a fan, and in pairs that wait for each other.
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
