//! Rows D31 to D34, D50, D51, D88, B27 and M6 to M10 of `docs/env.md`: the steps and pushes of a bound training step,
//! and version checks of recorded calls.

use crate::graphs::{Calls, bind, chain};
use crate::{Vars, builder, runtime, warnings};
use mxrs::exec::{BackwardOptions, BindOptions, CachedOp, Executor, ExecutorReport, GradReq, GradRequests, autograd};
use mxrs::graph::{Graph, Symbol};
use mxrs::ndarray::NdArray;
use mxrs::types::{DType, Shape};
use mxrs::{Result, Runtime};

const MIRROR: &str = "MXNET_BACKWARD_DO_MIRROR";
const ALL_SAVERS: &str = "MXNET_MEMORY_OPT";
const REMAT: &str = "MXRS_REMAT";
const BUDGET: &str = "MXRS_MEMORY_BUDGET";

/// Binds the graph with gradients of all arguments.
fn train(runtime: &Runtime, graph: &Graph, shape: impl Into<Shape>) -> Result<Executor> {
    let options = BindOptions { gradients: Some(GradRequests::all(GradReq::Write)), ..runtime.bind_options() };
    Executor::simple_bind(graph, runtime.arrays(), &[("x", shape.into())], &options)
}

fn count(report: &ExecutorReport, op: &str) -> u64 {
    report.steps.iter().filter(|step| step.op == op && step.kernel != "view").count() as u64
}

/// Number of pushes in the forward and in the backward half of a training step over 20 squares and a loss, and number of
/// kernels in each half.
fn pushes(vars: Vars<'_>) -> ([u64; 2], [u64; 2]) {
    let runtime = runtime(vars);
    let mut calls = Calls::new(&runtime);
    let mut y = Symbol::variable("x");
    for _ in 0..20 {
        y = calls.call("square", &[], &[&y]);
    }
    let graph = calls.call("SoftmaxOutput", &[], &[&y, &Symbol::variable("label")]).graph().unwrap();
    let executor = train(&runtime, &graph, [2, 3]).unwrap();
    let pushed = || runtime.engine().counters().pushed;
    let before = pushed();
    executor.forward_train().unwrap();
    let between = pushed();
    executor.backward(&[]).unwrap();
    let report = executor.training_report().unwrap();
    let kernels = report.steps.iter().filter(|step| step.kernel != "view").count() as u64;
    ([between - before, pushed() - between], [21, kernels - 21])
}

#[test]
fn d31_to_d34_bulks_of_training() {
    const TRAIN: &str = "MXNET_EXEC_BULK_EXEC_TRAIN";
    const BOTH: &str = "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN";
    const FORWARD: &str = "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD";
    const BACKWARD: &str = "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD";
    for (vars, limits) in [
        (&[] as Vars<'_>, [15, 15]),
        (&[("MXNET_EXEC_BULK_EXEC_TRAIN", "0"), (BOTH, "9")], [1, 1]),
        (&[(TRAIN, "1")], [15, 15]),
        (&[("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "5")], [5, 5]),
        (&[(BOTH, "0")], [1, 1]),
        (&[(BOTH, "1")], [1, 1]),
        (&[("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", "4")], [4, 15]),
        (&[("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "4")], [15, 4]),
        (&[(BOTH, "7"), (FORWARD, "100"), (BACKWARD, "2")], [100, 2]),
    ] {
        let (pushed, kernels) = pushes(vars);
        assert!(kernels[1] > 20);
        assert_eq!(pushed, [0, 1].map(|half: usize| kernels[half].div_ceil(limits[half])), "{vars:?}");
    }
}

#[test]
fn d31_to_d34_are_defaults_of_cached_graphs() {
    let sizes = |vars: Vars<'_>| {
        let flags = runtime(vars).cached_op_flags();
        (flags.forward_bulk_size, flags.backward_bulk_size)
    };
    assert_eq!(sizes(&[]), (15, 15));
    assert_eq!(sizes(&[("MXNET_EXEC_BULK_EXEC_TRAIN", "0")]), (1, 1));
    let vars = [("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "5"), ("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "6")];
    assert_eq!(sizes(&vars), (5, 6));
}

/// A network of twelve units of convolution, batch normalization and ReLU.
fn deep(runtime: &Runtime) -> Graph {
    let mut calls = Calls::new(runtime);
    let mut y = Symbol::variable("x");
    for _ in 0..12 {
        y = calls.call("Convolution", &[("kernel", "(1, 1)"), ("num_filter", "4")], &[&y]);
        y = calls.call("BatchNorm", &[], &[&y]);
        y = calls.call("relu", &[], &[&y]);
    }
    y.graph().unwrap()
}

const IMAGES: [usize; 4] = [2, 4, 4, 4];

fn deep_report(vars: Vars<'_>) -> Result<ExecutorReport> {
    let runtime = runtime(vars);
    Ok(train(&runtime, &deep(&runtime), IMAGES)?.training_report().expect("it is bound"))
}

/// Number of convolutions, batch normalizations and ReLUs in a training step, and bytes of the arena.
fn figures(vars: Vars<'_>) -> ([u64; 3], usize) {
    let report = deep_report(vars).unwrap();
    (["Convolution", "BatchNorm", "relu"].map(|op| count(&report, op)), report.arena_bytes)
}

#[test]
fn d50_and_d51_compute_cheap_operators_again() {
    let (kernels, bytes) = figures(&[]);
    assert_eq!(kernels, [12, 12, 12]);
    assert_eq!(figures(&[("MXNET_BACKWARD_DO_MIRROR", "0")]), (kernels, bytes));
    for name in ["MXNET_BACKWARD_DO_MIRROR", "MXNET_MEMORY_OPT"] {
        let (kernels, mirrored) = figures(&[(name, "1")]);
        assert!(kernels[0] == 12 && kernels[1] > 20 && kernels[2] > 20, "{name}: {kernels:?}");
        assert!(mirrored * 5 <= bytes * 4, "{name}: {mirrored} of {bytes}");
    }
}

/// `MXNET_MEMORY_OPT` (D51) lets the planner try several match ranges, although `NNVM_AUTO_SEARCH_MATCH_RANGE=0` (B28)
/// allows only one.
#[test]
fn d51_sweeps_in_spite_of_b28() {
    let n_tried = |vars: Vars<'_>| {
        let runtime = runtime(vars);
        let executor = bind(&runtime, &chain(&runtime, 4), [8]);
        executor.report().unwrap().plan.tried.len()
    };
    assert_eq!(n_tried(&[("NNVM_AUTO_SEARCH_MATCH_RANGE", "0")]), 1);
    assert_eq!(n_tried(&[("NNVM_AUTO_SEARCH_MATCH_RANGE", "0"), ("MXNET_MEMORY_OPT", "1")]), 5);
}

#[test]
fn m6_says_what_is_computed_again() {
    let (_, off) = figures(&[]);
    assert_eq!(figures(&[("MXRS_REMAT", "mirror")]), figures(&[(MIRROR, "1")]));
    for mode in ["sqrt", "chain"] {
        let ([convolutions, ..], bytes) = figures(&[(REMAT, mode)]);
        assert!(convolutions > 12 && bytes < off, "{mode}: {convolutions}, {bytes} of {off}");
    }
    assert_eq!(figures(&[(REMAT, "off"), (MIRROR, "1"), (ALL_SAVERS, "1"), (BUDGET, "1MiB")]).1, off);
    let budget = format!("budget:{}", off * 3 / 4);
    assert!(figures(&[(REMAT, &budget)]).1 <= off * 3 / 4);
    let said = warnings(&[(REMAT, "sqrt"), (BUDGET, "1MiB")]);
    assert_eq!(said, ["MXRS_MEMORY_BUDGET=1MiB has no effect: MXRS_REMAT decides alone"]);
}

#[test]
fn m7_a_budget_is_met_or_refused() {
    let (kernels, off) = figures(&[]);
    assert_eq!(figures(&[("MXRS_MEMORY_BUDGET", "2GiB")]), (kernels, off), "nothing is done without need");
    for percent in [90, 75] {
        let budget = off * percent / 100;
        assert!(figures(&[(BUDGET, &budget.to_string())]).1 <= budget);
    }
    let text = deep_report(&[(BUDGET, "1 KiB")]).err().unwrap().to_string();
    assert!(text.contains("1024") && text.contains("at least"), "{text}");
}

/// `(x + 1) * (x + 1)`, with the sum written twice.
#[test]
fn d88_equal_calls_are_made_once() {
    let n_sums = |vars: Vars<'_>| {
        let runtime = runtime(vars);
        let mut calls = Calls::new(&runtime);
        let x = Symbol::variable("x");
        let [a, b] = [0, 1].map(|_| calls.call("_plus_scalar", &[("scalar", "1")], &[&x]));
        let graph = calls.call("elemwise_mul", &[], &[&a, &b]).graph().unwrap();
        let executor = bind(&runtime, &graph, [2]);
        executor.argument("x").unwrap().copy_from(&[1.0f32, 2.0]).unwrap();
        executor.forward().unwrap();
        assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), [4.0, 9.0]);
        count(&executor.report().unwrap(), "_plus_scalar")
    };
    assert_eq!(n_sums(&[]), 1);
    assert_eq!(n_sums(&[("MXNET_ELIMINATE_COMMON_EXPR", "1")]), 1);
    assert_eq!(n_sums(&[("MXNET_ELIMINATE_COMMON_EXPR", "0")]), 2);
}

/// `sums` returns how the gradients of a value with `n_uses` uses are summed: the number of n-ary sums, and the number of
/// additions in place.
#[test]
fn b27_from_so_many_gradients_on_they_are_added_in_place() {
    let sums = |n_uses: usize, vars: Vars<'_>| {
        let runtime = runtime(vars);
        let mut calls = Calls::new(&runtime);
        let y = calls.call("square", &[], &[&Symbol::variable("x")]);
        let uses: Vec<Symbol> =
            (0..n_uses).map(|i| calls.call("_mul_scalar", &[("scalar", &format!("{}", i + 2))], &[&y])).collect();
        let executor = train(&runtime, &Symbol::group(uses.iter()).graph().unwrap(), [2]).unwrap();
        let report = executor.training_report().unwrap();
        [count(&report, "add_n"), count(&report, "_grad_add") + report.inplace_adds.len() as u64]
    };
    assert_eq!(sums(7, &[]), [1, 0]);
    assert_eq!(sums(8, &[])[0], 0);
    assert!(sums(8, &[])[1] >= 6);
    assert_eq!(sums(8, &[("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", "9")]), [1, 0]);
    assert_eq!(sums(4, &[("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", "4")])[0], 0);
}

#[test]
fn m9_so_many_plans_are_kept() {
    let plans_made = |vars: Vars<'_>| {
        let runtime = runtime(vars);
        let nd = runtime.imperative().unwrap();
        let op = CachedOp::new(&nd, &chain(&runtime, 4), runtime.cached_op_flags()).unwrap();
        let arrays = [1usize, 2].map(|n| NdArray::zeros(runtime.arrays(), [n], DType::F32).unwrap());
        for array in [&arrays[0], &arrays[1], &arrays[0], &arrays[1]] {
            op.call(&[array]).unwrap();
        }
        op.stats().plans_made
    };
    assert_eq!(plans_made(&[]), 2);
    assert_eq!(plans_made(&[("MXRS_PLAN_CACHE", "2")]), 2);
    assert_eq!(plans_made(&[("MXRS_PLAN_CACHE", "1")]), 4);
}

#[test]
fn m10_overwritten_values_are_noticed_or_not() {
    let backward = |vars: Vars<'_>| {
        let runtime = builder(vars).only_backend("reference").build().unwrap();
        let nd = runtime.imperative().unwrap();
        let x = NdArray::from_slice(runtime.arrays(), [2], &[3.0f32, 4.0]).unwrap();
        nd.attach_grad(&x, GradReq::Write).unwrap();
        let y = {
            let _record = autograd::record();
            nd.square(&x).unwrap()
        };
        x.copy_from(&[5.0f32, 6.0]).unwrap();
        nd.backward(&[&y], &[], BackwardOptions::default())?;
        autograd::grad_of(&x).expect("attached").to_vec::<f32>()
    };
    assert!(backward(&[]).is_err());
    assert!(backward(&[("MXRS_AUTOGRAD_VERSION_CHECK", "1")]).is_err());
    assert_eq!(backward(&[("MXRS_AUTOGRAD_VERSION_CHECK", "0")]).unwrap(), [10.0, 12.0]);
}
