//! Tests of the training graph: the invariants G3, G9, G10 and G12, sums of terms, calls that are left out, and errors
//! that name the cause.

use crate::passes::interpreter::{self as run, Choices, Given};
use crate::test_ops::growth::growth_is_linear;
use crate::test_ops::smooth;
use crate::{Entry, GradientRequest, Graph, GraphBuilder, NameManager, NodeId, Symbol, SymbolCall, gradient};
use mxrs_op::{Attrs, OpSet};
use proptest::prelude::*;

const NAMES: [&str; 3] = ["x0", "x1", "x2"];

/// Composes calls of the smooth test operators.
struct Net {
    ops: OpSet,
    names: NameManager,
}

impl Net {
    fn new() -> Self {
        Self { ops: smooth::set(), names: NameManager::new() }
    }

    fn call(&mut self, op: &str, name: &str, inputs: &[&Symbol]) -> Symbol {
        SymbolCall::new(self.ops.get(op).unwrap())
            .name(name)
            .inputs(inputs.iter().copied())
            .build(&mut self.names)
            .unwrap()
    }
}

fn op_names(graph: &Graph, from: usize) -> Vec<&'static str> {
    graph.nodes()[from..].iter().map(|n| n.op_name()).collect()
}

fn close(a: f64, b: f64, slack: f64) -> bool {
    (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs())) + slack
}

/// The sum over heads and elements, as a function of one element of one variable.
fn objective(graph: &Graph, name: &str, element: usize, delta: f64) -> f64 {
    let mut value = run::value_of(name);
    value[element] += delta;
    run::heads(graph, &Given::from_iter([(name.to_string(), value)])).iter().flatten().sum()
}

fn differences(graph: &Graph, name: &str, element: usize, h: f64) -> f64 {
    (objective(graph, name, element, h) - objective(graph, name, element, -h)) / (2.0 * h)
}

fn choices() -> impl Strategy<Value = (Choices, Vec<u16>)> {
    let call = any::<(u8, u16, u16, bool)>();
    (prop::collection::vec(call, 1..50), prop::collection::vec(any::<u16>(), 1..4))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn g3_g9_g12_hold((choices, picked) in choices()) {
        let ops = smooth::set();
        let graph = run::random_graph(&ops, &choices, &picked);
        let request = GradientRequest::of_variables(&graph, NAMES).unwrap();
        let training = gradient(&graph, &ops, &request).unwrap();
        // G3: the forward nodes are unchanged and keep their ids.
        for (a, b) in graph.nodes().iter().zip(training.graph.nodes()) {
            prop_assert_eq!((&a.name, &a.inputs, &a.control_deps), (&b.name, &b.inputs, &b.control_deps));
        }
        prop_assert!(training.graph.iter().all(|(id, n)| training.is_forward(id) == n.backward_of.is_none()));
        prop_assert_eq!(training.forward_heads(), graph.heads());
        // Inputs come first, and names are unique.
        for (id, node) in training.graph.iter() {
            prop_assert!(node.inputs.iter().all(|e| e.node < id) && node.control_deps.iter().all(|d| *d < id));
        }
        let names: std::collections::HashSet<&str> = training.graph.nodes().iter().map(|n| n.name.as_str()).collect();
        prop_assert_eq!(names.len(), training.graph.n_nodes());
        // G9: compares gradients with finite differences, whose error is estimated by halving the step.
        let values = run::heads(&training.graph, &Given::default());
        for (i, name) in NAMES.iter().enumerate() {
            for element in 0..run::LENGTH {
                let (wide, narrow) = (differences(&graph, name, element, 1e-4), differences(&graph, name, element, 5e-5));
                let found = values[training.n_forward_heads + i][element];
                let slack = 4.0 * (wide - narrow).abs();
                prop_assert!(close(found, narrow, slack), "{name}[{element}]: {found} against {narrow} ({slack})");
            }
        }
        // G12: in these tests the gradient function of an operator adds at most three calls, and each entry needs at most
        // one sum.
        let calls = graph.nodes().iter().filter(|n| !n.is_variable()).count();
        prop_assert!(training.graph.n_nodes() - training.n_forward_nodes <= 6 * calls + 2 * graph.heads().len() + 3);
        prop_assert!(training.graph.nodes().iter().all(|n| n.clone_of.is_none()));
    }

    #[test]
    fn g10_gradients_are_linear_in_the_heads((choices, picked) in choices(), a in -2.0..2.0f64, b in -2.0..2.0f64) {
        let ops = smooth::set();
        let graph = run::random_graph(&ops, &choices, &picked);
        let request = GradientRequest::of_variables(&graph, NAMES).unwrap().head_variables();
        let training = gradient(&graph, &ops, &request).unwrap();
        let with = |f: &dyn Fn(&str) -> Vec<f64>| {
            let variables = training.head_grads.iter().flatten().map(|id| training.graph.node(*id).name.clone());
            let given: Given = variables.map(|name| (name.clone(), f(&name))).collect();
            run::heads(&training.graph, &given).split_off(training.n_forward_heads)
        };
        let first = |name: &str| run::value_of(&format!("{name}.first"));
        let second = |name: &str| run::value_of(&format!("{name}.second"));
        let (p, q) = (with(&first), with(&second));
        let both = with(&|name| first(name).iter().zip(second(name)).map(|(p, q)| a * p + b * q).collect());
        for ((p, q), both) in p.iter().flatten().zip(q.iter().flatten()).zip(both.iter().flatten()) {
            prop_assert!((a * p + b * q - both).abs() <= 1e-9 * (1.0 + p.abs() + q.abs()), "{p} {q} {both}");
        }
        // If the variables for gradients of heads contain ones, the gradients are those of `HeadGrads::Ones`.
        let ones = gradient(&graph, &ops, &GradientRequest::of_variables(&graph, NAMES).unwrap()).unwrap();
        let plain = run::heads(&ones.graph, &Given::default()).split_off(ones.n_forward_heads);
        prop_assert_eq!(with(&|_| vec![1.0; run::LENGTH]), plain);
    }

    /// A chain of `_grad_add` and one `add_n` give equal sums, because both add from the first term to the last.
    #[test]
    fn sums_are_equal_whatever_the_cap((choices, picked) in choices(), cap in 0usize..6) {
        let ops = smooth::set();
        let graph = run::random_graph(&ops, &choices, &picked);
        let with = |sum_cap: usize| {
            let request = GradientRequest { sum_cap, ..GradientRequest::of_variables(&graph, NAMES).unwrap() };
            gradient(&graph, &ops, &request).unwrap()
        };
        let (chained, summed) = (with(cap), with(usize::MAX));
        prop_assert_eq!(run::heads(&chained.graph, &Given::default()), run::heads(&summed.graph, &Given::default()));
        prop_assert!(!op_names(&summed.graph, summed.n_forward_nodes).contains(&"_grad_add"));
    }
}

#[test]
fn a_head_listed_twice_counts_twice() {
    let mut net = Net::new();
    let x = Symbol::variable("x");
    let y = net.call("Sin", "y", &[&x]);
    let graph = Symbol::group([&y, &y, &x]).graph().unwrap();
    let request = GradientRequest::of_variables(&graph, ["x"]).unwrap();
    let training = gradient(&graph, &net.ops, &request).unwrap();
    let found = run::heads(&training.graph, &Given::default()).pop().unwrap();
    let expected: Vec<f64> = run::value_of("x").iter().map(|x| 2.0 * x.cos() + 1.0).collect();
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    let training = gradient(&graph, &net.ops, &request.head_variables()).unwrap();
    let names: Vec<&str> = training.head_grads.iter().map(|v| training.graph.node(v.unwrap()).name.as_str()).collect();
    assert_eq!(names, ["y_output_grad", "y_output_grad1", "x_grad"]);
}

#[test]
fn gradients_are_heads_of_their_own() {
    let mut net = Net::new();
    let (a, b) = (Symbol::variable("a"), Symbol::variable("b"));
    let y = net.call("Add", "y", &[&a, &b]);
    let graph = y.graph().unwrap();
    let request = GradientRequest::of_variables(&graph, ["a", "b", "a"]).unwrap();
    for request in [request.clone(), request.head_variables()] {
        let training = gradient(&graph, &net.ops, &request).unwrap();
        let own: std::collections::HashSet<Entry> = training.gradients().iter().copied().collect();
        assert_eq!(own.len(), 3, "{:?}", training.graph);
        assert!(own.iter().all(|e| !training.is_forward(e.node) && !training.graph.node(e.node).is_variable()));
        let values = run::heads(&training.graph, &Given::default());
        assert!(values[1..].iter().all(|g| *g == [1.0; run::LENGTH]));
    }
}

#[test]
fn only_the_paths_wanted_are_built() {
    let mut net = Net::new();
    let (a, b) = (Symbol::variable("a"), Symbol::variable("b"));
    // An operator without a gradient reads `b`, which is allowed if the gradient of `b` is not wanted.
    let blocked = net.call("Opaque", "blocked", &[&b]);
    let product = net.call("Mul", "product", &[&a, &blocked]);
    let graph = product.graph().unwrap();
    let training = gradient(&graph, &net.ops, &GradientRequest::of_variables(&graph, ["a"]).unwrap()).unwrap();
    assert_eq!(op_names(&training.graph, training.n_forward_nodes), ["ones_like", "Mul"]);
    assert_eq!(training.graph.nodes().last().unwrap().name, "product_backward");
    assert_eq!(training.graph.nodes().last().unwrap().backward_of, graph.find("product"));
    let error = gradient(&graph, &net.ops, &GradientRequest::of_variables(&graph, ["a", "b"]).unwrap()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("Opaque") && text.contains("`blocked`"), "{text}");
    // If the gradient of an inner entry is wanted, the sweep visits nothing before that entry.
    let inner = GradientRequest::new(vec![Entry::new(graph.find("blocked").unwrap(), 0)]);
    let training = gradient(&graph, &net.ops, &inner).unwrap();
    let values = run::heads(&training.graph, &Given::default());
    assert_eq!(values[1], run::value_of("a"));
}

#[test]
fn zeros_stop_the_sweep() {
    let mut net = Net::new();
    let x = Symbol::variable("x");
    for stopper in ["Sign", "Blocked"] {
        // `Opaque` has no gradient. It comes before an operator whose gradient is zero, so the gradient of `Opaque` is not
        // requested.
        let opaque = net.call("Opaque", "opaque", &[&x]);
        let stopped = net.call(stopper, "stopped", &[&opaque]);
        let graph = stopped.graph().unwrap();
        let request = GradientRequest::of_variables(&graph, ["x"]).unwrap();
        let training = gradient(&graph, &net.ops, &request).unwrap();
        assert_eq!(op_names(&training.graph, training.n_forward_nodes), ["zeros_like"], "{stopper}");
        // A term that is zero is omitted from a sum.
        let sum = net.call("Add", "sum", &[&stopped, &net_sin(&mut Net::new(), &x)]);
        let graph = sum.graph().unwrap();
        let training = gradient(&graph, &net.ops, &GradientRequest::of_variables(&graph, ["x"]).unwrap()).unwrap();
        assert!(!op_names(&training.graph, training.n_forward_nodes).contains(&"add_n"), "{:?}", training.graph);
    }
}

fn net_sin(net: &mut Net, x: &Symbol) -> Symbol {
    net.call("Sin", "sin", &[x])
}

#[test]
fn what_no_head_depends_on_is_named_or_zero() {
    let mut net = Net::new();
    let (x, y, state) = (Symbol::variable("x"), Symbol::variable("y"), Symbol::variable("state"));
    let moving = net.call("Moving", "moving", &[&x, &state]);
    let graph = Symbol::group([&moving]).graph().unwrap();
    let request = GradientRequest::of_variables(&graph, ["x", "state"]).unwrap();
    let text = gradient(&graph, &net.ops, &request).unwrap_err().to_string();
    assert!(text.contains("wanted gradient 1") && text.contains("`state`"), "{text}");
    let training = gradient(&graph, &net.ops, &request.zeros_where_unreachable()).unwrap();
    assert_eq!(run::heads(&training.graph, &Given::default())[2], [0.0; run::LENGTH]);
    assert!(GradientRequest::of_variables(&graph, ["y"]).unwrap_err().to_string().contains("`y`"));
    let nowhere = GradientRequest::new(vec![Entry::new(NodeId(77), 0)]);
    assert!(gradient(&graph, &net.ops, &nowhere).unwrap_err().to_string().contains("wanted gradient 0"));
    drop(y);
}

#[test]
fn outputs_without_gradient_count_as_zeros() {
    let mut net = Net::new();
    let x = Symbol::variable("x");
    let fan = SymbolCall::new(net.ops.get("Fan").unwrap()).name("fan").input(&x).attr("num_outputs", 3);
    let fan = fan.build(&mut net.names).unwrap();
    let graph = net.call("Sin", "y", &[&fan.output(1).unwrap()]).graph().unwrap();
    let training = gradient(&graph, &net.ops, &GradientRequest::of_variables(&graph, ["x"]).unwrap()).unwrap();
    assert_eq!(op_names(&training.graph, training.n_forward_nodes).iter().filter(|n| **n == "zeros_like").count(), 2);
    let found = run::heads(&training.graph, &Given::default()).pop().unwrap();
    let expected: Vec<f64> = run::value_of("x").iter().map(|x| 2.0 * (2.0 * x).cos()).collect();
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
}

#[test]
fn groups_are_inherited_and_nothing_else() {
    let mut net = Net::new();
    let x = Symbol::variable("x");
    let y = SymbolCall::new(net.ops.get("Sin").unwrap()).name("y").input(&x);
    let y = y.attr("__ctx_group__", "left").attr("__lr_mult__", "2").build(&mut net.names).unwrap();
    let graph = y.graph().unwrap();
    let training = gradient(&graph, &net.ops, &GradientRequest::of_variables(&graph, ["x"]).unwrap()).unwrap();
    let expected = Attrs::from([("__ctx_group__", "left")]);
    assert!(training.graph.nodes()[training.n_forward_nodes..].iter().all(|n| n.attrs == expected));
}

/// A sum whose number of terms reaches the cap is a chain in which each term waits for the previous partial sum, so that
/// only two terms are alive at a time.
#[test]
fn long_sums_take_terms_as_they_come() {
    let mut net = Net::new();
    let x = Symbol::variable("x");
    let sines: Vec<Symbol> = (0..10).map(|i| net.call("Sin", &format!("s{i}"), &[&x])).collect();
    let graph = Symbol::group(&sines).graph().unwrap();
    let training = gradient(&graph, &net.ops, &GradientRequest::of_variables(&graph, ["x"]).unwrap()).unwrap();
    let graph = &training.graph;
    let sums: Vec<NodeId> = graph.iter().filter(|(_, n)| n.op_name() == "_grad_add").map(|(id, _)| id).collect();
    assert_eq!(sums.len(), 9);
    for pair in sums.windows(2) {
        let sum = graph.node(pair[1]);
        assert_eq!(sum.inputs[0].node, pair[0]);
        assert_eq!(graph.node(sum.inputs[1].node).control_deps, [pair[0]]);
    }
    assert_eq!(graph.node(sums[0]).name, "x_grad_sum");
    let few = Symbol::group(&sines[..7]).graph().unwrap();
    let training = gradient(&few, &net.ops, &GradientRequest::of_variables(&few, ["x"]).unwrap()).unwrap();
    assert_eq!(op_names(&training.graph, training.n_forward_nodes).iter().filter(|n| **n == "add_n").count(), 1);
}

/// Time grows almost linearly: a chain and a fan, with 20,000 and with 100,000 nodes.
#[test]
fn large_graphs_take_linear_time() {
    let ops = smooth::set();
    for is_chain in [true, false] {
        let differentiate = |n: usize| {
            let mut b = GraphBuilder::new();
            let x = b.add_variable("x", Attrs::new());
            let mut last = Entry::new(x, 0);
            let mut heads = Vec::new();
            for i in 0..n {
                let from = if is_chain { last } else { Entry::new(x, 0) };
                let tanh = b.add_op(ops.get("Tanh").unwrap(), format!("t{i}"), Attrs::new(), vec![from]);
                last = Entry::new(tanh.unwrap(), 0);
                heads.push(last);
            }
            b.set_heads(if is_chain { vec![last] } else { heads });
            let graph = b.build().unwrap();
            let request = GradientRequest::of_variables(&graph, ["x"]).unwrap();
            let ops = &ops;
            move || assert!(gradient(&graph, ops, &request).unwrap().graph.n_nodes() >= 2 * n)
        };
        growth_is_linear(5, differentiate(20_000), differentiate(100_000));
    }
}

/// A composition of differentiable calls can be differentiated again: y + y' of y = x³ has the derivative 3x² + 6x.
#[test]
fn gradients_of_gradients() {
    let mut net = Net::new();
    let x = Symbol::variable("x");
    let square = net.call("Mul", "square", &[&x, &x]);
    let graph = net.call("Mul", "cube", &[&square, &x]).graph().unwrap();
    let of_x = |graph: &Graph| GradientRequest::of_variables(graph, ["x"]).unwrap();
    let once = gradient(&graph, &net.ops, &of_x(&graph)).unwrap();
    let twice = gradient(&once.graph, &net.ops, &of_x(&once.graph)).unwrap();
    assert_eq!((twice.n_forward_nodes, twice.n_forward_heads), (once.graph.n_nodes(), 2));
    let found = run::heads(&twice.graph, &Given::default()).pop().unwrap();
    let expected = run::value_of("x").into_iter().map(|x| 3.0 * x * x + 6.0 * x);
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
}

/// Calls of the gradient take part in inference, and determine the shapes of the variables that hold gradients of
/// heads.
#[test]
fn shapes_of_a_gradient_graph_are_inferred() {
    let mut net = Net::new();
    let x = Symbol::variable("x");
    let y = net.call("Tanh", "y", &[&x]);
    let graph = net.call("Mul", "z", &[&y, &y]).graph().unwrap();
    let request = GradientRequest::of_variables(&graph, ["x"]).unwrap().head_variables();
    let training = gradient(&graph, &net.ops, &request).unwrap();
    let shapes = crate::infer_shapes(&training.graph, [("x", mxrs_types::Shape::from([2, 3]).into())]).unwrap();
    assert!(shapes.complete(&training.graph).unwrap().iter().all(|s| *s == mxrs_types::Shape::from([2, 3])));
}
