//! Profiles of commands: by environment variables, by flags and by `mxrs profile`. The traces are read as plain JSON.

use crate::mxrs::{Ran, digits, mxrs_in, mxrs_in_with};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The number of batches in an epoch: 1,500 digits in batches of 50.
const BATCHES: usize = 30;

/// Trains the perceptron on the digits data set for one epoch in this folder.
fn train(folder: &Path, vars: &[(&str, &str)], more: &[&str]) -> Ran {
    let data = digits("digits_train.rec");
    let start = ["train", "imagenet", "--network", "mlp", "--image-shape", "1,28,28", "--num-classes", "10"];
    let rest = ["--data-train", &data, "--batch-size", "50", "--num-epochs", "1", "--lr-step-epochs", "8"];
    mxrs_in_with(folder, vars, start.into_iter().chain(rest).chain(more.iter().copied()))
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Whether this operator is a convolution. With oneDNN, a convolution and its activation are fused into one call of
/// `_sg_conv`.
fn is_convolution(operator: &str) -> bool {
    ["Convolution", "_sg_conv"].contains(&operator)
}

/// A span that begins and ends on one thread.
#[derive(Clone, Debug)]
struct Span {
    name: String,
    category: String,
    node: String,
    us: f64,
    /// The total time of the spans directly inside this one.
    inside_us: f64,
    /// The category of the span directly around this one; empty if there is none.
    around: String,
}

/// The spans of a trace. Checks that begins and ends nest in each process and thread.
fn spans(trace: &Value) -> Vec<Span> {
    let mut open: BTreeMap<(u64, u64), Vec<(Span, f64)>> = BTreeMap::new();
    let mut spans = Vec::new();
    let mut events: Vec<&Value> = trace["traceEvents"].as_array().unwrap().iter().collect();
    events.retain(|event| event["ph"] == "B" || event["ph"] == "E");
    events.sort_by(|a, b| a["ts"].as_f64().unwrap().total_cmp(&b["ts"].as_f64().unwrap()));
    for event in events {
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let at = event["ts"].as_f64().unwrap();
        let stack = open.entry((event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap())).or_default();
        if event["ph"] == "B" {
            let around = stack.last().map(|(span, _)| span.category.clone()).unwrap_or_default();
            let node = event["args"]["node"].as_str().unwrap_or_default().to_owned();
            let span = Span { name: text("name"), category: text("cat"), node, us: 0.0, inside_us: 0.0, around };
            stack.push((span, at));
            continue;
        }
        let (mut span, began) = stack.pop().expect("a begin before the end");
        assert_eq!((&span.name, &span.category), (&text("name"), &text("cat")), "spans nest");
        span.us = at - began;
        if let Some((outer, _)) = stack.last_mut() {
            outer.inside_us += span.us;
        }
        spans.push(span);
    }
    assert!(open.values().all(Vec::is_empty), "every span ends");
    spans
}

/// D52 and D53 (`MXNET_PROFILER_AUTOSTART` and `MXNET_PROFILER_MODE` in `docs/env.md`): a command without flags for
/// profiling writes `profile.json`. It has a span of every operator for every batch, inside the span of a segment.
#[test]
fn an_unchanged_training_is_profiled_with_all_its_steps() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path(), &[("MXNET_PROFILER_AUTOSTART", "1")], &["--model-prefix", "mlp"]).ok();
    let spans = spans(&json(&folder.path().join("profile.json")));
    let steps: Vec<&Span> = spans.iter().filter(|span| span.category == "operator").collect();
    assert!(steps.iter().all(|step| step.around == "segment"), "bulk execution stays on");
    let mut of_node: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    steps.iter().for_each(|step| *of_node.entry((&step.node, &step.name)).or_default() += 1);
    for (step, n) in &of_node {
        assert_eq!(*n, BATCHES, "{step:?}");
    }
    let symbol = json(&folder.path().join("mlp-symbol.json"));
    let nodes = symbol["nodes"].as_array().unwrap().iter().filter(|node| node["op"] != "null");
    let names: BTreeSet<&str> = nodes.map(|node| node["name"].as_str().unwrap()).collect();
    let forward: BTreeSet<&str> = of_node.keys().map(|(node, _)| *node).collect();
    assert!(names.len() > 5 && names.is_subset(&forward), "{names:?} {forward:?}");
    let is_gradient = |(_, op): &&(&str, &str)| op.starts_with("_backward_");
    assert!(of_node.keys().filter(is_gradient).count() >= 8, "{of_node:?}");
    // Tasks of the engine are pushed in segments, so their number does not grow with that of operators.
    let segments: Vec<&Span> = spans.iter().filter(|span| span.category == "segment").collect();
    assert!(segments.len() <= 4 * BATCHES, "{}", segments.len());
    let (whole, inside): (f64, f64) = segments.iter().fold((0.0, 0.0), |(w, i), s| (w + s.us, i + s.inside_us));
    assert!(inside <= whole && inside > 0.97 * whole, "{inside} us of {whole} us are steps");
}

/// D53 (`MXNET_PROFILER_MODE` in `docs/env.md`): each mode records its kinds and no others.
#[test]
fn modes_record_exactly_their_kinds() {
    for mode in [0, 1, 2, 4, 8, 13, 15] {
        let folder = tempfile::tempdir().unwrap();
        let vars = [("MXNET_PROFILER_AUTOSTART", "1"), ("MXNET_PROFILER_MODE", &mode.to_string())];
        let ran = train(folder.path(), &vars, &[]);
        assert_eq!(ran.err.contains("MXNET_PROFILER_MODE is a sum"), mode < 2, "{}", ran.err);
        ran.ok();
        let trace = json(&folder.path().join("profile.json"));
        let events: Vec<&Value> = trace["traceEvents"].as_array().unwrap().iter().collect();
        let has = |of: &dyn Fn(&Value) -> bool| events.iter().any(|event| event["ph"] != "M" && of(event));
        let is_graph = |e: &Value| e["cat"] == "segment" || e["name"] == "FullyConnected";
        let is_call = |e: &Value| e["cat"] == "operator" && e["name"].as_str().unwrap().contains("_update");
        let is_api = |e: &Value| e["cat"] == "MXNET_C_API";
        let is_memory = |e: &Value| e["cat"] == "Device Storage" || e["cat"] == "Pool Memory";
        let found = [has(&is_graph), has(&is_call), has(&is_api), has(&is_memory)];
        assert_eq!(found, [1, 2, 4, 8].map(|bit| mode & bit != 0), "mode {mode}");
        let operators = events.iter().filter(|event| event["ph"] == "B" && event["cat"] == "operator").count();
        assert_eq!(operators > 0, mode & 3 != 0, "mode {mode}");
    }
}

#[test]
fn a_mode_above_15_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let err = train(folder.path(), &[("MXNET_PROFILER_MODE", "16")], &[]).failed(2);
    assert!(err.contains("MXNET_PROFILER_MODE") && err.contains("16") && err.contains("from 0 to 15"), "{err}");
    let err = mxrs_in(folder.path(), ["profile", "--mode", "16", "--", "env"]).failed(2);
    assert!(err.contains("--mode") && err.contains("16"), "{err}");
}

#[test]
fn a_trace_that_cannot_be_written_ends_the_command_before_its_work() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("profile.json")).unwrap();
    let ran = train(folder.path(), &[("MXNET_PROFILER_AUTOSTART", "1")], &[]);
    assert!(!ran.err.contains("Epoch[0]"), "{}", ran.err);
    assert!(ran.failed(1).contains("profile.json"));
    let err = mxrs_in(folder.path(), ["profile", "--trace", "no/such/t.json", "--", "env"]).failed(1);
    assert!(err.contains("no/such/t.json"), "{err}");
}

#[test]
fn a_command_is_profiled_into_files_and_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let symbol = digits("lenet-symbol.json");
    let flags = ["--trace", "t.json.gz", "--report", "r.html", "--perfetto", "p.perfetto", "--folded", "f.txt"];
    let more = ["--memory-csv", "memory", "--json", "s.json", "--engine", "--"];
    let score = ["score", "--symbol", &symbol, "--data-shape", "1,28,28", "--batch-size", "2", "--num-batches", "3"];
    let ran = mxrs_in(folder.path(), ["profile"].into_iter().chain(flags).chain(more).chain(score));
    assert!(ran.err.contains("images/sec"), "{}", ran.err);
    let out = ran.ok();
    for words in ["Pooling", "of peak", "GFLOP/s", "trace: t.json.gz", "report: r.html", "peak of this machine"] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let summary = json(&folder.path().join("s.json"));
    let operators = summary["operators"].as_array().unwrap();
    let convolution = operators.iter().find(|row| is_convolution(row["operator"].as_str().unwrap())).unwrap();
    // `score` makes five warm-up runs and three timed runs, and LeNet has two convolutions.
    assert_eq!(convolution["calls"], 16, "{summary}");
    assert!(convolution["gflop_per_s"].as_f64().unwrap() > 0.0, "{summary}");
    let share: f64 = operators.iter().map(|row| row["share_of_time"].as_f64().unwrap()).sum();
    assert!((share - 1.0).abs() < 1e-6, "{share}");
    let report = std::fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(report.contains("inference of "), "the page has the memory plan");
    let stacks = std::fs::read_to_string(folder.path().join("f.txt")).unwrap();
    assert!(stacks.contains("Pooling"), "{stacks}");
    assert!(std::fs::metadata(folder.path().join("p.perfetto")).unwrap().len() > 1000);
    let csv = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(csv.into_iter().any(|name| name.starts_with("memory-pid_") && name.ends_with(".csv")));
}

/// Warnings about environment variables are logged once, although the profiler measures the peaks of the machine before and
/// after the command.
#[test]
fn warnings_are_logged_once() {
    let folder = tempfile::tempdir().unwrap();
    let symbol = digits("lenet-symbol.json");
    let vars = [("MXNET_CUDNN_AUTOTUNE_DEFAULT", "2")];
    let score = ["score", "--symbol", &symbol, "--data-shape", "1,28,28", "--batch-size", "1", "--num-batches", "1"];
    let ran = mxrs_in_with(folder.path(), &vars, ["profile", "--no-report", "--"].into_iter().chain(score));
    assert_eq!(ran.err.matches("MXNET_CUDNN_AUTOTUNE_DEFAULT").count(), 1, "{}", ran.err);
    ran.ok();
}

/// The peaks of the machine are measured before the command, with the instructions that the command may use.
#[test]
fn a_limit_of_instructions_holds_for_the_peaks_too() {
    let folder = tempfile::tempdir().unwrap();
    let symbol = digits("lenet-symbol.json");
    let vars = [("MXRS_ISA", "portable")];
    let score = ["score", "--symbol", &symbol, "--data-shape", "1,28,28", "--batch-size", "1", "--num-batches", "1"];
    let ran = mxrs_in_with(folder.path(), &vars, ["profile", "--no-report", "--"].into_iter().chain(score));
    assert!(ran.ok().contains("peak of this machine"));
}

#[test]
fn flags_of_mxnets_scripts_profile_a_training() {
    let folder = tempfile::tempdir().unwrap();
    let out = train(folder.path(), &[], &["--profile-worker-suffix", "worker.json"]).ok();
    assert!(out.contains("FullyConnected") && out.contains("trace: worker.json"), "{out}");
    let names: BTreeSet<String> =
        spans(&json(&folder.path().join("worker.json"))).into_iter().map(|s| s.name).collect();
    assert!(names.contains("FullyConnected") && names.iter().any(|name| name.contains("_update")), "{names:?}");
    let err = train(folder.path(), &[], &["--profile-server-suffix", "s.json"]).failed(2);
    assert!(err.contains("--profile-server-suffix"), "{err}");
    let err = train(folder.path(), &[], &["--profile", "a", "--profile-worker-suffix", "b"]).failed(2);
    assert!(err.contains("give one"), "{err}");
}

#[test]
fn traces_are_compared_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    let symbol = digits("lenet-symbol.json");
    for (trace, batch) in [("a.json", "2"), ("b.json.gz", "2")] {
        let flags = ["profile", "--no-report", "--trace", trace, "--", "score", "--symbol", &symbol];
        let shape = ["--data-shape", "1,28,28", "--batch-size", batch, "--num-batches", "20"];
        mxrs_in(folder.path(), flags.into_iter().chain(shape)).ok();
    }
    let out = mxrs_in(folder.path(), ["profile", "diff", "a.json", "b.json.gz"]).ok();
    assert!(out.contains("Pooling") && out.contains("Verdict"), "{out}");
    let json = mxrs_in(folder.path(), ["profile", "diff", "a.json", "b.json.gz", "--format", "json"]).json();
    let operators = json["operators"].as_array().unwrap();
    assert!(operators.iter().any(|row| row["operator"] == "FullyConnected"), "{operators:?}");
    // `score` makes five warm-up runs and twenty timed runs, and LeNet has two convolutions.
    let convolution = operators.iter().find(|row| is_convolution(row["operator"].as_str().unwrap())).unwrap();
    assert_eq!(convolution["a"]["calls"], 50, "{convolution}");

    let out = mxrs_in(folder.path(), ["profile", "merge", "a.json", "b.json.gz", "--output", "both.json"]).ok();
    assert!(out.contains("2 traces merged into both.json"), "{out}");
    let merged = self::json(&folder.path().join("both.json"));
    let n_spans = |trace: &Value| spans(trace).len();
    assert_eq!(n_spans(&merged), 2 * n_spans(&self::json(&folder.path().join("a.json"))));

    std::fs::write(folder.path().join("bad.json"), "{\"traceEvents\": 5}").unwrap();
    assert!(mxrs_in(folder.path(), ["profile", "diff", "a.json", "bad.json"]).failed(3).contains("bad.json"));
    assert!(mxrs_in(folder.path(), ["profile", "diff", "a.json", "none.json"]).failed(3).contains("none.json"));
    assert!(mxrs_in(folder.path(), ["profile", "merge", "bad.json", "-o", "m.json"]).failed(3).contains("bad.json"));
    mxrs_in(folder.path(), ["profile", "diff", "a.json", "a.json", "--certainty", "0.2"]).failed(2);
    mxrs_in(folder.path(), ["profile", "diff", "a.json"]).failed(2);
    let odd = ["profile", "diff", "a.json", "b.json.gz", "a.json"];
    assert!(mxrs_in(folder.path(), odd).failed(2).contains("a.json has no counterpart"));
    let pairs = ["profile", "diff", "a.json", "b.json.gz", "a.json", "b.json.gz"];
    assert!(mxrs_in(folder.path(), pairs).ok().contains("Pairs of runs: 2."));
}

#[test]
fn a_profile_of_nothing_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let err = mxrs_in(folder.path(), ["profile", "--", "profile", "--", "env"]).failed(2);
    assert!(err.contains("cannot profile itself"), "{err}");
    let err = mxrs_in(folder.path(), ["profile", "--", "no-such-command"]).failed(2);
    assert!(err.contains("no-such-command"), "{err}");
    mxrs_in(folder.path(), ["profile"]).failed(2);
}
