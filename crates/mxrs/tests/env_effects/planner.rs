//! Rows D10, D11, D12, B28, B29, B31 and M8 of `docs/env.md`, with the older names O2 and O8: the memory plan of a
//! bound graph.

use crate::graphs::{Calls, bind};
use crate::log_lines::log_lines;
use crate::{Vars, check_older_name, runtime};
use mxrs::Runtime;
use mxrs::exec::Executor;
use mxrs::graph::memory::{Algorithm, PlanReport};
use mxrs::graph::{Graph, Symbol};

fn plan(executor: &Executor) -> PlanReport {
    executor.report().expect("the graph is bound").plan
}

/// `relu(relu(x + 1))`, with an addition at the end, because the memory of a head is not planned.
fn relu_relu(runtime: &Runtime) -> Graph {
    let mut calls = Calls::new(runtime);
    let mut y = calls.call("_plus_scalar", &[("scalar", "1")], &[&Symbol::variable("x")]);
    for _ in 0..2 {
        y = calls.call("relu", &[], &[&y]);
    }
    calls.call("_plus_scalar", &[("scalar", "0")], &[&y]).graph().unwrap()
}

#[test]
fn d10_outputs_take_over_inputs_or_not() {
    let run = |value: &str| {
        let runtime = runtime(&[("MXNET_EXEC_ENABLE_INPLACE", value)]);
        let executor = bind(&runtime, &relu_relu(&runtime), [1000]);
        let x: Vec<f32> = (0..1000).map(|i| i as f32 - 500.0).collect();
        executor.argument("x").unwrap().copy_from(&x).unwrap();
        executor.forward().unwrap();
        (plan(&executor), executor.outputs()[0].to_vec::<f32>().unwrap())
    };
    let ((on, on_values), (off, off_values)) = (run("1"), run("0"));
    // There are three results of 4000 bytes. In place, all share one storage; otherwise an operator needs two at the same
    // time.
    assert_eq!((on.n_inplace, on.bytes), (2, 4000));
    assert_eq!(off.n_inplace, 0);
    assert!(off.bytes >= 8000, "{}", off.bytes);
    assert_eq!(on_values, off_values);
    assert_eq!((on_values[0], on_values[999]), (0.0, 500.0));
}

/// Outputs of 1, 3, 9 and 27 units of 4 bytes, then a head, whose memory is not planned.
fn powers_of_three(runtime: &Runtime) -> Graph {
    let mut calls = Calls::new(runtime);
    let mut y = calls.call("_plus_scalar", &[("scalar", "1")], &[&Symbol::variable("x")]);
    for _ in 0..3 {
        y = calls.call("Concat", &[("num_args", "3"), ("dim", "1")], &[&y, &y, &y]);
    }
    calls.call("_plus_scalar", &[("scalar", "0")], &[&y]).graph().unwrap()
}

fn powers_plan(vars: Vars<'_>) -> PlanReport {
    let runtime = runtime(vars);
    let executor = bind(&runtime, &powers_of_three(&runtime), [1, 1]);
    executor.forward().unwrap();
    assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), [1.0; 27]);
    plan(&executor)
}

fn tried(report: &PlanReport) -> Vec<(u32, usize)> {
    report.tried.iter().map(|tried| (tried.match_range, tried.bytes)).collect()
}

/// Computed by hand: the storage of a result becomes free two operators later, when the request is 9 times as large. With a
/// match range below 9, no storage is reused: 40 units. With 16, the result of 9 units reuses the storage of 1 unit, and
/// that of 27 the storage of 3: 36 units.
#[test]
fn d11_sweeps_up_to_its_value() {
    let report = powers_plan(&[("NNVM_EXEC_MATCH_RANGE", "16")]);
    assert_eq!(tried(&report), [(1, 160), (2, 160), (4, 160), (8, 160), (16, 144)]);
    assert_eq!((report.algorithm, report.bytes), (Algorithm::Pool { match_range: 16 }, 144));

    let report = powers_plan(&[("NNVM_EXEC_MATCH_RANGE", "10")]);
    assert_eq!(tried(&report), [(1, 160), (2, 160), (4, 160), (8, 160), (10, 144)]);

    let nothing_shared = powers_plan(&[("NNVM_EXEC_MATCH_RANGE", "0")]);
    assert_eq!((tried(&nothing_shared), nothing_shared.bytes), (vec![(0, 160)], 160));

    let report = powers_plan(&[("NNVM_EXEC_MATCH_RANGE", "1")]);
    assert_eq!((tried(&report), report.bytes), (vec![(1, 160)], 160));
}

#[test]
fn d11_unset_is_at_least_as_good_as_16() {
    let report = powers_plan(&[]);
    assert_eq!(tried(&report).last(), Some(&(16, 144)));
    assert!(report.bytes <= 144);
}

#[test]
fn o2_is_d11() {
    let effect = |vars: Vars<'_>| tried(&powers_plan(vars));
    check_older_name("MXNET_EXEC_MATCH_RANGE", "NNVM_EXEC_MATCH_RANGE", ["0", "4"], effect);
}

/// The algorithm `pool` needs 144 bytes, as in the test of D11. By default, the smaller of the plans of `pool` and
/// `offset` is chosen.
#[test]
fn m8_pool_offset_or_the_smaller() {
    let plan = |vars: Vars<'_>| {
        let report = powers_plan(vars);
        (matches!(report.algorithm, Algorithm::Pool { .. }), report.bytes)
    };
    assert_eq!(plan(&[("MXRS_PLAN", "pool")]), (true, 144));
    let (is_pool, bytes) = plan(&[("MXRS_PLAN", "offset")]);
    assert!(!is_pool);
    assert_eq!(plan(&[("MXRS_PLAN", "auto")]), plan(&[]));
    assert_eq!(plan(&[]).1, bytes.min(144));
    assert!(plan(&[("MXRS_PLAN", "offset"), ("NNVM_EXEC_MATCH_RANGE", "16")]).0, "an explicit range is the pool's");
}

#[test]
fn b28_off_tries_one_range() {
    let n_tried = |vars: Vars<'_>| tried(&powers_plan(vars));
    assert_eq!(n_tried(&[("NNVM_AUTO_SEARCH_MATCH_RANGE", "1")]).len(), 5);
    assert_eq!(n_tried(&[("NNVM_AUTO_SEARCH_MATCH_RANGE", "0")]), [(16, 144)]);
    let vars = [("NNVM_AUTO_SEARCH_MATCH_RANGE", "0"), ("NNVM_EXEC_MATCH_RANGE", "4")];
    assert_eq!(n_tried(&vars), [(4, 160)]);
}

/// Two branches of four operators each, from one source, added at the end.
fn two_branches(runtime: &Runtime) -> Graph {
    let mut calls = Calls::new(runtime);
    let source = calls.named("source", "_plus_scalar", &[("scalar", "1")], &[&Symbol::variable("x")]);
    // The branches have different operators, because equal branches would be merged.
    let mut ends =
        [("left", "_plus_scalar", "1"), ("right", "_minus_scalar", "-1")].map(|branch| (branch, source.clone()));
    for step in 0..4 {
        for ((side, op, scalar), end) in &mut ends {
            *end = calls.named(&format!("{side}{step}"), op, &[("scalar", scalar)], &[end]);
        }
    }
    calls.call("elemwise_add", &[], &[&ends[0].1, &ends[1].1]).graph().unwrap()
}

/// The plan of the two branches, and the storages of each branch, read from the planner's log.
fn branches(vars: Vars<'_>) -> (PlanReport, [Vec<String>; 2]) {
    let base =
        [("MXNET_EXEC_ENABLE_INPLACE", "0"), ("NNVM_EXEC_MATCH_RANGE", "16"), ("MXNET_MEM_PLAN_VERBOSE_LOGGING", "1")];
    let runtime = runtime(&[&base, vars].concat());
    let graph = two_branches(&runtime);
    let (executor, lines) = log_lines(|| bind(&runtime, &graph, [16]));
    executor.forward().unwrap();
    assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), [10.0; 16]);
    // Each node has one output, so entries have the same numbers as nodes.
    let storages = ["left", "right"].map(|side| {
        let on_side = graph.nodes().iter().enumerate().filter(|(_, node)| node.name.starts_with(side));
        on_side.map(|(entry, _)| storage_of(&lines, entry)).collect()
    });
    (plan(&executor), storages)
}

/// Extracts `storage 3` from the line `entry 5: 64 bytes on cpu(0), storage 3 at 192`.
fn storage_of(lines: &[String], entry: usize) -> String {
    let start = format!("INFO entry {entry}: ");
    let line = lines.iter().find(|line| line.starts_with(&start)).expect("each entry has a line");
    let place = line.split(", ").nth(1).expect("a place after the size");
    place.split(" at ").next().unwrap_or(place).to_owned()
}

#[test]
fn d12_colors_keep_branches_apart() {
    let ((one, [left, right]), (two, [far_left, far_right])) =
        (branches(&[("MXNET_EXEC_NUM_TEMP", "1")]), branches(&[("MXNET_EXEC_NUM_TEMP", "2")]));
    assert_eq!((left.len(), right.len(), one.n_colors, two.n_colors), (4, 4, 1, 2));
    assert!(left.iter().any(|storage| right.contains(storage)), "{left:?} {right:?}");
    assert!(!far_left.iter().any(|storage| far_right.contains(storage)), "{far_left:?} {far_right:?}");
    assert!(two.bytes > one.bytes, "{} and {}", two.bytes, one.bytes);
}

#[test]
fn d12_is_capped_by_the_workers_of_a_gpu() {
    let capped = [("MXNET_EXEC_NUM_TEMP", "5"), ("MXNET_GPU_WORKER_NTHREADS", "1")];
    assert_eq!(branches(&capped), branches(&[]));
    assert_eq!(branches(&[("MXNET_EXEC_NUM_TEMP", "5")]).0.n_colors, 2, "two workers unless set");
}

#[test]
fn o8_is_d12() {
    check_older_name("NNVM_EXEC_NUM_TEMP", "MXNET_EXEC_NUM_TEMP", ["2", "1"], branches);
}

#[test]
fn b29_and_b31_log_a_line_for_each_array() {
    let logged_by = |name: &str, value: &str| -> Vec<String> {
        let runtime = runtime(&[(name, value)]);
        let graph = relu_relu(&runtime);
        let (_, lines) = log_lines(|| bind(&runtime, &graph, [1000]));
        lines.into_iter().filter(|line| line.starts_with("INFO entry ")).collect()
    };
    let logged = |value: &str| logged_by("MXNET_MEM_PLAN_VERBOSE_LOGGING", value);
    let lines = logged("1");
    assert_eq!(logged_by("MXNET_EXEC_VERBOSE_LOGGING", "1"), lines);
    assert!(logged_by("MXNET_EXEC_VERBOSE_LOGGING", "0").is_empty());
    // The entries are the variable and four results.
    assert_eq!(lines.len(), 5, "{lines:#?}");
    for (entry, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("INFO entry {entry}: 4000 bytes")), "{line}");
    }
    assert!(lines[2].contains("storage") && lines[2].contains("in place of entry 1"), "{}", lines[2]);
    assert!(logged("0").is_empty());
}
