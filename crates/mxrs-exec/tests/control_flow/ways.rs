//! Tests loops and branches with other shapes, in training and inference, planned without binding, and differentiated twice.

use super::common::{CREATE, Net, context, f32s, grad, imperative, imperative_on, marked, numbers, options, values};
use super::{Case, case, close};
use mxrs_engine::EngineKind;
use mxrs_exec::{
    BackwardOptions, BindOptions, CachedOp, CachedOpFlags, DryGraph, Executor, GradReq, GradRequests, Outcome,
    ReshapeOptions, autograd, plan_graph,
};
use mxrs_graph::{Graph, Symbol, SymbolCall, expand_control_flow};
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Shape};
use std::sync::Arc;

/// A loop over the rows of `x`, which starts with the state `s`. The variables `row` and `state` of `body` are the row and
/// the state of a step; its other variables become inputs of the loop. The last output of `body` is the new state.
pub fn foreach(net: &Net, body: &Graph, x: &Symbol, s: &Symbol) -> Symbol {
    let names: Vec<&str> = body.variables().iter().map(|id| body.node(*id).name.as_str()).collect();
    let at = |name: &str| names.iter().position(|n| *n == name).expect("a variable of the body");
    let others: Vec<usize> = (0..names.len()).filter(|i| !["row", "state"].contains(&names[*i])).collect();
    let mut call = SymbolCall::new(net.ops().get("_foreach").unwrap())
        .name("loop")
        .attr("num_outputs", body.heads().len())
        .attr("num_out_data", body.heads().len() - 1)
        .attr("in_data_locs", format!("[{}]", at("row")))
        .attr("in_state_locs", format!("[{}]", at("state")))
        .attr("remain_locs", format!("{others:?}"))
        .input(x)
        .input(s)
        .subgraph(Arc::new(body.clone()));
    for other in others {
        call = call.input(&Symbol::variable(names[other]));
    }
    call.build(&mut mxrs_graph::NameManager::new()).unwrap()
}

fn cumulative_sum() -> Case {
    case("cumulative_sum")
}

#[test]
fn another_number_of_rows_gives_another_number_of_steps() {
    let case = cumulative_sum();
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let training = BindOptions { gradients: Some(GradRequests::all(GradReq::Write)), ..options() };
    for options in [options(), training] {
        let executor = Executor::simple_bind(&case.graph(), &context, &case.shapes(), &options).unwrap();
        let how = ReshapeOptions { partial_shaping: false, allow_up_sizing: true };
        for n_rows in [2, 6, 4] {
            let shapes = [("data", Shape::from([n_rows, 3])), ("s", Shape::from([3]))];
            let other = executor.reshape(&shapes, how).unwrap();
            other.argument("data").unwrap().copy_from(&vec![1.0f32; n_rows * 3]).unwrap();
            other.argument("s").unwrap().copy_from(&[0.5f32; 3]).unwrap();
            other.forward().unwrap();
            let expected: Vec<f32> = (0..n_rows * 3).map(|i| 1.5 + (i / 3) as f32).collect();
            close(&other.outputs()[0].to_vec::<f32>().unwrap(), &expected, "rows");
            close(&other.outputs()[1].to_vec::<f32>().unwrap(), &[n_rows as f32 + 0.5; 3], "state");
        }
    }
}

#[test]
fn a_cached_graph_expands_for_every_number_of_rows() {
    let nd = imperative();
    let op = CachedOp::new(&nd, &cumulative_sum().graph(), CachedOpFlags::default()).unwrap();
    for n_rows in [1, 3, 1] {
        let x = f32s(&nd, [n_rows, 3], &vec![1.0; n_rows * 3]);
        let outputs = op.call(&[&x, &f32s(&nd, [3], &[0.0; 3])]).unwrap();
        assert_eq!(outputs[1].to_vec::<f32>().unwrap(), [n_rows as f32; 3]);
    }
    assert_eq!(op.stats().plans_made, 2);
}

#[test]
fn plans_show_the_pass_and_the_steps_of_the_loop() {
    let case = cumulative_sum();
    let traced = BindOptions { fuse: false, ..options() };
    let dry = DryGraph::new(&case.graph(), &case.shapes(), &traced, false).unwrap();
    let pass = &dry.passes()[0];
    assert_eq!((pass.name, pass.outcome), ("control-flow", Outcome::Changed));
    assert!(pass.n_nodes[1] > pass.n_nodes[0]);
    let plan = plan_graph(&case.graph(), &case.shapes(), &traced, false).unwrap();
    let steps: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert!(steps.iter().any(|name| name.contains("_foreach0_step3_")), "{steps:?}");
}

#[test]
fn gates_are_only_in_graphs_with_gradients() {
    let ops = mxrs_ops::catalog();
    for name in ["stops_early", "branch_taken"] {
        let case = case(name);
        let shapes = case.shapes();
        let n_gates = |has_gradient| {
            let given = shapes.iter().map(|(name, shape)| (*name, shape.into()));
            let graph = expand_control_flow(&case.graph(), &ops, given, has_gradient).unwrap();
            graph.nodes().iter().filter(|node| node.op_name() == "_control_gate").count()
        };
        assert!(n_gates(true) > 0 && n_gates(false) == 0, "{name}");
    }
}

/// A loop body with batch normalization. Its output is the normalized row, and the state sums these rows.
fn normalized(net: &mut Net, attrs: &[(&str, &str)]) -> Graph {
    let [row, state, gamma, beta, mean, var] = ["row", "state", "gamma", "beta", "mean", "var"].map(Symbol::variable);
    let norm = net.call_with("BatchNorm", attrs, &[&row, &gamma, &beta, &mean, &var]);
    let sum = net.call("elemwise_add", &[&norm, &state]);
    Symbol::group([&norm, &sum]).graph().unwrap()
}

#[test]
fn every_step_of_a_loop_updates_auxiliary_states_as_a_call_does() {
    let mut net = Net::new();
    let attrs = [("fix_gamma", "False"), ("momentum", "0.5")];
    let body = normalized(&mut net, &attrs);
    let graph = foreach(&net, &body, &Symbol::variable("x"), &Symbol::variable("s")).graph().unwrap();
    assert_eq!(graph.aux_state_names(), ["mean", "var"]);
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let training = BindOptions { gradients: Some(GradRequests::all(GradReq::Write)), ..options() };
    let shapes = [("x", Shape::from([3, 4, 2])), ("s", Shape::from([4, 2]))];
    let executor = Executor::simple_bind(&graph, &context, &shapes, &training).unwrap();
    let nd = imperative();
    let start: [(&str, Vec<usize>, Vec<f32>); 6] = [
        ("x", vec![3, 4, 2], numbers(24, 3).iter().map(|v| *v as f32).collect()),
        ("s", vec![4, 2], vec![0.0; 8]),
        ("gamma", vec![2], vec![1.5, -0.5]),
        ("beta", vec![2], vec![0.1, 0.2]),
        ("mean", vec![2], vec![0.0; 2]),
        ("var", vec![2], vec![1.0; 2]),
    ];
    let mut by_hand = Vec::new();
    for (name, shape, values) in &start {
        executor.argument(name).unwrap().copy_from(values).unwrap();
        by_hand.push(f32s(&nd, shape.as_slice(), values));
    }
    executor.forward_train().unwrap();
    // The expected values: the same calls of batch normalization, one by one, without a graph.
    let [x, _, gamma, beta, mean, var] = by_hand.as_slice() else { panic!("six arrays") };
    let outputs: Vec<Vec<f32>> = {
        let _mode = autograd::train_mode();
        let attrs = mxrs_op::Attrs::from(attrs);
        let call = |step: usize| {
            let row = nd.slice_axis(x, 0, step as i64, Some(step as i64 + 1)).unwrap().reshape([4, 2]).unwrap();
            nd.batch_norm(&row, (gamma, beta), (mean, var), &attrs).unwrap().to_vec().unwrap()
        };
        (0..3).map(call).collect()
    };
    let got = executor.outputs()[0].to_vec::<f32>().unwrap();
    close(&got, &outputs.concat(), "outputs");
    for (name, array) in [("mean", mean), ("var", var)] {
        let got = executor.argument(name).unwrap().to_vec::<f32>().unwrap();
        close(&got, &array.to_vec::<f32>().unwrap(), name);
    }
}

#[test]
fn branches_that_write_auxiliary_states_are_refused() {
    let mut net = Net::new();
    for (attrs, is_refused) in
        [(vec![("fix_gamma", "False")], true), (vec![("fix_gamma", "False"), ("use_global_stats", "True")], false)]
    {
        let variables = ["row", "gamma", "beta", "mean", "var"].map(Symbol::variable);
        let [row, gamma, beta, mean, var] = &variables;
        let then = net.call_with("BatchNorm", &attrs, &[row, gamma, beta, mean, var]).graph().unwrap();
        let otherwise = net.call("relu", &[row]).graph().unwrap();
        let cond = net.call("_copy", &[&Symbol::variable("p")]).graph().unwrap();
        let mut call = SymbolCall::new(net.ops().get("_cond").unwrap())
            .attr("num_outputs", 1)
            .attr("cond_input_locs", "[0]")
            .attr("then_input_locs", "[1, 2, 3, 4, 5]")
            .attr("else_input_locs", "[1]")
            .input(&Symbol::variable("p"));
        for graph in [cond, then, otherwise] {
            call = call.subgraph(Arc::new(graph));
        }
        let branch = call.inputs(&variables).build(&mut mxrs_graph::NameManager::new()).unwrap();
        let graph = branch.graph().unwrap();
        assert_eq!(graph.aux_state_names(), ["mean", "var"]);
        let shapes = [("p", Shape::from([1])), ("row", Shape::from([4, 2]))];
        let training = BindOptions { gradients: Some(GradRequests::all(GradReq::Write)), ..options() };
        let bound = Executor::simple_bind(&graph, &context(EngineKind::Naive, 1), &shapes, &training);
        match bound {
            Err(error) if is_refused => {
                let error = error.to_string();
                assert!(error.contains("BatchNorm") && error.contains("use_global_stats"), "{error}");
            }
            Err(error) => panic!("{error}"),
            Ok(_) => assert!(!is_refused),
        }
    }
}

/// MXNet's executor always runs loop bodies as at inference. Here bodies run in the mode of the whole run, and every step
/// draws its own random numbers.
#[test]
fn dropout_in_a_body_drops_in_training_only() {
    let mut net = Net::new();
    let [row, state] = ["row", "state"].map(Symbol::variable);
    let drop = net.call_with("Dropout", &[("p", "0.5")], &[&row]);
    let sum = net.call("elemwise_add", &[&row, &state]);
    let body = Symbol::group([&drop, &sum]).graph().unwrap();
    let graph = foreach(&net, &body, &Symbol::variable("x"), &Symbol::variable("s")).graph().unwrap();
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let training = BindOptions { gradients: Some(GradRequests::all(GradReq::Write)), ..options() };
    let shapes = [("x", Shape::from([2, 64])), ("s", Shape::from([64]))];
    let executor = Executor::simple_bind(&graph, &context, &shapes, &training).unwrap();
    executor.argument("x").unwrap().copy_from(&[1.0f32; 128]).unwrap();
    executor.forward().unwrap();
    assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), [1.0; 128]);
    executor.forward_train().unwrap();
    let dropped = executor.outputs()[0].to_vec::<f32>().unwrap();
    assert!(dropped.iter().all(|v| *v == 0.0 || *v == 2.0) && dropped.contains(&0.0) && dropped.contains(&2.0));
    assert_ne!(dropped[..64], dropped[64..]);
}

/// The loop sums cubes, so the first derivative is 3x² and the second one 6x.
#[test]
fn cached_loops_are_differentiated_twice() {
    let mut net = Net::new();
    let [row, state] = ["row", "state"].map(Symbol::variable);
    let square = net.call("square", &[&row]);
    let cube = net.call("elemwise_mul", &[&row, &square]);
    let sum = net.call("elemwise_add", &[&cube, &state]);
    let body = Symbol::group([&cube, &sum]).graph().unwrap();
    let graph = foreach(&net, &body, &Symbol::variable("x"), &Symbol::variable("s")).graph().unwrap();
    let nd = imperative_on(EngineKind::ThreadedPerDevice, 2, 1);
    let op = CachedOp::new(&nd, &graph, CachedOpFlags::default()).unwrap();
    let at = [0.5, -1.5, 2.0];
    let x = marked(&nd, &[3, 1], &at);
    let s = NdArray::zeros(nd.context(), [1], DType::F64).unwrap();
    let first = {
        let _record = autograd::record();
        let last = op.call(&[&x, &s]).unwrap().swap_remove(1);
        nd.grad(&[&last], &[&x], &[], CREATE).unwrap().swap_remove(0)
    };
    let expected: Vec<f64> = at.iter().map(|x| 3.0 * x * x).collect();
    assert_eq!(values(&first), expected);
    nd.backward(&[&first], &[], BackwardOptions::default()).unwrap();
    let expected: Vec<f64> = at.iter().map(|x| 6.0 * x).collect();
    assert_eq!(grad(&x), expected);
}

#[test]
fn loops_compute_in_half_precision_too() {
    let case = case("lstm_cell");
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let half =
        BindOptions { autocast: Some(DType::BF16), gradients: Some(GradRequests::all(GradReq::Write)), ..options() };
    let executor = Executor::simple_bind(&case.graph(), &context, &case.shapes(), &half).unwrap();
    for (name, tensor) in &case.inputs {
        executor.argument(name).unwrap().copy_from(&tensor.values).unwrap();
    }
    executor.forward_train().unwrap();
    for (output, expected) in executor.outputs().iter().zip(&case.outputs) {
        for (got, expected) in output.to_vec::<f32>().unwrap().iter().zip(&expected.values) {
            assert!((got - expected).abs() < 0.02, "{got} {expected}");
        }
    }
}
