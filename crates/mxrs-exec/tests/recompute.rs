//! Tests recomputation and common-subexpression elimination in bound graphs: fewer bytes, the same bits.

mod common;

use common::{Net, context, live_bytes, numbers, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{
    BackwardOptions, BindOptions, CachedOp, CachedOpFlags, DryGraph, Executor, ExecutorReport, GradReq, GradRequests,
    Imperative, PlannedGraph, Recompute, StepReport, autograd,
};
use mxrs_graph::{Graph, Symbol};
use mxrs_ndarray::NdArray;
use mxrs_types::{Result, Shape};

const CONV: [(&str, &str); 3] = [("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("num_filter", "4")];

/// A network on `data` [2, 4, 6, 6] of `layers` times convolution, batch normalization and relu, with one dropout in the
/// middle.
fn conv_bn_relu(layers: usize, forced: &[(&str, &str)]) -> Graph {
    let mut net = Net::new();
    let mut x = Symbol::variable("data");
    for layer in 0..layers {
        x = net.call_with("Convolution", &CONV, &[&x]);
        x = net.call_with("BatchNorm", &[&[("fix_gamma", "False")][..], forced].concat(), &[&x]);
        x = net.call_with("Activation", &[&[("act_type", "relu")][..], forced].concat(), &[&x]);
        if layer == layers / 2 {
            x = net.call_with("Dropout", &[("p", "0.5")], &[&x]);
        }
    }
    x.graph().expect("a well-formed graph")
}

/// A chain of `n` squares. The gradient of each reads its input.
fn squares(n: usize) -> Graph {
    let mut net = Net::new();
    let mut x = Symbol::variable("data");
    for _ in 0..n {
        x = net.call("square", &[&x]);
    }
    x.graph().expect("a well-formed graph")
}

const IMAGES: [usize; 4] = [2, 4, 6, 6];
const IMAGE_BYTES: usize = 2 * 4 * 6 * 6 * 4;

fn training(recompute: Recompute) -> BindOptions {
    BindOptions { recompute, gradients: Some(GradRequests::all(GradReq::Write)), ..options() }
}

fn planned(graph: &Graph, shape: impl Into<Shape>, recompute: Recompute) -> Result<PlannedGraph> {
    let options = training(recompute);
    DryGraph::new(graph, &[("data", shape.into())], &options, true)?.plan(&options.plan)
}

/// Names and bits of the arrays after a training step: outputs, gradients, auxiliary states.
type Step = Vec<(String, Vec<u32>)>;

fn bits(name: &str, array: &NdArray) -> (String, Vec<u32>) {
    (name.to_owned(), array.to_vec::<f32>().expect("a computed array").into_iter().map(f32::to_bits).collect())
}

/// Runs two training steps. The second begins with other statistics and draws other random numbers.
fn steps(graph: &Graph, shape: &Shape, options: &BindOptions) -> (Step, ExecutorReport) {
    let context = context(EngineKind::ThreadedPerDevice, 2);
    context.random().seed(3);
    let executor = Executor::simple_bind(graph, &context, &[("data", shape.clone())], options).expect("it binds");
    for (seed, (name, array)) in executor.arrays().iter().enumerate() {
        let values: Vec<f32> = numbers(array.shape().n_elements(), seed as u64 + 1).iter().map(|v| *v as f32).collect();
        let values = if name.ends_with("var") { values.iter().map(|v| v.abs()).collect() } else { values };
        array.copy_from(&values).expect("the shape of the array");
    }
    let mut step = Vec::new();
    for _ in 0..2 {
        executor.forward_train().expect("it runs");
        executor.backward(executor.outputs()).expect("it runs");
        step.extend(executor.outputs().iter().zip(executor.output_names()).map(|(a, n)| bits(n, a)));
        step.extend(executor.gradients().iter().map(|g| bits(&g.name, &g.array)));
        step.extend(executor.arrays().iter().map(|(n, a)| bits(n, a)));
    }
    (step, executor.training_report().expect("bound for training"))
}

fn count(steps: &[StepReport], op: &str) -> usize {
    steps.iter().filter(|s| s.op == op && s.kernel != "view").count()
}

fn n_mirrors(steps: &[StepReport]) -> usize {
    steps.iter().filter(|s| s.name.contains("_mirror")).count()
}

/// D50 (`MXNET_BACKWARD_DO_MIRROR`): with mirroring, cheap operators run a second time, products and random operators do
/// not, and the arena is at least a fifth smaller.
#[test]
fn d50_mirroring_runs_cheap_operators_twice() {
    let graph = conv_bn_relu(12, &[]);
    let (off, on) =
        (planned(&graph, IMAGES, Recompute::Off).unwrap(), planned(&graph, IMAGES, Recompute::Mirror).unwrap());
    assert_eq!((off.n_recomputed, n_mirrors(&off.steps)), (0, 0));
    assert!(on.arena_bytes * 5 <= off.arena_bytes * 4, "{} of {}", on.arena_bytes, off.arena_bytes);
    assert_eq!((count(&on.steps, "Convolution"), count(&on.steps, "Dropout")), (12, 1));
    // The last relu, whose output is the head, is not computed again.
    assert_eq!((count(&off.steps, "Activation"), count(&on.steps, "Activation")), (12, 23));
    assert_eq!(on.n_recomputed, n_mirrors(&on.steps));
    assert_eq!(on.n_forward, off.n_forward);
}

/// Rules G13, G14: in every mode of recomputation, outputs, gradients, moving statistics and dropout masks of two steps have
/// the same bits.
#[test]
fn g13_g14_recomputation_changes_no_bit() {
    let graph = conv_bn_relu(6, &[]);
    let shape = Shape::from(IMAGES);
    let (expected, off) = steps(&graph, &shape, &training(Recompute::Off));
    assert!(expected.iter().any(|(name, values)| name.contains("moving_mean") && values.iter().any(|v| *v != 0)));
    let half = Recompute::Budget(off.arena_bytes * 3 / 4);
    for recompute in [Recompute::Mirror, Recompute::Sqrt, Recompute::Chain, half] {
        let (found, report) = steps(&graph, &shape, &training(recompute));
        assert!(n_mirrors(&report.steps) > 0, "{recompute:?}");
        assert!(report.arena_bytes < off.arena_bytes, "{recompute:?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!(found == expected, "{recompute:?}: {}", found.0);
        }
    }
}

/// Rule G13: if a dropout is computed again, its mask is the same.
#[test]
fn g13_dropout_masks_are_replayed() {
    let mut net = Net::new();
    let mut x = Symbol::variable("data");
    for _ in 0..12 {
        x = net.call("square", &[&x]);
        x = net.call_with("Dropout", &[("p", "0.5")], &[&x]);
    }
    let graph = x.graph().unwrap();
    let shape = Shape::from([8, 64]);
    let (expected, off) = steps(&graph, &shape, &training(Recompute::Off));
    let (found, report) = steps(&graph, &shape, &training(Recompute::Sqrt));
    assert!(count(&report.steps, "Dropout") > count(&off.steps, "Dropout"));
    assert!(report.arena_bytes < off.arena_bytes);
    assert!(found == expected);
    // The two steps must have different masks, otherwise equal masks would show nothing.
    assert!(expected[0].1 != expected[expected.len() / 2].1);
    let (_, mirrored) = steps(&graph, &shape, &training(Recompute::Mirror));
    assert_eq!(count(&mirrored.steps, "Dropout"), count(&off.steps, "Dropout"), "never by D50");
}

/// D50 (`MXNET_BACKWARD_DO_MIRROR`): an annotation on a call decides for this call: it forces recomputation where the option
/// is off, and forbids it where the option is on.
#[test]
fn d50_force_mirroring_decides() {
    let counts = |force: &str, recompute| {
        let graph = conv_bn_relu(12, &[("__force_mirroring__", force)]);
        let planned = planned(&graph, IMAGES, recompute).unwrap();
        ["Convolution", "BatchNorm", "Activation", "Dropout"].map(|op| count(&planned.steps, op))
    };
    // All normalizations are computed again, including the last, whose statistics its gradient reads.
    assert_eq!(counts("True", Recompute::Off), [12, 24, 23, 1]);
    assert_eq!(counts("0", Recompute::Mirror), [12, 12, 12, 1]);
    // To compute only relu again, the output of batch normalization would have to be kept. That saves no memory, so nothing
    // is recomputed (rule G14).
    let mut net = Net::new();
    let mut x = Symbol::variable("data");
    for _ in 0..12 {
        x = net.call_with("Convolution", &CONV, &[&x]);
        x = net.call("BatchNorm", &[&x]);
        x = net.call_with("Activation", &[("act_type", "relu"), ("__force_mirroring__", "1")], &[&x]);
    }
    assert_eq!(planned(&x.graph().unwrap(), IMAGES, Recompute::Off).unwrap().n_recomputed, 0);
}

/// With n layers, about 2 sqrt(n) inputs of layers are alive at the same time. This costs at most one more forward run.
#[test]
fn sqrt_and_chain_on_200_layers() {
    let (graph, bytes) = (squares(200), 64 * 4);
    let off = planned(&graph, [64], Recompute::Off).unwrap();
    assert!(off.arena_bytes >= 199 * bytes);
    for recompute in [Recompute::Sqrt, Recompute::Chain] {
        let on = planned(&graph, [64], recompute).unwrap();
        assert!(on.arena_bytes <= 36 * bytes, "{recompute:?}: {} tensors", on.arena_bytes / bytes);
        assert!(on.n_recomputed < 200 && on.recomputed_work <= 0.5, "{recompute:?}");
    }
}

/// Rule G14: a budget is met, and a larger budget costs less work. A budget that cannot be met is refused, and the error
/// gives the smallest budget that can be met.
#[test]
fn g14_a_budget_is_met_or_refused() {
    let graph = conv_bn_relu(12, &[]);
    let off = planned(&graph, IMAGES, Recompute::Off).unwrap();
    let enough = planned(&graph, IMAGES, Recompute::Budget(off.arena_bytes)).unwrap();
    assert_eq!((enough.n_recomputed, enough.arena_bytes), (0, off.arena_bytes));
    let mut work = 0.0;
    for percent in [90, 75, 60] {
        let budget = off.arena_bytes * percent / 100;
        let on = planned(&graph, IMAGES, Recompute::Budget(budget)).unwrap();
        assert!(on.arena_bytes <= budget && on.recomputed_work >= work);
        work = on.recomputed_work;
    }
    let text = planned(&graph, IMAGES, Recompute::Budget(IMAGE_BYTES)).err().unwrap().to_string();
    let least: usize = text.split("at least ").nth(1).and_then(|t| t.split(',').next()).unwrap().parse().unwrap();
    assert!(least > IMAGE_BYTES && least < off.arena_bytes, "{text}");
    assert!(planned(&graph, IMAGES, Recompute::Budget(least)).unwrap().arena_bytes <= least);
    assert!(planned(&graph, IMAGES, Recompute::Budget(least - 1)).is_err());
}

/// D88 (`MXNET_ELIMINATE_COMMON_EXPR`): two equal towers become one, and outputs keep their names and bits. All numbers are
/// sums of few powers of two, so gradients are exact in any order of summation.
#[test]
fn d88_equal_towers_are_computed_once() {
    let mut net = Net::new();
    let data = Symbol::variable("data");
    let (mut towers, mut bases) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let y = net.call_with("_plus_scalar", &[("scalar", "1")], &[&data]);
        towers.push(net.call_with("_mul_scalar", &[("scalar", "2")], &[&y]));
        bases.push(y);
    }
    let sum = net.call("elemwise_mul", &[&towers[0], &towers[1]]);
    let graph = Symbol::group([&towers[0], &towers[1], &sum, &bases[1]]).graph().unwrap();
    let context = context(EngineKind::Naive, 1);
    let run = |eliminate_common: bool| {
        let options = BindOptions { eliminate_common, ..training(Recompute::Off) };
        let executor = Executor::simple_bind(&graph, &context, &[("data", [4].into())], &options).unwrap();
        executor.argument("data").unwrap().copy_from(&[1.0f32, -2.0, 0.5, 8.0]).unwrap();
        executor.forward_train().unwrap();
        executor.backward(executor.outputs()).unwrap();
        let mut found: Step = executor.outputs().iter().zip(executor.output_names()).map(|(a, n)| bits(n, a)).collect();
        found.extend(executor.gradients().iter().map(|g| bits(&g.name, &g.array)));
        executor.forward().unwrap();
        found.extend(executor.outputs().iter().zip(executor.output_names()).map(|(a, n)| bits(n, a)));
        let trained = executor.training_report().unwrap().steps;
        (found, count(&executor.report().unwrap().steps, "_plus_scalar"), count(&trained, "_plus_scalar"))
    };
    let ((on, inference, trained), (off, ..)) = (run(true), run(false));
    assert_eq!((inference, trained), (1, 1));
    assert_eq!((run(false).1, run(false).2), (2, 2));
    assert_eq!(on, off);
    assert!(on[0].0 != on[1].0 && on[0].1 == on[1].1);
}

/// Rule G13: cached graphs recompute too. A recorded call needs less memory, and its gradient has the same bits.
#[test]
fn g13_cached_graphs_recompute_too() {
    let graph = conv_bn_relu(6, &[]);
    let run = |recompute: Recompute| {
        let context = context(EngineKind::ThreadedPerDevice, 2);
        let nd = Imperative::new(&context, &BindOptions { recompute, ..options() }).unwrap();
        context.random().seed(5);
        let op = CachedOp::new(&nd, &graph, CachedOpFlags { static_alloc: true, ..CachedOpFlags::default() }).unwrap();
        let like = Executor::simple_bind(&graph, &context, &[("data", IMAGES.into())], &options()).unwrap();
        let arrays: Vec<&NdArray> = op.input_names().iter().map(|name| like.argument(name).unwrap()).collect();
        for (seed, array) in arrays.iter().enumerate() {
            let values = numbers(array.shape().n_elements(), seed as u64 + 1);
            array.copy_from(&values.iter().map(|v| v.abs() as f32).collect::<Vec<f32>>()).unwrap();
        }
        let is_aux = |name: &str| graph.is_aux_state(graph.find(name).unwrap());
        let trained: Vec<usize> = (0..arrays.len()).filter(|i| !is_aux(op.input_names()[*i])).collect();
        trained.iter().for_each(|i| nd.attach_grad(arrays[*i], GradReq::Write).unwrap());
        let mut step = Vec::new();
        let before = live_bytes(&nd);
        for _ in 0..2 {
            let y = {
                let _record = autograd::record();
                op.call(&arrays).unwrap().swap_remove(0)
            };
            nd.backward(&[&y], &[], BackwardOptions::default()).unwrap();
            step.push(bits("output", &y));
            step.extend(trained.iter().map(|i| bits(op.input_names()[*i], &autograd::grad_of(arrays[*i]).unwrap())));
            step.extend(arrays.iter().map(|a| bits("array", a)));
        }
        (step, live_bytes(&nd) - before)
    };
    let (expected, off) = run(Recompute::Off);
    for recompute in [Recompute::Mirror, Recompute::Sqrt] {
        let (found, bytes) = run(recompute);
        assert!(bytes < off, "{recompute:?}: {bytes} of {off}");
        assert!(found == expected, "{recompute:?}");
    }
}
