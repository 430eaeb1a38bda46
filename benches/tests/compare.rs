//! Tests that every comparison with other libraries runs to its end where none of them is installed, with few rounds, and
//! that its report has the documented rows.

use serde_json::Value;
use std::process::Command;

/// Runs a program with `--format json` and these flags; returns its report.
fn report(program: &str, flags: &[&str]) -> Value {
    let output = Command::new(program).args(["--format", "json"]).args(flags).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} ended with {}: {stderr}", output.status);
    serde_json::from_slice(&output.stdout).expect("its report is JSON")
}

fn rows<'a>(report: &'a Value, section: &str) -> &'a [Value] {
    report["sections"][section]["rows"].as_array().unwrap_or_else(|| panic!("no section {section} in {report:#}"))
}

#[test]
fn engine_without_mxnet() {
    let report = report(env!("CARGO_BIN_EXE_compare_engine"), &["--seconds", "0.1", "--operators", "2000"]);
    assert_eq!(report["peers"][0]["name"], "MXNet");
    assert!(report["peers"][0]["missing"].as_str().unwrap().contains("--mxnet PATH"));
    let operators = rows(&report, "operators");
    assert_eq!(operators.len(), 15, "5 loads, each by one thread, two threads, and two threads on shared variables");
    for row in operators {
        assert!(row["mxrs"]["median"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["mxnet"].is_null() && row["ratio"].is_null(), "{row}");
        assert!(row["allocations_per_push"].as_f64().unwrap() >= 0.0, "{row}");
    }
    let peers: Vec<&str> = rows(&report, "orientation").iter().filter_map(|row| row["peer"].as_str()).collect();
    assert_eq!(peers, ["rayon scope", "static graph"]);
    assert_eq!(rows(&report, "idle").len(), 1);
}

#[test]
fn a_library_that_is_not_there_is_an_error_that_names_it() {
    let program = env!("CARGO_BIN_EXE_compare_engine");
    let flags = ["--seconds", "0.1", "--operators", "100", "--mxnet", "/no/such/libmxnet.so"];
    let output = Command::new(program).args(flags).output().expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("error: loading /no/such/libmxnet.so"), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_load_that_nobody_has_is_an_error_that_names_those_there_are() {
    let program = env!("CARGO_BIN_EXE_compare_engine");
    let output = Command::new(program).args(["--load", "no such"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("there are `") && stderr.contains("`resnet-50`"), "{stderr}");
}

#[test]
fn storage_has_a_row_for_every_heap() {
    let flags = ["--seconds", "0.1", "--iterations", "1", "--pairs", "1000"];
    let report = report(env!("CARGO_BIN_EXE_compare_storage"), &flags);
    let absent = |row: &&Value| !row["missing"].is_null();
    let n_present = report["peers"].as_array().unwrap().iter().filter(|row| !absent(row)).count();
    assert!(n_present >= 3, "{report:#}");
    let traces = rows(&report, "traces");
    assert_eq!(traces.len(), 2 * n_present);
    for row in traces {
        assert!(row["pair_ns"]["median"].as_f64().unwrap() > 0.0, "{row}");
        // A heap holds at least the live bytes, so the ratio is at least 1, up to rounding.
        assert!(row["held_over_live"].as_f64().unwrap() >= 0.999, "{row}");
    }
    let hits = rows(&report, "hits");
    assert_eq!(hits.len(), n_present);
    assert!(hits.iter().all(|row| row["two_over_one"]["median"].as_f64().unwrap() > 0.0));
}

#[test]
fn bandwidth_has_a_row_for_every_call() {
    let flags = ["--seconds", "0.1", "--megabytes", "0.1", "--only", "adam,softmax,multi_sgd"];
    let report = report(env!("CARGO_BIN_EXE_compare_bandwidth"), &flags);
    let calls = rows(&report, "calls");
    let n_of = |name: &str| calls.iter().filter(|row| row["operator"] == name).count();
    assert_eq!((n_of("adam_update"), n_of("softmax"), n_of("_backward_softmax")), (1, 3, 3), "{report:#}");
    for row in calls {
        assert!(row["gbs"].as_f64().unwrap() > 0.0 && row["share"].as_f64().unwrap() > 0.0, "{row}");
    }
    // Adam reads the weight, the gradient and two states, and writes all of these but the gradient: 7 tensors of 25,000
    // elements with 4 bytes each.
    let adam = calls.iter().find(|row| row["operator"] == "adam_update").unwrap();
    assert_eq!(adam["megabytes"], 0.7);
}

#[test]
fn an_operator_that_is_not_there_is_an_error() {
    let program = env!("CARGO_BIN_EXE_compare_bandwidth");
    for flags in [["--only", "no such"], ["--megabytes", "0"]] {
        let output = Command::new(program).args(flags).output().expect("it starts");
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("error: {} ", flags[0])), "{output:?}");
    }
}

#[test]
fn team_without_openmp() {
    let flags = ["--seconds", "0.1", "--round-us", "200", "--cc", "no-such-compiler"];
    let report = report(env!("CARGO_BIN_EXE_compare_team"), &flags);
    assert!(report["peers"][0]["missing"].as_str().unwrap().contains("--cc PATH"), "{report:#}");
    let loops = rows(&report, "loops");
    assert_eq!(loops.len(), 9 * 4, "3 lengths, 3 gaps; serial, two of rayon, ours");
    for row in loops {
        assert!(row["loop_us"]["median"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["p90_us"].as_f64().unwrap() > 0.0 && row["ratio"].is_null(), "{row}");
        assert_eq!(row["speed_up"].is_null(), row["contestant"] == "serial", "{row}");
    }
}

#[test]
fn gemm_without_other_libraries() {
    let flags = ["--shape", "square-64,scores-small", "--rounds", "2", "--round-seconds", "0", "--threads", "2"];
    let report = report(env!("CARGO_BIN_EXE_compare_gemm"), &flags);
    for (at, flag) in [(0, "--openblas FILE"), (1, "--onednn FILE")] {
        assert!(report["peers"][at]["missing"].as_str().unwrap().contains(flag), "{report:#}");
    }
    let speeds = rows(&report, "fastest");
    assert_eq!(speeds.len(), 2, "{report:#}");
    for row in speeds {
        assert!(row["mxrs"].as_f64().unwrap() > 0.0 && row["openblas"].is_null(), "{row}");
    }
    let names: Vec<&str> = rows(&report, "ratio").iter().filter_map(|row| row["shape"].as_str()).collect();
    assert_eq!(names, ["square-64", "attention-scores-small", "geometric mean", "worst"]);
    let notes = report["notes"].to_string();
    let calls = ["_backward_FullyConnected_data", "batch_dot"].map(|op| format!("mxrs called {op} (nnpack:"));
    assert!(calls.iter().all(|call| notes.contains(call)) && notes.contains("OpenBLAS: not run: give"), "{notes}");
}

#[test]
fn a_product_or_a_library_that_is_not_there_is_named() {
    let run =
        |flags: &[&str]| Command::new(env!("CARGO_BIN_EXE_compare_gemm")).args(flags).output().expect("it starts");
    let output = run(&["--shape", "cube"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && stderr.contains("cube") && stderr.contains("square-4096"), "{stderr}");
    let output = run(&["--shape", "square-64", "--rounds", "1", "--round-seconds", "0", "--openblas", "/no/such.so"]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("OpenBLAS: died") && stdout.contains("/no/such.so"), "{stdout}");
}

#[test]
fn operators_without_other_libraries() {
    let flags = ["--filter", "concat,random_uniform", "--rounds", "2", "--round-seconds", "0", "--threads", "2"];
    let report = report(env!("CARGO_BIN_EXE_compare_operators"), &flags);
    for (at, flag) in [(0, "--mxnet-python PATH"), (1, "--torch-python PATH")] {
        assert!(report["peers"][at]["missing"].as_str().unwrap().contains(flag), "{report:#}");
    }
    let calls = rows(&report, "fastest");
    assert_eq!(calls.len(), 5, "two sizes of Concat with and without gradients, and random numbers: {report:#}");
    for row in calls {
        assert!(row["mxrs"].as_f64().unwrap() > 0.0 && row["mxnet"].is_null() && row["ratio"].is_null(), "{row}");
    }
    let families: Vec<&str> = rows(&report, "families").iter().filter_map(|row| row["family"].as_str()).collect();
    assert_eq!(families, ["shape", "random", "all"]);
    assert!(report["sections"]["slow"].is_null(), "{report:#}");
}

#[test]
fn an_operator_of_no_family_or_a_python_that_is_not_there_is_named() {
    let run =
        |flags: &[&str]| Command::new(env!("CARGO_BIN_EXE_compare_operators")).args(flags).output().expect("it starts");
    let output = run(&["--filter", "no such"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && stderr.contains("no such") && stderr.contains("optimizer"), "{stderr}");
    let flags = ["--filter", "stack", "--peer", "mxnet", "--rounds", "1", "--round-seconds", "0"];
    let output = run(&[&flags[..], &["--mxnet-python", "/no/such/python"]].concat());
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("not measured: MXNet: /no/such/python"), "{stdout}");
}

#[test]
fn memory_without_mxnet() {
    let flags = ["--network", "lenet", "--batch", "2,8", "--python", "no-such-python", "--seconds", "0.1"];
    let saving = ["--saving", "lenet:8:MXRS_REMAT=sqrt,mlp:4:MXNET_BACKWARD_DO_MIRROR=1"];
    let report = report(env!("CARGO_BIN_EXE_compare_memory"), &[&flags[..], &saving].concat());
    assert!(report["peers"][0]["missing"].as_str().unwrap().contains("--python PATH"), "{report:#}");
    let networks = rows(&report, "networks");
    assert_eq!(networks.len(), 4, "two modes, two batch sizes");
    for row in networks {
        let number = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key} in {row}"));
        // LeNet has 431,080 parameters, and in training equally many gradients.
        let arrays = 4.0 * 431_080.0 / f64::from(1 << 20) * if row["mode"] == "training" { 2.0 } else { 1.0 };
        assert!(number("planned_mib") > 0.0 && number("peak_mib") > arrays, "{row}");
        assert!(row["mxnet_peak_mib"].is_null() && row["peak_ratio"].is_null(), "{row}");
    }
    let planned = |at: usize| networks[at]["tensors_mib"].as_f64().unwrap();
    assert!(planned(1) > 2.0 * planned(0) && planned(3) > 2.0 * planned(2), "{networks:#?}");
    let is_part = |row: &Value| row["tensors_mib"].as_f64() <= row["planned_mib"].as_f64();
    assert!(networks.iter().all(is_part), "{networks:#?}");
    let savings = rows(&report, "recompute");
    assert_eq!(savings.len(), 2);
    for row in savings {
        assert!(
            row["planned_ratio"].as_f64().unwrap() <= 1.0 && row["step_s"]["median"].as_f64().unwrap() > 0.0,
            "{row}"
        );
    }
}

#[test]
fn kvstore_without_mxnet() {
    let flags = ["--network", "mlp", "--seconds", "0.1", "--steps", "2", "--python", "no-such-python"];
    let report = report(env!("CARGO_BIN_EXE_compare_kvstore"), &flags);
    assert!(report["peers"][0]["missing"].as_str().unwrap().contains("--python PATH"), "{report:#}");
    let steps = rows(&report, "steps");
    assert_eq!(steps.len(), 8, "2 stores, 2 and 4 devices, with one call and with two");
    for row in steps {
        assert!(row["mxrs_s"]["median"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["mxrs_gbs"].as_f64().unwrap() > 0.0 && row["mxnet_s"].is_null() && row["ratio"].is_null(), "{row}");
    }
}

#[test]
fn numbers_of_devices_and_steps_are_checked() {
    for (flag, value) in [("--devices", "5"), ("--devices", "2,0"), ("--steps", "13")] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_compare_kvstore")).args([flag, value]).output().expect("it starts");
        assert_eq!(output.status.code(), Some(1));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(&format!("error: {flag} ")) && stderr.contains("expected 1 to"), "{stderr}");
    }
}

#[test]
fn a_row_that_says_nothing_is_an_error_that_says_what_it_needs() {
    let output = Command::new(env!("CARGO_BIN_EXE_compare_memory")).args(["--saving", "lenet"]).output();
    let output = output.expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("--saving lenet: expected NETWORK:BATCH:VARIABLE=VALUE"), "{stderr}");
}
