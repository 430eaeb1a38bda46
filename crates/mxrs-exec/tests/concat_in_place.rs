//! Tests concatenations in place: no copy, no larger arena, the same bits.

mod common;

use common::{KINDS, Net, context, numbers, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{BindOptions, DryGraph, Executor, ExecutorReport};
use mxrs_graph::{Graph, Symbol};
use mxrs_types::Shape;
use proptest::prelude::*;

/// The outputs of two runs as bytes, and the report.
fn run(graph: &Graph, shape: &Shape, kind: EngineKind, in_place: bool) -> (Vec<Vec<u8>>, ExecutorReport) {
    let mut options = options();
    options.plan.enable_inplace = in_place;
    // Except with `NaiveEngine`, steps are pushed one by one, so that another task could run between the steps that make
    // the parts.
    options.bulk_inference = kind == EngineKind::Naive;
    let executor = bound(graph, shape, kind, &options);
    let data = executor.argument("data").unwrap();
    let mut seen = Vec::new();
    for seed in [3, 5] {
        let values: Vec<f32> = numbers(shape.n_elements(), seed).iter().map(|x| *x as f32).collect();
        data.copy_from(&values).unwrap();
        executor.forward().unwrap();
        seen.extend(executor.outputs().iter().map(|output| output.read_bytes(<[u8]>::to_vec).unwrap()));
    }
    (seen, executor.report().expect("bound for inference"))
}

fn bound(graph: &Graph, shape: &Shape, kind: EngineKind, options: &BindOptions) -> Executor {
    Executor::simple_bind(graph, &context(kind, 2), &[("data", shape.clone())], options).expect("it binds")
}

/// Three numbers: concatenations that copy all their parts, parts that are copied singly, and all concatenations.
fn copies(report: &ExecutorReport) -> (usize, usize, usize) {
    let concats = || report.steps.iter().filter(|step| step.op == "Concat");
    let parts = report.steps.iter().filter(|step| step.op == "reorder" && step.kernel == "part");
    (concats().filter(|step| step.kernel != "view").count(), parts.count(), concats().count())
}

/// Runs the graph with and without concatenation in place. Both runs must give the same bits. For the run with it,
/// [`copies`] must return `expected`.
fn check(graph: &Graph, shape: impl Into<Shape>, expected: (usize, usize, usize)) {
    let shape = shape.into();
    for kind in KINDS {
        let ((got, report), (want, plain)) = (run(graph, &shape, kind, true), run(graph, &shape, kind, false));
        assert!(got == want, "other bits, {kind:?}");
        assert_eq!(copies(&report), expected, "{kind:?}");
        assert_eq!(copies(&plain), (expected.2, 0, expected.2), "{kind:?}");
        assert!(report.arena_bytes <= plain.arena_bytes, "{} {}", report.arena_bytes, plain.arena_bytes);
    }
}

fn graph_of(make: impl FnOnce(&mut Net, &Symbol) -> Symbol) -> Graph {
    let mut net = Net::new();
    make(&mut net, &Symbol::variable("data")).graph().expect("a well-formed graph")
}

/// Several branches of the data, concatenated along channels, and a call that reads the result.
fn branches(net: &mut Net, data: &Symbol, ops: &[&str]) -> Symbol {
    let shared = net.call("tanh", &[data]);
    let parts: Vec<Symbol> = ops.iter().map(|op| net.call(op, &[&shared])).collect();
    let n = parts.len().to_string();
    let whole = net.call_with("Concat", &[("num_args", &n)], &parts.iter().collect::<Vec<_>>());
    net.call("sigmoid", &[&whole])
}

#[test]
fn branches_write_where_they_belong() {
    let graph = graph_of(|net, data| branches(net, data, &["exp", "square", "tanh"]));
    check(&graph, [1, 16, 4], (0, 0, 1));
    // With two images, each part of the concatenation consists of two separate pieces of its output. The kernels of the
    // parts can only write images that are adjacent, so one copy of all parts remains.
    check(&graph, [2, 16, 4], (1, 0, 1));
    // The second and the third part do not begin at a cache line, so each is copied.
    check(&graph, [1, 3, 5], (0, 2, 1));
}

#[test]
fn who_is_read_elsewhere_is_copied_alone() {
    let graph = graph_of(|net, data| {
        let (a, b) = (net.call("exp", &[data]), net.call("square", &[data]));
        let whole = net.call_with("Concat", &[("num_args", "2")], &[&a, &b]);
        let (whole, again) = (net.call("tanh", &[&whole]), net.call("sigmoid", &[&b]));
        Symbol::group([&whole, &again])
    });
    check(&graph, [1, 16, 4], (0, 1, 1));
    let twice = graph_of(|net, data| {
        let a = net.call("exp", &[data]);
        let whole = net.call_with("Concat", &[("num_args", "2")], &[&a, &a]);
        net.call("tanh", &[&whole])
    });
    // No part can be made in place, so the concatenation stays one copy of all parts.
    check(&twice, [1, 16, 4], (1, 0, 1));
    let bound = graph_of(|net, data| {
        let a = net.call("exp", &[data]);
        let whole = net.call_with("Concat", &[("num_args", "2")], &[data, &a]);
        net.call("tanh", &[&whole])
    });
    check(&bound, [1, 16, 4], (0, 1, 1));
    let head = graph_of(|net, data| {
        let (a, b) = (net.call("exp", &[data]), net.call("square", &[data]));
        let whole = net.call_with("Concat", &[("num_args", "2")], &[&a, &b]);
        Symbol::group([&whole, &a])
    });
    // The output of the concatenation is an output array of the graph, so the concatenation is not done in place.
    check(&head, [1, 16, 4], (1, 0, 1));
}

#[test]
fn a_whole_that_is_a_part_is_made_where_it_belongs() {
    let graph = graph_of(|net, data| {
        let inner = [net.call("exp", &[data]), net.call("square", &[data])];
        let inner = net.call_with("Concat", &[("num_args", "2")], &[&inner[0], &inner[1]]);
        let other = net.call("tanh", &[data]);
        let outer = net.call_with("Concat", &[("num_args", "2")], &[&inner, &other]);
        net.call("sigmoid", &[&outer])
    });
    // The inner concatenation copies its parts into its own part of the outer concatenation.
    check(&graph, [1, 16, 4], (1, 0, 2));
}

#[test]
fn one_that_needs_more_memory_does_not_keep_others_from_their_places() {
    let graph = graph_of(|net, data| {
        let early = net.call("exp", &[data]);
        // The step at which the most memory is needed lies between the steps that make the two parts of the first
        // concatenation.
        let wide = net.call_with("Concat", &[("num_args", "32")], &[data; 32]);
        let narrow = [("axis", "1"), ("begin", "0"), ("end", "16")];
        let narrow = net.call_with("slice_axis", &narrow, &[&wide]);
        let late = net.call("square", &[&narrow]);
        let whole = net.call_with("Concat", &[("num_args", "2")], &[&early, &late]);
        branches(net, &whole, &["exp", "square", "tanh"])
    });
    check(&graph, [1, 16, 4], (2, 0, 3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Chains of modules like those of Inception: the memory of a concatenation is used again, and no value is overwritten
    /// too early.
    #[test]
    fn modules_in_a_row_have_the_same_bits(widths in prop::collection::vec(2usize..5, 1..4), batch in 1usize..3) {
        let graph = graph_of(|net, data| {
            let names = ["exp", "square", "tanh", "sigmoid"];
            let mut x = data.clone();
            for width in &widths {
                let module = branches(net, &x, &names[..*width]);
                // The module has more channels than its input; 16 are kept.
                x = net.call_with("slice_axis", &[("axis", "1"), ("begin", "0"), ("end", "16")], &[&module]);
            }
            x
        });
        let shape = Shape::from([batch, 16, 4]);
        let (got, report) = run(&graph, &shape, EngineKind::ThreadedPerDevice, true);
        let (want, plain) = run(&graph, &shape, EngineKind::ThreadedPerDevice, false);
        prop_assert!(got == want);
        prop_assert!(report.arena_bytes <= plain.arena_bytes);
        let n = widths.len();
        prop_assert_eq!(copies(&report), (if batch == 1 { 0 } else { n }, 0, n));
    }
}

/// In a plan, the tensor of a concatenation in place is alive from the step that makes its first part.
#[test]
fn a_plan_shows_the_whole_from_its_first_part_on() {
    let graph = graph_of(|net, data| branches(net, data, &["exp", "square"]));
    let options = options();
    let dry = DryGraph::new(&graph, &[("data", [1, 16, 4].into())], &options, false).expect("kernels");
    let plan = dry.plan(&options.plan).expect("a plan");
    let step = |op: &str| plan.steps.iter().position(|step| step.op == op).expect("such a step");
    let whole = plan.tensors.iter().find(|tensor| tensor.size_bytes == 2 * 256).expect("the whole");
    assert_eq!((whole.first, whole.last), (step("exp"), step("sigmoid")));
    assert_eq!(
        plan.tensors.iter().filter(|tensor| tensor.size_bytes == 256).count(),
        1,
        "no part in addition to the data"
    );
}
