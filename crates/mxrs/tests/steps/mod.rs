//! Runs two training steps of a small network with given environment variables, and returns gradients, auxiliary states
//! and the report of the executor.

use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::exec::{BindOptions, Executor, ExecutorReport, GradReq, GradRequests};
use mxrs::graph::{Graph, NameManager, Symbol, SymbolCall};
use mxrs::types::Shape;

fn runtime(vars: &[(&str, &str)]) -> Runtime {
    Runtime::builder().env(&MapSource::new(vars.iter().copied())).build().expect("a runtime")
}

/// Builds a symbol from calls of the runtime's operators.
pub struct Calls<'a> {
    runtime: &'a Runtime,
    names: NameManager,
}

impl Calls<'_> {
    /// A call of the operator `op`.
    pub fn call(&mut self, op: &str, attrs: &[(&str, &str)], inputs: &[&Symbol]) -> Symbol {
        let op = self.runtime.ops().get(op).expect("a built operator");
        let call = SymbolCall::new(op).inputs(inputs.iter().copied());
        attrs
            .iter()
            .fold(call, |call, (key, value)| call.attr(*key, value))
            .build(&mut self.names)
            .expect("a right call")
    }

    /// A fully-connected layer of ten classes on `x`, with the loss.
    pub fn loss(&mut self, x: &Symbol) -> Graph {
        let dense = self.call("FullyConnected", &[("num_hidden", "10")], &[x]);
        self.call("SoftmaxOutput", &[], &[&dense, &Symbol::variable("label")]).graph().expect("a graph")
    }
}

/// Gradients and auxiliary states, each with its name.
pub type Values = Vec<(String, Vec<f32>)>;

/// Runs two training steps from fixed values, with the environment variables `vars`. Returns gradients, auxiliary
/// states and the report of the executor. The network's input `x` is the data; its gradient is computed only if
/// `with_data` is set.
pub fn steps(network: fn(&mut Calls<'_>) -> Graph, vars: &[(&str, &str)], with_data: bool) -> (Values, ExecutorReport) {
    let runtime = runtime(vars);
    let of_data = if with_data { GradReq::Write } else { GradReq::Null };
    let requests = GradRequests::all(GradReq::Write).with("label", GradReq::Null).with("x", of_data);
    let options = BindOptions { gradients: Some(requests), ..runtime.bind_options() };
    let shape = Shape::from([4, 16, 12, 12]);
    let graph = network(&mut Calls { runtime: &runtime, names: NameManager::new() });
    let executor = Executor::simple_bind(&graph, runtime.arrays(), &[("x", shape)], &options).expect("it binds");
    for (seed, (name, array)) in executor.arrays().iter().enumerate() {
        let number = |i: usize| ((i * 7919 + seed * 104_729) % 1009) as f32 / 1009.0;
        let value = |i: usize| match name.as_str() {
            "label" => (i % 10) as f32,
            name if name.ends_with("gamma") || name.ends_with("var") => 0.5 + number(i),
            _ => 0.4 * (number(i) - 0.5),
        };
        array.copy_from(&(0..array.shape().n_elements()).map(value).collect::<Vec<f32>>()).expect("its shape");
    }
    for _ in 0..2 {
        executor.forward_train().expect("it runs");
        executor.backward(&[]).expect("it runs");
    }
    let gradients = executor.gradients().iter().map(|g| (format!("gradient of {}", g.name), &g.array));
    let arrays = executor.arrays().iter().map(|(name, array)| (name.clone(), array));
    let values = gradients.chain(arrays).map(|(name, array)| (name, array.to_vec::<f32>().expect("it is computed")));
    (values.collect(), executor.training_report().expect("bound for training"))
}

/// Number of kernels of an operator that run.
pub fn count(report: &ExecutorReport, op: &str) -> usize {
    report.steps.iter().filter(|step| step.op == op && step.kernel != "view").count()
}

/// Asserts that values agree up to rounding: differences are at most `most` times the largest element of each array.
pub fn assert_alike(found: &Values, expected: &Values, most: f32) {
    assert_eq!(found.len(), expected.len());
    for ((name, found), (_, expected)) in found.iter().zip(expected) {
        let scale = expected.iter().fold(1e-3f32, |most, x| most.max(x.abs()));
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= most * scale, "{name}: {found}, not {expected} of {scale}");
        }
    }
}
