//! Every comparison runs to its end without peers, on a tiny budget, and reports what it says it reports.

use serde_json::Value;
use std::process::Command;

/// Runs a program with `--format json` and these flags; answers its report.
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
