//! Tests that mistakes in a graph, or in its use, are reported with names before any kernel runs.
//!
//! Graphs with cycles or missing inputs cannot be built: `mxrs-graph` refuses them where nodes are added
//! (`broken_graphs_are_refused`), `mxrs-format` where files are read (`lenient_reading_sorts_nodes_and_refuses_cycles`).

mod common;

use common::{array, context, imperative, marked, options, recorded};
use mxrs_engine::EngineKind;
use mxrs_exec::{BackwardOptions, BindOptions, CachedOp, CachedOpFlags, Executor, GradReq, GradRequests, autograd};
use mxrs_graph::{Entry, Graph, GraphBuilder, NameManager, NodeId, Symbol, SymbolCall};
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{DType, ErrorKind, Result, Shape};

fn call(name: &str, op: &str, attrs: &[(&str, &str)], inputs: &[&Symbol]) -> Symbol {
    let ops = mxrs_ops::catalog();
    let mut call = SymbolCall::new(ops.get(op).expect("a built operator")).name(name);
    for (key, value) in attrs {
        call = call.attr(*key, value);
    }
    call.inputs(inputs.iter().copied()).build(&mut NameManager::new()).expect("a well-formed call")
}

fn bind(graph: &Graph, inputs: &[(&str, Shape)], options: &BindOptions) -> Result<Executor> {
    Executor::simple_bind(graph, &context(EngineKind::Naive, 1), inputs, options)
}

fn expect<T>(result: Result<T>, words: &[&str]) {
    let Err(error) = result else { panic!("no error with {words:?}") };
    let error = error.to_string();
    words.iter().for_each(|word| assert!(error.contains(word), "`{word}` is not in: {error}"));
}

/// Rule G1: an edge that would close a cycle is refused when it is added, because a node may only refer to earlier nodes.
#[test]
fn g1_a_cycle_is_refused_where_it_would_close() {
    let ops = mxrs_ops::catalog();
    let mut b = GraphBuilder::new();
    let x = b.add_variable("x", Attrs::new());
    let relu = ops.get("relu").unwrap();
    let first = b.add_op(relu, "first", Attrs::new(), vec![Entry::new(x, 0)]).unwrap();
    let second = b.add_op(relu, "second", Attrs::new(), vec![Entry::new(first, 0)]).unwrap();
    expect(b.add_control_deps(first, &[second]), &["`first`", "added before it"]);
    expect(b.add_control_deps(first, &[first]), &["`first`", "added before it"]);
    // A node cannot have itself or a later node as an input.
    for ahead in [3, 4] {
        expect(
            b.add_op(relu, "third", Attrs::new(), vec![Entry::new(NodeId(ahead), 0)]),
            &["input 0 of node `third`", &ahead.to_string()],
        );
    }
}

/// If two operators disagree about the shape of a tensor, the error names both operators and both shapes.
#[test]
fn conflicting_shapes_name_both_operators_and_both_shapes() {
    let (x, w) = (Symbol::variable("x"), Symbol::variable("w"));
    // One operator makes a shape that the other cannot take.
    let made = call("wide", "FullyConnected", &[("num_hidden", "7")], &[&x]);
    let sum = call("sum", "elemwise_add", &[], &[&made, &x]);
    let inputs: [(&str, Shape); 1] = [("x", [2, 5].into())];
    let words = ["wide", "FullyConnected", "sum", "elemwise_add", "(2, 7)", "(2, 5)"];
    expect(bind(&sum.graph().unwrap(), &inputs, &options()), &words);
    // Both operators read the same weight.
    let first = call("first", "FullyConnected", &[("num_hidden", "4"), ("no_bias", "True")], &[&x, &w]);
    let second = call("second", "FullyConnected", &[("num_hidden", "4"), ("no_bias", "True")], &[&first, &w]);
    let words = ["`first`", "`second`", "FullyConnected", "w (4, 5)", "got (4, 5)", "expected (?, 4)"];
    expect(bind(&second.graph().unwrap(), &inputs, &options()), &words);
    // The caller gives a shape of `fc_weight` that contradicts the operator.
    let one = call("fc", "FullyConnected", &[("num_hidden", "4")], &[&x]);
    let given: [(&str, Shape); 2] = [("x", [2, 5].into()), ("fc_weight", [4, 6].into())];
    expect(
        bind(&one.graph().unwrap(), &given, &options()),
        &["`fc`", "FullyConnected", "got (4, 6)", "expected (?, 5)"],
    );
}

#[test]
fn conflicting_types_name_both_operators_and_both_types() {
    let x = Symbol::variable("x");
    let cast = call("cast", "Cast", &[("dtype", "float64")], &[&x]);
    let sum = call("sum", "elemwise_add", &[], &[&cast, &x]);
    let typed = BindOptions { dtypes: vec![("x".into(), DType::F32)], ..options() };
    let words = ["`cast` (Cast)", "`sum` (elemwise_add)", "float64", "float32"];
    expect(bind(&sum.graph().unwrap(), &[("x", [2].into())], &typed), &words);
}

#[test]
fn types_that_an_operator_does_not_take_name_both() {
    let graph = call("fc", "FullyConnected", &[("num_hidden", "4")], &[&Symbol::variable("x")]).graph().unwrap();
    for dtype in [DType::Bool, DType::U8] {
        let typed = BindOptions { default_dtype: dtype, ..options() };
        let error = bind(&graph, &[("x", [2, 5].into())], &typed).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::DType { .. }), "{error}");
        expect::<()>(Err(error), &["`fc`", "FullyConnected", dtype.name()]);
    }
}

#[test]
fn heads_and_gradients_are_counted() {
    let mut b = GraphBuilder::new();
    let x = b.add_variable("x", Attrs::new());
    b.set_heads(vec![Entry::new(x, 0), Entry::new(x, 1)]);
    expect(b.build(), &["head 1", "output 1 of `x`", "below 1"]);

    let x = Symbol::variable("x");
    let graph = Symbol::group([&call("a", "exp", &[], &[&x]), &call("b", "tanh", &[], &[&x])]).graph().unwrap();
    let training = BindOptions { gradients: Some(GradRequests::all(GradReq::Write)), ..options() };
    let executor = bind(&graph, &[("x", [3].into())], &training).unwrap();
    executor.forward_train().unwrap();
    let outputs = executor.outputs();
    expect(executor.backward(&outputs[..1]), &["number of head gradients", "1", "2, one per output"]);
    expect(executor.backward(&[]), &["head gradient of `a_output`", "not a loss"]);
    let wrong = NdArray::zeros(&context(EngineKind::Naive, 1), [4], DType::F32).unwrap();
    expect(executor.backward(&[outputs[0].clone(), wrong]), &["head gradient of `b_output`", "(4,)", "(3,)"]);
    // The refused calls above have not invalidated the forward run, so its gradient can still be computed.
    executor.backward(outputs).unwrap();

    let nd = imperative();
    let op = CachedOp::new(&nd, &graph, CachedOpFlags::default()).unwrap();
    let a = array(&nd, [2], &[1.0, 2.0]);
    expect(op.call(&[&a, &a]), &["number of inputs", "2", "1 (x)"]);
}

/// Rule A2: a gradient needs a run whose gradient has not been computed yet, for bound graphs and along the tape.
#[test]
fn a2_gradients_need_a_run_of_their_own() {
    let graph = call("y", "exp", &[], &[&Symbol::variable("x")]).graph().unwrap();
    let inputs: [(&str, Shape); 1] = [("x", [3].into())];
    let inference = bind(&graph, &inputs, &options()).unwrap();
    inference.forward_train().unwrap();
    expect(inference.backward(inference.outputs()), &["bound without gradients", "BindOptions::gradients"]);

    let training = BindOptions { gradients: Some(GradRequests::all(GradReq::Write)), ..options() };
    let executor = bind(&graph, &inputs, &training).unwrap();
    let backward = || executor.backward(executor.outputs());
    expect(backward(), &["no training run", "forward_train before each backward"]);
    executor.forward().unwrap();
    expect(backward(), &["no training run"]);
    executor.forward_train().unwrap();
    backward().unwrap();
    expect(backward(), &["no training run", "before each backward"]);
    executor.forward_train().unwrap();
    executor.forward().unwrap();
    expect(backward(), &["with no forward between them"]);

    let nd = imperative();
    let x = marked(&nd, &[2], &[1.0, 2.0]);
    let plain = nd.exp(&x).unwrap();
    let backward = |head: &NdArray, retain_graph| {
        nd.backward(&[head], &[], BackwardOptions { retain_graph, ..BackwardOptions::default() })
    };
    expect(backward(&plain, false), &["head 0", "record"]);
    let flags = CachedOpFlags { inline_limit: 0, ..CachedOpFlags::default() };
    let cached = CachedOp::new(&nd, &graph, flags).unwrap();
    for head in [recorded(|| nd.exp(&x)), recorded(|| Ok(cached.call(&[&x])?.swap_remove(0)))] {
        backward(&head, true).unwrap();
        backward(&head, false).unwrap();
        expect(backward(&head, false), &["retain_graph"]);
    }
    assert!(autograd::grad_of(&x).is_some());
}
