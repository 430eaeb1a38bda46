//! `mxrs env`, and invalid variables, which end every command before it starts to work.

use crate::mxrs::{digits, mxrs, mxrs_with};
use serde_json::Value;

#[test]
fn json_has_a_row_with_eight_keys_for_every_variable() {
    let listing = mxrs_with(&[("MXNET_CPU_WORKER_NTHREADS", "3")], ["env", "--format", "json"]).json();
    let rows = listing.as_array().expect("an array");
    // There are 94 variables that MXNet documents, 71 that it does not document, and older names of variables.
    assert!(rows.len() > 165, "{}", rows.len());
    for row in rows {
        let mut keys: Vec<&str> = row.as_object().expect("an object").keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["default", "in_effect", "meaning", "name", "origin", "state", "value", "why"]);
    }
    let row = rows.iter().find(|row| row["name"] == "MXNET_CPU_WORKER_NTHREADS").expect("the variable");
    assert_eq!([&row["value"], &row["origin"], &row["default"]], ["3", "environment", "1"]);
    assert_eq!((&row["in_effect"], &row["state"]), (&Value::Bool(true), &Value::from("in effect")));
    let of_gpu = rows.iter().find(|row| row["name"] == "MXNET_GPU_MEM_POOL_TYPE").expect("the variable");
    assert_eq!((&of_gpu["in_effect"], &of_gpu["state"]), (&Value::Bool(false), &Value::from("needs")));
    assert_eq!(of_gpu["why"], "a GPU device, which this build has none of");
}

#[test]
fn one_variable_is_printed_in_full() {
    let vars = [("MXNET_EXEC_MATCH_RANGE", "8")];
    let text = mxrs_with(&vars, ["env", "MXNET_EXEC_MATCH_RANGE"]).ok();
    assert!(text.starts_with("NNVM_EXEC_MATCH_RANGE\n"), "{text}");
    for line in ["  value   8 (alias)", "  default 16", "  accepts int: an integer >= 0", "  state   in effect"] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    let text = mxrs(["env", "DMLC_PS_ROOT_PORT"]).ok();
    let state =
        if cfg!(feature = "grpc") { "in effect" } else { "needs the feature grpc, which this build is without" };
    assert!(text.contains(&format!("  state   {state}\n")), "{text}");
    assert!(!text.contains('\u{1b}'), "colors are for terminals: {text}");
    let error = mxrs(["env", "MXNET_KVSTORE_USETREES"]).failed(2);
    assert!(error.contains("the nearest is MXNET_KVSTORE_USETREE"), "{error}");
}

#[test]
fn an_area_is_listed_alone() {
    let text = mxrs(["env", "--area", "engine", "--format", "markdown"]).ok();
    assert!(text.starts_with("| name | value | origin | default | state | meaning |\n"), "{text}");
    assert!(text.contains("`MXNET_ENGINE_TYPE`") && !text.contains("MXNET_CPU_WORKER_NTHREADS"), "{text}");
    assert!(mxrs(["env", "--area", "engine"]).ok().contains("ThreadedEnginePerDevice"));
    assert!(mxrs(["env", "--area", "engin"]).failed(2).contains("engine"));
}

#[test]
fn a_bad_value_is_an_error_before_any_work() {
    let bad = [("MXNET_CPU_WORKER_NTHREADS", "two")];
    let message = "MXNET_CPU_WORKER_NTHREADS: invalid value \"two\": expected an integer >= 1\n";
    let out = std::env::temp_dir().join(format!("mxrs-bad-env-{}.npy", std::process::id()));
    let (model, data, out_text) = (digits("lenet"), digits("digits_val.rec"), out.display().to_string());
    let predict = ["predict", "--model", &model, "--epoch", "10", "--data", &data, "--data-shape", "1,28,28"];
    let predict: Vec<&str> = predict.into_iter().chain(["--output", &out_text]).collect();
    let symbol = digits("lenet-symbol.json");
    for arguments in [
        vec!["env"],
        predict,
        vec!["summary", &symbol],
        vec!["plan", "mlp"],
        vec!["plot", "mlp"],
        vec!["ops"],
        vec!["diagnose"],
        vec!["score", "--network", "vgg-16"],
    ] {
        let ran = mxrs_with(&bad, &arguments);
        assert_eq!(ran.out, "", "{arguments:?}");
        assert!(ran.failed(2).ends_with(message), "{arguments:?}");
    }
    assert!(!out.exists());
}

#[test]
fn every_bad_value_is_named() {
    let bad = [("MXNET_ENGINE_TYPE", "Fast"), ("MXNET_CPU_MEM_POOL_RESERVE", "101"), ("MXNET_HOME", "")];
    let err = mxrs_with(&bad, ["env"]).failed(2);
    assert!(err.contains("error: MXNET_ENGINE_TYPE: invalid value \"Fast\""), "{err}");
    assert!(err.contains("error: MXNET_CPU_MEM_POOL_RESERVE: invalid value \"101\""), "{err}");
    assert_eq!(err.lines().count(), 2, "{err}");
}

#[test]
fn unknown_and_older_names_warn_once() {
    let vars = [("MXNET_CPU_WORKER_NTHREAD", "3"), ("MXNET_EXEC_MATCH_RANGE", "8")];
    let ran = mxrs_with(&vars, ["ops", "relu"]);
    assert_eq!(ran.err.matches("MXNET_CPU_WORKER_NTHREADS").count(), 1, "{}", ran.err);
    let older = "WARNING:root:MXNET_EXEC_MATCH_RANGE is an older name: set NNVM_EXEC_MATCH_RANGE instead\n";
    assert_eq!(ran.err.matches(older).count(), 1, "{}", ran.err);
    assert_eq!(mxrs_with(&vars, ["--quiet", "ops", "relu"]).err, "");
}

#[test]
fn debugging_lines_are_those_of_the_flag() {
    // `TMPDIR` is a variable of other programs. At debug level, a line reports that it is not in effect.
    fn vars(debug: &str) -> [(&str, &str); 2] {
        [("TMPDIR", "/tmp"), ("DMLC_LOG_DEBUG", debug)]
    }
    let err = |debug: &str, flags: &[&str]| {
        mxrs_with(&vars(debug), ["ops", "relu"].into_iter().chain(flags.iter().copied())).err
    };
    assert!(err("1", &[]).contains("DEBUG:root:TMPDIR=/tmp is not yet in effect"), "{}", err("1", &[]));
    assert_eq!(err("1", &["--quiet"]), "");
    assert_eq!(err("0", &[]), "");
    assert!(err("0", &["--verbose"]).contains("DEBUG:root:TMPDIR=/tmp"));
}

#[test]
fn log_lines_have_four_forms() {
    let vars = [("MXNET_ENGINE_TYPE", "ThreadedEnginePerDevice")];
    let text = "MXNet start using engine: ThreadedEnginePerDevice";
    let log = |format: &str| mxrs_with(&vars, ["ops", "relu", "--log-format", format]).err;
    assert_eq!(mxrs_with(&vars, ["ops", "relu"]).err, format!("INFO:root:{text}\n"));
    assert_eq!(log("plain"), format!("{text}\n"));
    let time = log("time");
    assert!(time.starts_with("20") && time.ends_with(&format!("Z INFO {text}\n")), "{time}");
    let json: Value = serde_json::from_str(&log("json")).expect("a line of JSON");
    assert_eq!([&json["level"], &json["message"]], ["INFO", text]);
}

#[test]
fn an_engine_that_was_chosen_is_announced() {
    let line = |engine: &str| mxrs_with(&[("MXNET_ENGINE_TYPE", engine)], ["ops", "relu"]).err;
    for engine in ["NaiveEngine", "ThreadedEngine", "ThreadedEngineAsync", "NaiveEngineAsync"] {
        assert_eq!(line(engine), format!("INFO:root:MXNet start using engine: {engine}\n"));
    }
    assert_eq!(line(""), "");
}

/// Names of kernels, such as `nnpack:product:avx2:1`, contain the instructions that the kernels use.
#[test]
fn kernels_use_only_instructions_that_are_allowed() {
    const SETS: [&str; 3] = ["portable", "avx2", "avx512"];
    let of_processor: Vec<&str> = mxrs_processor::Isa::available().iter().map(|isa| isa.name()).collect();
    let widest = of_processor.last().copied().expect("the portable set");
    let plan = ["plan", "lenet", "--kernels", "nnpack", "--format", "json"];
    for allowed in SETS {
        let is_there = of_processor.contains(&allowed);
        let expected = if is_there { allowed } else { widest };
        let at = SETS.iter().position(|set| *set == expected).expect("one of the list");
        let by_variable = mxrs_with(&[("MXRS_ISA", allowed), ("MXNET_ONEDNN_ENABLED", "0")], plan);
        let setting = format!("MXRS_ISA={allowed}");
        let by_flag = mxrs_with(&[("MXNET_ONEDNN_ENABLED", "0")], plan.into_iter().chain(["--set", &setting]));
        for ran in [by_variable, by_flag] {
            let warning = format!("{setting} has no effect: the widest instructions that mxrs has kernels for");
            assert_eq!(ran.err.contains(&warning), !is_there, "{allowed}: {}", ran.err);
            let rows = ran.json();
            let names: Vec<&str> =
                rows.as_array().expect("a list").iter().filter_map(|row| row["kernel"].as_str()).collect();
            let uses = |set: &str| names.iter().any(|name| name.contains(&format!(":{set}:")));
            assert!(uses(expected) && !SETS[at + 1..].iter().any(|wider| uses(wider)), "{allowed}: {names:?}");
        }
    }
    let error = mxrs_with(&[("MXRS_ISA", "avx")], ["plan", "lenet"]).failed(2);
    assert!(error.contains("MXRS_ISA: invalid value \"avx\": expected one of portable, avx2, avx512"), "{error}");
    let text = mxrs_with(&[("MXRS_ISA", "portable")], ["env", "MXRS_ISA"]).ok();
    assert!(text.contains("  value   portable (environment)\n"), "{text}");
}
