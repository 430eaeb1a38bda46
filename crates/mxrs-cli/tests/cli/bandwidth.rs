//! `mxrs bandwidth` under `mxrs launch`.

use crate::launch::PATH;
use crate::mxrs::{Ran, mxrs, mxrs_with};
use serde_json::{Value, json};

/// Measures small keys with two workers.
fn measured(flags: &[&str]) -> Ran {
    let start = ["launch", "-n", "2", "--", env!("CARGO_BIN_EXE_mxrs"), "bandwidth", "--num-batches", "3"];
    mxrs_with(&[PATH], [&start[..], &["--warmup", "1"], flags].concat())
}

/// The JSON that the first worker has printed: its lines without their marks. The other worker prints nothing.
#[track_caller]
fn report(ran: Ran) -> Value {
    let out = ran.ok();
    let unmarked = |line: &str| {
        assert!(line.starts_with("[worker 0 "), "{line}");
        line.split_once("] ").map(|(_, text)| text.to_owned()).unwrap()
    };
    let text = out.lines().map(unmarked).collect::<Vec<_>>().join("\n");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_report_of_two_workers_is_json() {
    for store in ["dist_sync", "p3", "horovod"] {
        let flags = ["--kv-store", store, "--size", "4K,64K", "--keys", "3", "--format", "json"];
        let report = report(measured(&flags));
        assert_eq!((&report["kv_store"], &report["workers"]), (&json!(store), &json!(2)), "{report}");
        assert_eq!((&report["rounds"], &report["compression"]), (&json!(3), &json!("none")), "{report}");
        let cases = report["cases"].as_array().unwrap();
        let sizes: Vec<_> = cases.iter().map(|case| [&case["keys"], &case["bytes"]]).collect();
        assert_eq!(sizes, [[&json!(3), &json!(12_288)], [&json!(3), &json!(196_608)]], "{report}");
        for case in cases {
            let seconds = |at: usize| case["store"]["seconds"][at].as_f64().unwrap();
            let (median, least, most) = (seconds(0), seconds(1), seconds(2));
            assert!(0.0 < least && least <= median && median <= most, "{report}");
            // Of two workers, each sends at least as many bytes as the arrays have.
            let expected = case["bytes"].as_f64().unwrap() / median * 1e-9;
            let got = case["store"]["bus_gb_per_s"].as_f64().unwrap();
            assert!((got / expected - 1.0).abs() < 1e-6, "{got} instead of {expected}: {report}");
            assert!(case["first_s"].as_f64().is_some_and(|first| 0.0 < first && first <= most), "{report}");
            // Sockets have no all-reduce of their own to compare with.
            assert!(case["mpi_allreduce"].is_null() && case["ratio"].is_null(), "{report}");
            assert_eq!(case["error"], 0.0, "the sums of small whole numbers are exact: {report}");
        }
    }
}

#[test]
fn compressed_sums_have_an_error_and_a_network_is_one_case() {
    let flags = ["--size", "4K", "--gc-type", "2bit", "--no-peer", "--format", "json"];
    let compressed = report(measured(&flags));
    assert_eq!(compressed["compression"], "2bit");
    assert!(compressed["cases"][0]["error"].as_f64().is_some_and(|error| error > 0.1), "{compressed}");
    let lenet = report(measured(&["--network", "lenet", "--format", "json"]));
    let cases = lenet["cases"].as_array().unwrap();
    assert_eq!((cases.len(), &cases[0]["error"]), (1, &json!(0.0)), "{lenet}");
    assert!(cases[0]["keys"].as_u64().is_some_and(|keys| keys == 8), "weights and biases of four layers: {lenet}");
    let table = measured(&["--size", "4K"]).ok();
    assert!(table.contains("dist_sync, 2 workers, median of 3 rounds"), "{table}");
}

#[test]
fn what_cannot_be_measured_is_named() {
    for (flags, words) in [
        (&["bandwidth", "--kv-store", "local"][..], "a store of one process"),
        (&["bandwidth", "--kv-store", "dist_sink"], "nearest: dist_sync"),
        (&["bandwidth", "--size", "3"], "multiple of 4"),
        (&["bandwidth", "--size", "4K", "--network", "lenet"], "--network"),
        (&["bandwidth"], "mxrs launch -n 2"),
    ] {
        let err = mxrs(flags).failed(2);
        assert!(err.contains(words), "{flags:?}: {err}");
    }
}

#[test]
fn simulated_steps_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("efficiency.svg");
    let start =
        ["bandwidth", "simulate", "--network", "lenet", "--workers", "8,16", "--link", "1,10", "--format", "json"];
    let cells = mxrs([&start[..], &["--plot", plot.to_str().unwrap()]].concat()).json();
    // Two stores, two links and two numbers of workers.
    let cells = cells.as_array().unwrap();
    assert_eq!(cells.len(), 8, "{cells:#?}");
    let svg = std::fs::read_to_string(&plot).unwrap();
    for cell in cells {
        let (store, link) = (cell["kv_store"].as_str().unwrap(), cell["link_gbit"].as_f64().unwrap());
        let label = format!("lenet, {store}, {link} Gbit/s");
        assert!(svg.contains(&label), "{label}: {svg}");
    }
}
