//! Tests graphs that are called as functions. Values, gradients and side effects are those of calling the operators of the
//! graph one by one.

mod common;

use common::*;
use mxrs_engine::EngineKind;
use mxrs_exec::{BackwardOptions, CachedOp, CachedOpFlags, GradReq, Imperative, autograd};
use mxrs_graph::{Graph, Symbol};
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{Device, Result};

const STATIC: CachedOpFlags = CachedOpFlags {
    static_alloc: true,
    static_shape: true,
    inline_limit: 2,
    forward_bulk_size: 15,
    backward_bulk_size: 15,
    plan_cache: 32,
    data_indices: Vec::new(),
    param_indices: Vec::new(),
};
const RETAIN: BackwardOptions = BackwardOptions { retain_graph: true, create_graph: false, train_mode: true };
const CREATE: BackwardOptions = BackwardOptions { retain_graph: true, create_graph: true, train_mode: true };

fn dynamic() -> CachedOpFlags {
    CachedOpFlags { inline_limit: 0, ..CachedOpFlags::default() }
}

/// Dense layer, batch normalization, tanh and dropout; the result is multiplied by the sum of the input and squared.
fn network() -> Graph {
    let mut n = Net::new();
    let var = |name: &str| Symbol::variable(name);
    let (x, w, b) = (var("x"), var("w"), var("b"));
    let dense = n.call_with("FullyConnected", &[("num_hidden", "4")], &[&x, &w, &b]);
    let aux = ["gamma", "beta", "mean", "var"].map(var);
    let norm = n.call_with("BatchNorm", &[("fix_gamma", "False")], &[&dense, &aux[0], &aux[1], &aux[2], &aux[3]]);
    let act = n.call("tanh", &[&norm]);
    let drop = n.call_with("Dropout", &[("p", "0.4")], &[&act]);
    let total = n.call_with("sum", &[("axis", "1"), ("keepdims", "True")], &[&x]);
    let product = n.call("broadcast_mul", &[&drop, &total]);
    n.call("square", &[&product]).graph().unwrap()
}

/// The graph of [`network`], called operator by operator.
fn by_hand(nd: &Imperative, a: &[NdArray]) -> Result<NdArray> {
    let [x, w, b, gamma, beta, mean, var] = a else { panic!("seven arrays") };
    let dense = nd.fully_connected(x, w, Some(b), 4)?;
    let attrs = Attrs::from([("fix_gamma", "False")]);
    let norm = nd.batch_norm(&dense, (gamma, beta), (mean, var), &attrs)?;
    let drop = nd.dropout(&nd.tanh(&norm)?, 0.4)?;
    nd.square(&nd.mul(&drop, &nd.sum(x, &[1], true)?)?)
}

const NAMES: [&str; 7] = ["x", "w", "b", "gamma", "beta", "mean", "var"];

fn f32_numbers(n: usize, seed: u64) -> Vec<f32> {
    numbers(n, seed).into_iter().map(|v| v as f32).collect()
}

/// Arrays in the order of [`NAMES`]. All are marked except the statistics.
fn arrays(nd: &Imperative, batch: usize) -> Vec<NdArray> {
    let shapes: [&[usize]; 7] = [&[batch, 3], &[4, 3], &[4], &[4], &[4], &[4], &[4]];
    let make = |(i, shape): (usize, &&[usize])| {
        let n = shape.iter().product();
        let values = if i == 6 { vec![1.0; n] } else { f32_numbers(n, 40 + i as u64) };
        f32s(nd, *shape, &values)
    };
    let arrays: Vec<NdArray> = shapes.iter().enumerate().map(make).collect();
    for array in &arrays[..5] {
        nd.attach_grad(array, GradReq::Write).unwrap();
    }
    arrays
}

fn in_order<'a>(op: &CachedOp, arrays: &'a [NdArray]) -> Vec<&'a NdArray> {
    op.input_names().iter().map(|name| &arrays[NAMES.iter().position(|n| n == name).unwrap()]).collect()
}

fn bits(array: &NdArray) -> Vec<u32> {
    array.to_vec::<f32>().unwrap().iter().map(|v| v.to_bits()).collect()
}

/// Values, gradients and auxiliary states of two training steps and one inference run, as bits.
fn two_steps(nd: &Imperative, f: impl Fn(&[NdArray]) -> Result<NdArray>) -> Vec<Vec<u32>> {
    nd.context().random().seed(9);
    let a = arrays(nd, 5);
    let mut seen = Vec::new();
    for _ in 0..2 {
        let y = {
            let _record = autograd::record();
            f(&a).unwrap()
        };
        seen.push(bits(&y));
        nd.backward(&[&y], &[], BackwardOptions::default()).unwrap();
        seen.extend(a[..5].iter().map(|x| bits(&autograd::grad_of(x).unwrap())));
    }
    // One inference run with the statistics that training computed.
    seen.push(bits(&f(&a).unwrap()));
    seen.extend(a[5..].iter().map(bits));
    seen
}

/// Rules C1 and C4: a cached graph has the same results, bit for bit, as its operators called one by one. This holds with
/// static and with dynamic memory, and for any bulk size.
#[test]
fn c1_c4_a_cached_graph_is_its_operators() {
    let nd = imperative();
    let expected = two_steps(&nd, |a| by_hand(&nd, a));
    let inline = CachedOpFlags { inline_limit: 100, ..CachedOpFlags::default() };
    let small = CachedOpFlags { forward_bulk_size: 2, backward_bulk_size: 1, ..STATIC };
    for flags in [STATIC, small, dynamic(), inline] {
        let op = CachedOp::new(&nd, &network(), flags.clone()).unwrap();
        let seen = two_steps(&nd, |a| Ok(op.call(&in_order(&op, a))?.swap_remove(0)));
        assert_eq!(seen, expected, "{flags:?}");
    }
}

/// Rule R1: random numbers are the same with every engine and any number of threads.
#[test]
fn r1_the_same_numbers_on_every_engine_and_team() {
    let mut all = Vec::new();
    for kind in KINDS {
        for (workers, threads) in [(1, 1), (2, 3)] {
            let nd = imperative_on(kind, workers, threads);
            let op = CachedOp::new(&nd, &network(), STATIC).unwrap();
            all.push(two_steps(&nd, |a| Ok(op.call(&in_order(&op, a))?.swap_remove(0))));
        }
    }
    assert!(all.iter().all(|seen| *seen == all[0]));
}

/// Rule C2: the outputs of a call keep their values when the function is called again.
#[test]
fn c2_outputs_survive_the_next_call() {
    let nd = imperative();
    let op = CachedOp::new(&nd, &network(), STATIC).unwrap();
    let a = arrays(&nd, 5);
    let first = op.call(&in_order(&op, &a)).unwrap();
    let before = bits(&first[0]);
    a[0].copy_from(&f32_numbers(15, 77)).unwrap();
    let second = op.call(&in_order(&op, &a)).unwrap();
    assert_ne!(bits(&second[0]), before);
    assert_eq!(bits(&first[0]), before);
}

/// Rule C3: later calls with known signatures make no plans and allocate no memory.
#[test]
fn c3_warm_calls_plan_nothing_and_ask_the_device_for_nothing() {
    let nd = imperative();
    let op = CachedOp::new(&nd, &network(), STATIC).unwrap();
    let batches = [arrays(&nd, 5), arrays(&nd, 8)];
    // Each call is waited for. Otherwise the number of calls in flight, and so the memory in use, would depend on time.
    let wait = || nd.context().engine().wait_for_all().unwrap();
    let round = || {
        for a in &batches {
            op.call(&in_order(&op, a)).unwrap();
            wait();
            let y = {
                let _record = autograd::record();
                op.call(&in_order(&op, a)).unwrap()
            };
            wait();
            nd.backward(&[&y[0]], &[], BackwardOptions::default()).unwrap();
            drop(y);
            wait();
        }
    };
    round();
    round();
    let counts = || {
        let storage = nd.context().storage().stats(Device::cpu(0));
        (op.stats(), nd.n_prepared(), storage.system_requests)
    };
    let warm = counts();
    assert_eq!(warm.0.plans_made, 4, "two shapes, inference and training");
    assert_eq!(warm.0.states_made, 4);
    for _ in 0..5 {
        round();
    }
    assert_eq!(counts(), warm);
}

#[test]
fn plans_are_bounded() {
    let nd = imperative();
    let op = CachedOp::new(&nd, &network(), CachedOpFlags { plan_cache: 2, ..STATIC }).unwrap();
    for batch in [2, 3, 4, 4, 3, 2, 2] {
        op.call(&in_order(&op, &arrays(&nd, batch))).unwrap();
    }
    // The first calls with batches 2, 3 and 4 make three plans. The second calls with 4 and 3 find their plans. The plan
    // for 2 was dropped, so the second call with 2 makes a fourth plan.
    assert_eq!(op.stats().plans_made, 4);
}

/// Each recorded call has its own state until its gradient is computed. Later calls use the state again.
#[test]
fn recorded_calls_do_not_disturb_one_another() {
    let nd = imperative();
    let mut net = Net::new();
    let x = Symbol::variable("x");
    let e = net.call("exp", &[&x]);
    let e1 = net.call_with("_plus_scalar", &[("scalar", "1")], &[&e]);
    let s = net.call("square", &[&e1]);
    let op = CachedOp::new(&nd, &s.graph().unwrap(), STATIC).unwrap();
    let slope = |x: f64| 2.0 * (x.exp() + 1.0) * x.exp();
    for _ in 0..3 {
        let xs: Vec<NdArray> = [0.5, 1.5].map(|v| array(&nd, [1], &[v])).into();
        xs.iter().for_each(|x| nd.attach_grad(x, GradReq::Write).unwrap());
        let ys: Vec<NdArray> = {
            let _record = autograd::record();
            xs.iter().map(|x| op.call(&[x]).unwrap().swap_remove(0)).collect()
        };
        nd.backward(&[&ys[0]], &[], RETAIN).unwrap();
        nd.backward(&[&ys[1]], &[], BackwardOptions::default()).unwrap();
        let grad = |x: &NdArray| values(&autograd::grad_of(x).unwrap());
        let first = grad(&xs[0]);
        assert_close(&first, &[slope(0.5)], "first");
        assert_close(&grad(&xs[1]), &[slope(1.5)], "second");
        // Rule A2: after a backward with `retain_graph`, a second backward gives the same gradient. After a backward without
        // `retain_graph`, the next backward fails.
        nd.backward(&[&ys[0]], &[], BackwardOptions::default()).unwrap();
        assert_eq!(grad(&xs[0]), first);
        assert!(nd.backward(&[&ys[0]], &[], RETAIN).unwrap_err().to_string().contains("retain_graph"));
    }
    assert_eq!((op.stats().plans_made, op.stats().states_made), (1, 2));
}

#[test]
fn calls_on_one_state_do_not_overlap() {
    let nd = imperative_on(EngineKind::ThreadedPerDevice, 4, 1);
    let mut net = Net::new();
    let mut x = Symbol::variable("x");
    for _ in 0..6 {
        x = net.call_with("_plus_scalar", &[("scalar", "1")], &[&x]);
        x = net.call("transpose", &[&x]);
    }
    let op = CachedOp::new(&nd, &x.graph().unwrap(), CachedOpFlags { forward_bulk_size: 1, ..STATIC }).unwrap();
    let inputs: Vec<NdArray> = (0..40).map(|i| f32s(&nd, [40, 40], &[i as f32; 1600])).collect();
    let outputs: Vec<NdArray> = inputs.iter().map(|x| op.call(&[x]).unwrap().swap_remove(0)).collect();
    for (i, y) in outputs.iter().enumerate() {
        assert_eq!(y.to_vec::<f32>().unwrap(), vec![i as f32 + 6.0; 1600], "call {i}");
    }
    assert_eq!(op.stats().states_made, 1);
}

/// Rule A6: derivatives of x^3 + y·x² through a cached graph are exact, up to the third order and together with calls
/// outside it.
#[test]
fn a6_second_derivatives_through_a_cached_graph_are_exact() {
    for flags in [STATIC, dynamic()] {
        let nd = imperative();
        let mut net = Net::new();
        let (x, y) = (Symbol::variable("x"), Symbol::variable("y"));
        let x2 = net.call("square", &[&x]);
        let x3 = net.call("elemwise_mul", &[&x2, &x]);
        let yx2 = net.call("elemwise_mul", &[&y, &x2]);
        let graph = net.call("elemwise_add", &[&x3, &yx2]).graph().unwrap();
        let op = CachedOp::new(&nd, &graph, flags).unwrap();
        assert_eq!(op.input_names(), ["x", "y"]);
        let x = array(&nd, [3], &[1.0, 2.0, -3.0]);
        nd.attach_grad(&x, GradReq::Write).unwrap();
        // The input y = 2x depends on the input x, so the result is x³ + 2x · x² = 3x³.
        let z = {
            let _record = autograd::record();
            let y = nd.mul_scalar(&x, 2.0).unwrap();
            op.call(&[&x, &y]).unwrap().swap_remove(0)
        };
        let first = nd.grad(&[&z], &[&x], &[], CREATE).unwrap();
        assert_eq!(values(&first[0]), [9.0, 36.0, 81.0]);
        let second = nd.grad(&[&first[0]], &[&x], &[], CREATE).unwrap();
        assert_eq!(values(&second[0]), [18.0, 36.0, -54.0]);
        let third = nd.grad(&[&second[0]], &[&x], &[], RETAIN).unwrap();
        assert_eq!(values(&third[0]), [18.0; 3]);
    }
}

/// Rule C4: a gradient computed with `create_graph` equals the gradient without it, draws the same random numbers and
/// updates no statistics.
#[test]
fn c4_a_differentiable_gradient_repeats_the_call_without_its_side_effects() {
    let nd = imperative();
    let op = CachedOp::new(&nd, &network(), STATIC).unwrap();
    let a = arrays(&nd, 5);
    let y = {
        let _record = autograd::record();
        op.call(&in_order(&op, &a)).unwrap()
    };
    let aux = [bits(&a[5]), bits(&a[6])];
    let next = nd.context().random().reserve(Device::cpu(0), 0);
    let variables: Vec<&NdArray> = a[..5].iter().collect();
    let plain = nd.grad(&[&y[0]], &variables, &[], RETAIN).unwrap();
    let again = nd.grad(&[&y[0]], &variables, &[], CREATE).unwrap();
    for ((p, q), name) in plain.iter().zip(&again).zip(NAMES) {
        assert_eq!(p.to_vec::<f32>().unwrap(), q.to_vec::<f32>().unwrap(), "{name}");
    }
    assert_eq!([bits(&a[5]), bits(&a[6])], aux);
    assert_eq!(nd.context().random().reserve(Device::cpu(0), 0), next, "no number was drawn");
}

/// Rule C5: after a call that fails, the flags of the thread are as before.
#[test]
fn c5_an_error_leaves_the_flags_as_they_were() {
    for kind in [EngineKind::Naive, EngineKind::ThreadedPerDevice] {
        let nd = imperative_on(kind, 1, 1);
        let op = CachedOp::new(&nd, &network(), STATIC).unwrap();
        let mut a = arrays(&nd, 5);
        a[1] = f32s(&nd, [4, 2], &[0.0; 8]);
        {
            let _record = autograd::record();
            let _predict = autograd::predict_mode();
            let error = op.call(&in_order(&op, &a)).unwrap_err().to_string();
            assert!(error.contains("weight") || error.contains("`w`"), "{error}");
            assert_eq!((autograd::is_recording(), autograd::is_training()), (true, false));
        }
        assert_eq!((autograd::is_recording(), autograd::is_training()), (false, false));
        let before = nd.context().engine().counters().bulked;
        let good = arrays(&nd, 5);
        op.call(&in_order(&op, &good)).unwrap()[0].wait_to_read().unwrap();
        assert_eq!(nd.context().engine().counters().bulked, before);
    }
}

#[test]
fn mistakes_are_named() {
    let nd = imperative();
    let wrong = CachedOpFlags { static_shape: true, ..CachedOpFlags::default() };
    assert!(CachedOp::new(&nd, &network(), wrong).is_err());
    let op = CachedOp::new(&nd, &network(), STATIC).unwrap();
    let a = arrays(&nd, 5);
    let few = op.call(&in_order(&op, &a)[..3]).unwrap_err().to_string();
    assert!(few.contains("number of inputs") && few.contains("gamma"), "{few}");
    // An input that the gradient reads is overwritten before backward.
    let y = {
        let _record = autograd::record();
        op.call(&in_order(&op, &a)).unwrap()
    };
    a[1].copy_from(&[0.0f32; 12]).unwrap();
    let error = nd.backward(&[&y[0]], &[], RETAIN).unwrap_err().to_string();
    assert!(error.contains("input `w`") && error.matches(file!()).count() >= 2, "{error}");
}

/// Rule A5: dropping a cached graph and its outputs frees all states.
#[test]
fn a5_states_go_with_the_function() {
    let nd = imperative();
    let a = arrays(&nd, 50);
    let before = live_bytes(&nd);
    for flags in [STATIC, dynamic()] {
        let op = CachedOp::new(&nd, &network(), flags).unwrap();
        let y = {
            let _record = autograd::record();
            op.call(&in_order(&op, &a)).unwrap()
        };
        nd.grad(&[&y[0]], &[&a[1]], &[], CREATE).unwrap();
        nd.backward(&[&y[0]], &[], RETAIN).unwrap();
        drop((op, y));
        assert_eq!(live_bytes(&nd), before);
    }
}

#[test]
fn heads_may_be_inputs_and_repeated() {
    let nd = imperative();
    for flags in [STATIC, dynamic(), CachedOpFlags::default()] {
        let x = Symbol::variable("x");
        let y = Net::new().call("exp", &[&x]);
        let op = CachedOp::new(&nd, &Symbol::group([&x, &y, &y]).graph().unwrap(), flags).unwrap();
        let x = array(&nd, [2], &[0.0, 1.0]);
        nd.attach_grad(&x, GradReq::Write).unwrap();
        let outputs = {
            let _record = autograd::record();
            op.call(&[&x]).unwrap()
        };
        assert_eq!(values(&outputs[0]), [0.0, 1.0]);
        assert!(!outputs[0].shares_storage(&x) && !outputs[1].shares_storage(&outputs[2]));
        let heads: Vec<&NdArray> = outputs.iter().collect();
        nd.backward(&heads, &[], BackwardOptions::default()).unwrap();
        assert_close(&values(&autograd::grad_of(&x).unwrap()), &[3.0, 1.0 + 2.0 * 1f64.exp()], "sum of three");
    }
}
