//! Tests monitors, runs by single steps, and binding other outputs.

mod common;

use common::{Net, context, numbers, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{BindOptions, Executor, GradReq, GradRequests, Monitored};
use mxrs_graph::{Graph, Symbol, select_outputs};
use mxrs_ndarray::ArrayContext;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

/// Two fully connected layers. Between them, relu and tanh overwrite their inputs in place, and `Flatten` makes a view.
fn network() -> Graph {
    let mut net = Net::new();
    let x = Symbol::variable("x");
    let y = net.call_with("FullyConnected", &[("num_hidden", "4")], &[&x]);
    let y = net.call("relu", &[&y]);
    let y = net.call("tanh", &[&y]);
    let y = net.call("Flatten", &[&y]);
    net.call_with("FullyConnected", &[("num_hidden", "2")], &[&y]).graph().expect("a well-formed graph")
}

fn bind(graph: &Graph, context: &ArrayContext, options: &BindOptions) -> Executor {
    let executor = Executor::simple_bind(graph, context, &[("x", [3, 5].into())], options).expect("it binds");
    for (seed, (_, array)) in executor.arrays().iter().enumerate() {
        let values: Vec<f32> = numbers(array.shape().n_elements(), seed as u64 + 1).iter().map(|v| *v as f32).collect();
        array.copy_from(&values).expect("the shape of the array");
    }
    executor
}

fn training() -> BindOptions {
    BindOptions { gradients: Some(GradRequests::all(GradReq::Write)), ..options() }
}

/// What a monitor has seen of each tensor: name, operator, whether it is an input, values, thread.
type Told = Arc<Mutex<Vec<(String, String, bool, Vec<f32>, ThreadId)>>>;

fn listen(executor: &Executor, monitor_all: bool) -> Told {
    let told: Told = Arc::default();
    let into = told.clone();
    let callback = move |seen: &Monitored<'_>| {
        let values = seen.array.to_vec::<f32>().expect("a computed array");
        let thread = std::thread::current().id();
        into.lock().unwrap().push((seen.name.into(), seen.op.into(), seen.is_input, values, thread));
        // The array is a copy, so this write changes nothing else.
        seen.array.copy_from(&vec![f32::NAN; seen.array.shape().n_elements()]).expect("an array like any other");
    };
    executor.set_monitor(callback, monitor_all);
    told
}

fn names(told: &Told) -> Vec<String> {
    told.lock().unwrap().iter().map(|t| t.0.clone()).collect()
}

#[test]
fn every_output_is_shown_in_order_with_its_value() {
    for kind in common::KINDS {
        let context = context(kind, 2);
        let graph = network();
        let executor = bind(&graph, &context, &options());
        executor.forward().unwrap();
        let expected = executor.outputs()[0].to_vec::<f32>().unwrap();
        let told = listen(&executor, false);
        executor.forward().unwrap();
        let order =
            ["fullyconnected0_output", "relu0_output", "tanh0_output", "flatten0_output", "fullyconnected1_output"];
        assert_eq!(names(&told), order, "{kind:?}");
        assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), expected);
        let told = told.lock().unwrap();
        assert!(told.iter().all(|t| t.4 == std::thread::current().id() && !t.2));
        assert_eq!((told[1].1.as_str(), &told[4].3), ("relu", &expected));
        // The monitor got the right values, although later steps use the memory of the tensors again: a graph whose head is
        // the tensor computes the same values.
        for (name, _, _, values, _) in told.iter() {
            let until = bind(&select_outputs(&graph, &[name]).unwrap(), &context, &options());
            for (argument, array) in until.arrays() {
                array.copy_from_array(executor.argument(argument).unwrap()).unwrap();
            }
            until.forward().unwrap();
            assert_eq!(&until.outputs()[0].to_vec::<f32>().unwrap(), values, "{name}");
        }
    }
}

#[test]
fn with_monitor_all_inputs_come_before_outputs() {
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let executor = bind(&network(), &context, &options());
    let told = listen(&executor, true);
    executor.forward().unwrap();
    let first = ["fullyconnected0_data", "fullyconnected0_weight", "fullyconnected0_bias", "fullyconnected0_output"];
    assert_eq!(names(&told)[..6], [&first[..], &["relu0_data", "relu0_output"]].concat());
    let told = told.lock().unwrap();
    assert_eq!(told[0].3, executor.argument("x").unwrap().to_vec::<f32>().unwrap());
    // The input of relu is shown with its old values, although relu overwrites it.
    assert_eq!((told[4].2, &told[4].3), (true, &told[3].3));
    assert!(told[3].3.iter().any(|v| *v < 0.0) && told[5].3.iter().all(|v| *v >= 0.0));
}

#[test]
fn a_monitor_switches_to_one_task_per_operator_and_back() {
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let executor = bind(&network(), &context, &options());
    let pushes = || {
        let before = context.engine().counters().pushed;
        executor.forward().unwrap();
        context.engine().counters().pushed - before
    };
    assert_eq!(pushes(), 1);
    // The copies are kept, because dropping one pushes a task too.
    let kept = Mutex::new(Vec::new());
    executor.set_monitor(move |seen| kept.lock().unwrap().push(seen.array.clone()), false);
    assert_eq!(pushes(), 5);
    executor.remove_monitor();
    context.engine().wait_for_all().unwrap();
    assert_eq!(pushes(), 1);
}

/// A monitor sees both halves of a training step. Sums that are made in place are shown as sums.
#[test]
fn gradients_are_shown_too() {
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let mut net = Net::new();
    let x = Symbol::variable("x");
    let terms = ["square", "tanh", "sigmoid"].map(|op| net.call(op, &[&x]));
    let graph = Symbol::group(&terms).graph().unwrap();
    let options = BindOptions { grad_sum_cap: 2, ..training() };
    let executor = bind(&graph, &context, &options);
    assert_eq!(executor.training_report().unwrap().inplace_adds.len(), 2);
    let plain = bind(&graph, &context, &{
        let mut options = options.clone();
        options.plan.enable_inplace = false;
        options
    });
    let [told, expected] = [&executor, &plain].map(|executor| {
        let told = listen(executor, false);
        executor.forward_train().unwrap();
        executor.backward(executor.outputs()).unwrap();
        let seen: Vec<(String, Vec<f32>)> = told.lock().unwrap().iter().map(|t| (t.0.clone(), t.3.clone())).collect();
        seen
    });
    assert_eq!(
        told[..3].iter().map(|t| t.0.as_str()).collect::<Vec<_>>(),
        ["square0_output", "tanh0_output", "sigmoid0_output"]
    );
    // Every shown tensor has the values of `expected`, which are those of a run in which no sum overwrites a term. Two
    // terms are not shown, because their memory already holds a sum.
    assert!(told.iter().all(|seen| expected.contains(seen)));
    assert_eq!(expected.len(), told.len() + 2);
    assert_eq!(told.last().unwrap().1, executor.gradient("x").unwrap().to_vec::<f32>().unwrap());
}

#[test]
fn a_callback_that_runs_the_pool_is_noticed() {
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let executor = bind(&network(), &context, &options());
    let other = bind(&network(), &context, &BindOptions { pool: Some(executor.pool().clone()), ..options() });
    executor.set_monitor(move |_| other.forward().unwrap(), false);
    let error = executor.forward().unwrap_err().to_string();
    assert!(error.contains("monitor") && error.contains("pool"), "{error}");
}

/// Running all steps one by one equals a whole run, at inference and in training. Steps out of order are refused.
#[test]
fn partial_forward_runs_step_by_step() {
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let executor = bind(&network(), &context, &training());
    for is_train in [false, true] {
        if is_train {
            executor.forward_train().unwrap()
        } else {
            executor.forward().unwrap()
        }
        let expected = executor.outputs()[0].to_vec::<f32>().unwrap();
        let mut gradient = Vec::new();
        if is_train {
            executor.backward(executor.outputs()).unwrap();
            gradient = executor.gradient("x").unwrap().to_vec::<f32>().unwrap();
            executor.gradient("x").unwrap().copy_from(&[0.0f32; 15]).unwrap();
        }
        executor.outputs()[0].copy_from(&[0.0f32; 6]).unwrap();
        let mut left = executor.partial_forward(is_train, 0).unwrap();
        let error = executor.partial_forward(is_train, 3).unwrap_err().to_string();
        assert!(error.contains("step 3") && error.contains("step 1"), "{error}");
        assert!(executor.backward(executor.outputs()).is_err(), "the run is not over");
        let n_steps = left + 1;
        for step in 1..n_steps {
            left = executor.partial_forward(is_train, step).unwrap();
            assert_eq!(left, n_steps - step - 1);
        }
        assert_eq!(executor.partial_forward(is_train, n_steps).unwrap(), 0);
        assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), expected);
        if is_train {
            executor.backward(executor.outputs()).unwrap();
            assert_eq!(executor.gradient("x").unwrap().to_vec::<f32>().unwrap(), gradient);
        }
    }
    // Another run between two steps ends the run that is pushed step by step.
    executor.partial_forward(false, 0).unwrap();
    executor.forward().unwrap();
    assert!(executor.partial_forward(false, 1).is_err());
}

/// A graph whose head is an inner value computes only the calls that the value needs.
#[test]
fn binding_some_heads_computes_what_they_need() {
    let context = context(EngineKind::Naive, 1);
    let graph = select_outputs(&network(), &["tanh0_output"]).unwrap();
    let executor = bind(&graph, &context, &options());
    let ops: Vec<String> = executor.report().unwrap().steps.iter().map(|step| step.op.clone()).collect();
    assert_eq!(ops, ["FullyConnected", "relu", "tanh"]);
    assert!(executor.argument("fullyconnected1_weight").is_err());
    assert_eq!(executor.output_names(), ["tanh0_output"]);
}
