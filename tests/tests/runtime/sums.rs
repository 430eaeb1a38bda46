//! Tests of addition in place: a kernel adds its result to a sum of gradients or to the shortcut of a residual network,
//! instead of a separate addition. There are fewer steps, and the results have the same bits.

use mxrs::env::MapSource;
use mxrs::exec::{Executor, GradReq, GradRequests};
use mxrs::graph::{NameManager, Symbol, SymbolCall};
use mxrs::ndarray::NdArray;
use mxrs::types::Shape;
use mxrs::{Model, Runtime};
use mxrs_tests::digits;

/// Runs one step with these gradients of the heads. Returns the bits of the outputs and of all gradients, the number of
/// additions left, and the number of additions made in place.
fn step(executor: &Executor, heads: &[NdArray]) -> (Vec<Vec<u8>>, usize, usize) {
    executor.forward_train().unwrap();
    executor.backward(heads).unwrap();
    let arrays = executor.outputs().iter().chain(executor.gradients().iter().map(|g| &g.array));
    let bits = arrays.map(|array| array.read_bytes(<[u8]>::to_vec).unwrap()).collect();
    let report = executor.training_report().unwrap();
    let is_addition = |op: &str| ["_grad_add", "elemwise_add"].contains(&op);
    let n_left = report.steps.iter().filter(|step| is_addition(&step.op)).count();
    (bits, n_left, report.inplace_adds.len())
}

#[test]
fn our_own_kernels_add_in_place() {
    let runtime = Runtime::builder().env(&MapSource::empty()).only_backend("cpu").build().unwrap();
    let (mut names, ops) = (NameManager::new(), mxrs::ops::catalog());
    let mut call = |op: &str, inputs: &[&Symbol]| {
        let call = SymbolCall::new(ops.get(op).expect("a built operator"));
        call.inputs(inputs.iter().copied()).build(&mut names).expect("a well-formed call")
    };
    let data = Symbol::variable("data");
    let shared = call("exp", &[&data]);
    let terms = ["square", "sigmoid", "tanh", "square", "relu"].map(|op| call(op, &[&shared]));
    let sum = terms[1..].iter().fold(terms[0].clone(), |sum, term| call("elemwise_mul", &[&sum, term]));
    let graph = sum.graph().unwrap();
    let run = |enable_inplace| {
        let mut options = runtime.bind_options();
        options.gradients = Some(GradRequests::all(GradReq::Write));
        // Adds sums of gradients term by term, and keeps calls from being merged or fused, so that the graph contains
        // additions.
        (options.grad_sum_cap, options.plan.enable_inplace) = (2, enable_inplace);
        options.eliminate_common = false;
        options.fuse = false;
        let executor = Executor::simple_bind(&graph, runtime.arrays(), &[("data", [5, 999].into())], &options).unwrap();
        let numbers: Vec<f32> = (0..5 * 999).map(|i| (i % 61) as f32 / 31.0 - 1.0).collect();
        executor.argument("data").unwrap().copy_from(&numbers).unwrap();
        step(&executor, executor.outputs())
    };
    let (expected, n_added, zero) = run(false);
    let (got, n_left, n_left_out) = run(true);
    assert_eq!((zero, n_left, n_left_out), (0, 0, n_added));
    assert!(n_added >= 4, "{n_added} additions");
    assert!(got == expected, "other bits");
}

#[test]
fn a_residual_network_has_the_same_bits() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let model = Model::load(&runtime, digits("resnet8"), 10).unwrap();
    let inputs = [("data", Shape::from([4, 1, 28, 28])), ("softmax_label", Shape::from([4]))];
    let run = |enable_inplace| {
        let mut options = runtime.bind_options();
        options.gradients = Some(GradRequests::all(GradReq::Write));
        (options.grad_sum_cap, options.plan.enable_inplace) = (2, enable_inplace);
        let executor = Executor::bind(model.graph(), runtime.arrays(), &inputs, model.params(), &options).unwrap();
        let numbers: Vec<f32> = (0..4 * 784).map(|i| (i * 7 % 255) as f32 / 255.0).collect();
        executor.argument("data").unwrap().copy_from(&numbers).unwrap();
        executor.argument("softmax_label").unwrap().copy_from(&[3f32, 1.0, 4.0, 1.0]).unwrap();
        step(&executor, &[])
    };
    let (expected, n_added, _) = run(false);
    let (got, n_left, n_left_out) = run(true);
    assert_eq!(n_left + n_left_out, n_added);
    assert!(got == expected, "other bits");
}
