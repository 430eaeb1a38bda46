//! Tests every case that was recorded with MXNet, in every way to run a graph.

use super::common::{context, imperative_on, options};
use super::{Case, cases};
use mxrs_engine::EngineKind;
use mxrs_exec::{BackwardOptions, BindOptions, CachedOp, CachedOpFlags, Executor, GradReq, GradRequests, autograd};
use mxrs_graph::{expand_control_flow, infer_shapes};
use mxrs_ndarray::{ArrayContext, NdArray};
use std::collections::HashSet;

fn bind(case: &Case, context: &ArrayContext, options: &BindOptions) -> Executor {
    let executor = Executor::simple_bind(&case.graph(), context, &case.shapes(), options);
    let executor = executor.unwrap_or_else(|e| panic!("{}: {e}", case.name));
    for (name, tensor) in &case.inputs {
        executor.argument(name).unwrap().copy_from(&tensor.values).unwrap();
    }
    executor
}

#[test]
fn executors_compute_what_mxnet_does() {
    for case in cases() {
        let context = context(EngineKind::ThreadedPerDevice, 2);
        let executor = bind(&case, &context, &options());
        executor.forward().unwrap();
        case.check_outputs(executor.outputs(), "inference");
        let training = BindOptions { gradients: Some(GradRequests::all(GradReq::Write)), ..options() };
        let executor = bind(&case, &context, &training);
        executor.forward_train().unwrap();
        case.check_outputs(executor.outputs(), "training");
        let heads: Vec<NdArray> = case.head_grads.iter().map(|grad| grad.array(&context)).collect();
        executor.backward(&heads).unwrap();
        for name in case.gradients.keys() {
            case.check_gradient(name, executor.gradient(name).unwrap(), "executor");
        }
    }
}

#[test]
fn cached_graphs_compute_what_mxnet_does() {
    let nd = imperative_on(EngineKind::ThreadedPerDevice, 2, 1);
    for case in cases() {
        for static_alloc in [false, true] {
            let flags = CachedOpFlags { static_alloc, ..CachedOpFlags::default() };
            let op = CachedOp::new(&nd, &case.graph(), flags).unwrap();
            let arrays: Vec<NdArray> =
                op.input_names().iter().map(|name| case.inputs[*name].array(nd.context())).collect();
            let inputs: Vec<&NdArray> = arrays.iter().collect();
            case.check_outputs(&op.call(&inputs).unwrap(), "cached graph");
            arrays.iter().for_each(|array| nd.attach_grad(array, GradReq::Write).unwrap());
            let outputs = {
                let _record = autograd::record();
                op.call(&inputs).unwrap_or_else(|e| panic!("{}: {e}", case.name))
            };
            let heads: Vec<NdArray> = case.head_grads.iter().map(|grad| grad.array(nd.context())).collect();
            let heads: Vec<Option<&NdArray>> = heads.iter().map(Some).collect();
            nd.backward(&outputs.iter().collect::<Vec<_>>(), &heads, BackwardOptions::default()).unwrap();
            for (name, array) in op.input_names().iter().zip(&arrays) {
                case.check_gradient(name, &autograd::grad_of(array).unwrap(), "cached graph");
            }
        }
    }
}

/// Shapes are inferred through subgraphs without copies, forwards and into weights that only a body reads.
#[test]
fn shapes_follow_from_data_and_states() {
    for case in cases() {
        let graph = case.graph();
        let all = case.shapes();
        let is_given = |name: &str| !name.ends_with("weight") && !name.ends_with("bias") && !["w", "v"].contains(&name);
        let mut given: Vec<_> = all.iter().filter(|(name, _)| is_given(name)).collect();
        // In this case the shape of one vector follows from no other shape, so all shapes are given.
        if case.name == "expression_outside" {
            given = all.iter().collect();
        }
        let given = given.into_iter().map(|(name, shape)| (*name, shape.into()));
        let shapes = infer_shapes(&graph, given).and_then(|shapes| shapes.complete(&graph));
        let shapes = shapes.unwrap_or_else(|e| panic!("{}: {e}", case.name));
        let of = |entry| &shapes[graph.entry_id(entry).index()];
        for (name, shape) in all {
            let id = graph.find(name).unwrap();
            assert_eq!(*of(mxrs_graph::Entry::new(id, 0)), shape, "{}: {name}", case.name);
        }
        for (head, output) in graph.heads().iter().zip(&case.outputs) {
            assert_eq!(*of(*head), output.shape(), "{}", case.name);
        }
    }
}

#[test]
fn copies_have_names_of_their_own_that_say_the_step() {
    let ops = mxrs_ops::catalog();
    for case in cases() {
        let graph = case.graph();
        let given = case.shapes();
        let given = given.iter().map(|(name, shape)| (*name, shape.into()));
        let expanded = expand_control_flow(&graph, &ops, given, true).unwrap();
        assert!(graph.has_control_flow() && !expanded.has_control_flow(), "{}", case.name);
        let names: HashSet<&str> = expanded.nodes().iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names.len(), expanded.n_nodes(), "{}", case.name);
        // The expanded graph keeps all variables, including those that are needed only by an unused output.
        assert_eq!(expanded.argument_names(), graph.argument_names(), "{}", case.name);
        let node = graph.nodes().iter().find(|node| node.op_name() == "_foreach");
        if let Some(node) = node {
            let n_steps = case.inputs["data"].shape[0];
            for step in 0..n_steps {
                let prefix = format!("{}_step{step}_", node.name);
                assert!(names.iter().any(|name| name.starts_with(&prefix)), "{}: {prefix}", case.name);
            }
        }
    }
}
