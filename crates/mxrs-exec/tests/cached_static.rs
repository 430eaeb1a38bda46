//! Tests cached graphs with `static_shape`: addresses are computed once, and again if a parameter is replaced by
//! another array.

mod common;

use common::*;
use mxrs_exec::{BackwardOptions, CachedOp, CachedOpFlags, GradReq, Imperative, autograd};
use mxrs_graph::{Graph, Symbol};
use mxrs_ndarray::NdArray;

/// Two dense layers with normalization and dropout between them.
fn network() -> Graph {
    let mut net = Net::new();
    let mut call = |op: &str, attrs: &[(&str, &str)], inputs: &[&Symbol]| net.call_with(op, attrs, inputs);
    let [x, w, b, v, c] = ["x", "w", "b", "v", "c"].map(Symbol::variable);
    let [gamma, beta, mean, var] = ["gamma", "beta", "mean", "var"].map(Symbol::variable);
    let y = call("FullyConnected", &[("num_hidden", "4")], &[&x, &w, &b]);
    let y = call("BatchNorm", &[("fix_gamma", "False")], &[&y, &gamma, &beta, &mean, &var]);
    let y = call("tanh", &[], &[&y]);
    let y = call("Dropout", &[("p", "0.3")], &[&y]);
    call("FullyConnected", &[("num_hidden", "2")], &[&y, &v, &c]).graph().unwrap()
}

const SHAPES: [(&str, &[usize]); 9] = [
    ("x", &[5, 3]),
    ("w", &[4, 3]),
    ("b", &[4]),
    ("gamma", &[4]),
    ("beta", &[4]),
    ("mean", &[4]),
    ("var", &[4]),
    ("v", &[2, 4]),
    ("c", &[2]),
];

fn op(nd: &Imperative, static_shape: bool) -> CachedOp {
    let graph = network();
    let params = (0..SHAPES.len()).filter(|i| graph.node(graph.variables()[*i]).name != "x").collect();
    let flags = CachedOpFlags { static_alloc: true, static_shape, param_indices: params, ..CachedOpFlags::default() };
    CachedOp::new(nd, &graph, flags).unwrap()
}

fn fresh(nd: &Imperative, name: &str, seed: u64) -> NdArray {
    let shape = SHAPES.iter().find(|(n, _)| *n == name).expect("a name of the network").1;
    let values = numbers(shape.iter().product(), seed);
    array(nd, shape, &if name == "var" { vec![1.0; 4] } else { values })
}

/// Arrays in the order in which a call takes them.
fn arrays(nd: &Imperative, op: &CachedOp) -> Vec<NdArray> {
    op.input_names().iter().enumerate().map(|(i, name)| fresh(nd, name, 30 + i as u64)).collect()
}

fn run(op: &CachedOp, arrays: &[NdArray]) -> NdArray {
    op.call(&arrays.iter().collect::<Vec<_>>()).unwrap().swap_remove(0)
}

fn position(op: &CachedOp, name: &str) -> usize {
    op.input_names().iter().position(|n| *n == name).unwrap()
}

/// Rule C4: over steps of training and inference, outputs, gradients and statistics are the same with and without
/// `static_shape`. Between the steps, parameters are updated in place or replaced.
#[test]
fn c4_static_shapes_change_no_bit() {
    let nd = imperative();
    let of = |static_shape: bool| {
        nd.context().random().seed(5);
        let op = op(&nd, static_shape);
        let mut a = arrays(&nd, &op);
        let names: Vec<String> = op.input_names().iter().map(|n| n.to_string()).collect();
        let mut seen = Vec::new();
        for step in 0..6u64 {
            let is_learnt = |name: &str| !["mean", "var", "x"].contains(&name);
            let learnt: Vec<usize> = (0..a.len()).filter(|i| is_learnt(&names[*i])).collect();
            learnt.iter().for_each(|i| nd.attach_grad(&a[*i], GradReq::Write).unwrap());
            let head = recorded(|| Ok(run(&op, &a)));
            nd.backward(&[&head], &[], BackwardOptions::default()).unwrap();
            seen.push(values(&head));
            for i in learnt {
                let grad = values(&autograd::grad_of(&a[i]).unwrap());
                let updated: Vec<f64> = values(&a[i]).iter().zip(&grad).map(|(x, g)| x - 0.1 * g).collect();
                a[i].copy_from(&updated).unwrap();
                seen.push(grad);
            }
            seen.push(values(&run(&op, &a)));
            seen.extend(a.iter().map(values));
            a[position(&op, "x")] = fresh(&nd, "x", step);
            if step == 3 {
                a[position(&op, "w")] = fresh(&nd, "w", 90);
                a[position(&op, "mean")] = fresh(&nd, "mean", 91);
            }
        }
        seen
    };
    assert_eq!(of(true), of(false));
}

/// Rule C3: calls after the first do not compute addresses again, even if the data or the content of a parameter changes. If
/// a parameter is replaced by another array, addresses are computed again.
#[test]
fn c3_calls_are_bound_once() {
    let nd = imperative();
    let (op, plain) = (op(&nd, true), op(&nd, false));
    let mut a = arrays(&nd, &op);
    let w = position(&op, "w");
    let check = |a: &[NdArray], bindings: u64| {
        let got = run(&op, a);
        assert_eq!(values(&got), values(&run(&plain, a)));
        assert_eq!(op.stats().bindings_made, bindings);
    };
    for seed in 0..4 {
        a[position(&op, "x")] = fresh(&nd, "x", seed);
        check(&a, 1);
    }
    a[w].copy_from(&numbers(12, 71)).unwrap();
    check(&a, 1);
    a[w] = fresh(&nd, "w", 72);
    check(&a, 2);
    check(&a, 2);
    // A view of the same storage at another address counts as another array.
    let both = array(&nd, [16, 3], &numbers(48, 73));
    for (row, bindings) in [(0, 3), (8, 4)] {
        a[w] = both.slice(row, row + 4).unwrap();
        check(&a, bindings);
    }
    assert_eq!((op.stats().plans_made, op.stats().states_made), (1, 1));
    assert_eq!(plain.stats().bindings_made, 9);
}

/// Rule C2: calls may be made while earlier calls are pending; each call keeps its own data and outputs.
#[test]
fn c2_outputs_survive_later_calls() {
    let nd = imperative();
    let (op, plain) = (op(&nd, true), op(&nd, false));
    let mut a = arrays(&nd, &op);
    let mut outputs = Vec::new();
    for seed in 0..20 {
        a[position(&op, "x")] = fresh(&nd, "x", seed);
        outputs.push((run(&op, &a), run(&plain, &a)));
    }
    assert!(outputs.iter().all(|(got, expected)| values(got) == values(expected)));
    assert_eq!(op.stats().bindings_made, 1);
}

/// Each recorded call has its own state and its own addresses until its gradient is computed.
#[test]
fn outstanding_recorded_calls_are_bound_each() {
    let nd = imperative();
    let op = op(&nd, true);
    let a = arrays(&nd, &op);
    nd.attach_grad(&a[1], GradReq::Add).unwrap();
    for _ in 0..3 {
        let heads = [0, 1].map(|_| recorded(|| Ok(run(&op, &a))));
        heads.iter().for_each(|head| nd.backward(&[head], &[], BackwardOptions::default()).unwrap());
    }
    assert_eq!((op.stats().states_made, op.stats().bindings_made), (2, 2));
}

#[test]
fn what_is_kept_goes_with_the_graph() {
    let nd = imperative();
    let before = live_bytes(&nd);
    {
        let op = op(&nd, true);
        let a = arrays(&nd, &op);
        run(&op, &a);
    }
    assert_eq!(live_bytes(&nd), before);
}

#[test]
fn indices_are_checked() {
    let nd = imperative();
    let new = |data_indices: Vec<usize>, param_indices: Vec<usize>| {
        let flags = CachedOpFlags { data_indices, param_indices, ..CachedOpFlags::default() };
        CachedOp::new(&nd, &network(), flags).err().map(|e| e.to_string())
    };
    assert_eq!(new(vec![0], (1..9).collect()), None);
    assert!(new(vec![9], vec![]).unwrap().contains("below 9"));
    assert!(new(vec![0], vec![0, 1]).unwrap().contains("0 in both"));
}
