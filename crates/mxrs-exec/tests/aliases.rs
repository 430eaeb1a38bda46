//! Tests bound arrays that share memory: binding fails if one of them is written, and succeeds otherwise.

mod common;

use common::{Net, context, options};
use indexmap::IndexMap;
use mxrs_engine::EngineKind;
use mxrs_exec::{BindOptions, Executor, GradReq, GradRequests, MemoryPool, ReshapeOptions};
use mxrs_graph::{Graph, Symbol};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::{Result, Shape};

/// Number of channels: one cache line of float32, so that slices of one array are aligned.
const C: usize = 16;

/// A graph that normalizes batches of `x`. `variables` are the names of gamma, beta, the moving mean and the moving
/// variance.
fn norm(variables: [&str; 4]) -> Graph {
    let [gamma, beta, mean, var] = variables.map(Symbol::variable);
    let x = Symbol::variable("x");
    let attrs = [("fix_gamma", "False"), ("momentum", "0.5")];
    Net::new().call_with("BatchNorm", &attrs, &[&x, &gamma, &beta, &mean, &var]).graph().expect("a well-formed graph")
}

const NAMES: [&str; 4] = ["gamma", "beta", "mean", "var"];

fn ones(context: &ArrayContext, n: usize) -> NdArray {
    NdArray::from_slice(context, [n], &vec![1.0f32; n]).expect("some memory")
}

fn bind(context: &ArrayContext, arrays: [&NdArray; 4], options: &BindOptions) -> Result<Executor> {
    let params: IndexMap<String, NdArray> =
        NAMES.map(str::to_owned).into_iter().zip(arrays.map(Clone::clone)).collect();
    Executor::bind(&norm(NAMES), context, &[("x", Shape::from([2, C]))], &params, options)
}

/// Asserts that binding fails with an error that names both variables.
fn assert_refused(bound: Result<Executor>, names: [&str; 2]) {
    let error = bound.err().expect("arrays overlap").to_string();
    assert!(names.iter().all(|name| error.contains(&format!("`{name}`"))), "{error}");
}

#[test]
fn a_rewritten_array_that_overlaps_another_is_refused() {
    let context = context(EngineKind::Naive, 1);
    let [gamma, beta, one, two] = [(); 4].map(|()| ones(&context, C));
    assert_refused(bind(&context, [&gamma, &beta, &one, &one], &options()), ["mean", "var"]);
    assert_refused(bind(&context, [&gamma, &one, &one, &two], &options()), ["mean", "beta"]);
    let whole = ones(&context, C + 1);
    let (first, second) = (whole.slice(0, C).unwrap(), whole.slice(1, C + 1).unwrap());
    assert_refused(bind(&context, [&gamma, &beta, &first, &second], &options()), ["mean", "var"]);
    // BatchNorm only reads gamma and beta.
    bind(&context, [&gamma, &gamma, &one, &two], &options()).expect("arrays that are only read may be the same");
}

#[test]
fn disjoint_slices_of_one_array_may_be_rewritten() {
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let (gamma, both) = (ones(&context, C), ones(&context, 2 * C));
    let (mean, var) = (both.slice(0, C).unwrap(), both.slice(C, 2 * C).unwrap());
    let executor = bind(&context, [&gamma, &gamma, &mean, &var], &options()).unwrap();
    let check = |executor: &Executor, n: usize, expected: [f32; 2]| {
        executor.argument("x").unwrap().copy_from(&vec![3.0f32; n * C]).unwrap();
        executor.forward_train().unwrap();
        assert_eq!(both.to_vec::<f32>().unwrap(), [[expected[0]; C], [expected[1]; C]].concat());
    };
    // The mean of the batch is 3 and its variance 0; the momentum is one half.
    check(&executor, 2, [2.0, 0.5]);
    let options = ReshapeOptions { partial_shaping: true, allow_up_sizing: false };
    let smaller = executor.reshape(&[("x", Shape::from([1, C]))], options).unwrap();
    check(&smaller, 1, [2.5, 0.25]);
}

#[test]
fn arrays_that_a_pool_made_the_same_are_refused() {
    let context = context(EngineKind::Naive, 1);
    let with_pool = BindOptions { pool: Some(MemoryPool::new(&context)), ..options() };
    let shared = ones(&context, C);
    for name in ["mean", "var"] {
        let graph = Net::new().call("relu", &[&Symbol::variable(name)]).graph().unwrap();
        let params = [(name.to_owned(), shared.clone())].into_iter().collect();
        Executor::bind(&graph, &context, &[], &params, &with_pool).unwrap();
    }
    let bound = Executor::simple_bind(&norm(NAMES), &context, &[("x", Shape::from([2, C]))], &with_pool);
    assert_refused(bound, ["mean", "var"]);
}

#[test]
fn a_gradient_array_that_overlaps_a_rewritten_array_is_refused() {
    let context = context(EngineKind::Naive, 1);
    let [gamma, beta, mean, var] = [(); 4].map(|()| ones(&context, C));
    let gradients = GradRequests { arrays: vec![("beta".into(), mean.clone())], ..GradRequests::all(GradReq::Write) };
    let options = BindOptions { gradients: Some(gradients), ..options() };
    assert_refused(bind(&context, [&gamma, &beta, &mean, &var], &options), ["mean", "gradient of beta"]);
}

/// An executor for the product of two arrays, with the arrays `gradients` for the two gradients. One kernel writes both
/// gradients while it reads the two arrays.
fn product(gradients: [&NdArray; 2], context: &ArrayContext) -> Result<Executor> {
    let [a, b] = ["a", "b"].map(Symbol::variable);
    let graph = Net::new().call("elemwise_mul", &[&a, &b]).graph().expect("a well-formed graph");
    let requests = ["a", "b"].into_iter().zip(gradients);
    let requests =
        requests.fold(GradRequests::all(GradReq::Write), |all, (name, array)| all.into_array(name, array.clone()));
    let params = ["a", "b"].map(|name| (name.to_owned(), ones(context, C))).into_iter().collect();
    Executor::bind(&graph, context, &[], &params, &BindOptions { gradients: Some(requests), ..options() })
}

#[test]
fn gradient_arrays_that_overlap_are_refused() {
    let context = context(EngineKind::Naive, 1);
    let (one, whole) = (ones(&context, C), ones(&context, 2 * C));
    let names = ["gradient of a", "gradient of b"];
    assert_refused(product([&one, &one], &context), names);
    let parts = [(0, C), (C - 1, 2 * C - 1)].map(|(begin, end)| whole.slice(begin, end).unwrap());
    assert_refused(product([&parts[0], &parts[1]], &context), names);
    let apart = [(0, C), (C, 2 * C)].map(|(begin, end)| whole.slice(begin, end).unwrap());
    let executor = product([&apart[0], &apart[1]], &context).expect("parts that do not overlap");
    executor.forward_train().unwrap();
    executor.backward(&[NdArray::from_slice(&context, [C], &[3.0f32; C]).unwrap()]).unwrap();
    assert_eq!(whole.to_vec::<f32>().unwrap(), [3.0f32; 2 * C]);
}

#[test]
fn a_gradient_array_that_overlaps_an_argument_is_refused() {
    let context = context(EngineKind::Naive, 1);
    let [a, b] = ["a", "b"].map(Symbol::variable);
    let graph = Net::new().call("elemwise_mul", &[&a, &b]).graph().unwrap();
    let shared = ones(&context, C);
    let params = [("a".to_owned(), shared.clone()), ("b".to_owned(), ones(&context, C))].into_iter().collect();
    let gradients = Some(GradRequests::all(GradReq::Write).into_array("b", shared));
    let bound = Executor::bind(&graph, &context, &[], &params, &BindOptions { gradients, ..options() });
    assert_refused(bound, ["gradient of b", "a"]);
}

#[test]
fn a_variable_given_twice_to_a_call_that_rewrites_it_is_refused() {
    let context = context(EngineKind::Naive, 1);
    let [x, gamma, beta, state] = ["x", "gamma", "beta", "state"].map(Symbol::variable);
    let graph = Net::new().call("BatchNorm", &[&x, &gamma, &beta, &state, &state]).graph().unwrap();
    let bound = Executor::simple_bind(&graph, &context, &[("x", Shape::from([2, C]))], &options());
    assert_refused(bound, ["state", "state"]);
}
