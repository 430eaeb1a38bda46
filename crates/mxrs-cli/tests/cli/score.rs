//! Tests of `mxrs score`.

use crate::mxrs::{digits, mxrs, mxrs_with};

#[test]
fn log_lines_and_figures() {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("score.json").display().to_string();
    let symbol = digits("lenet-symbol.json");
    let params = digits("lenet-0010.params");
    let start = ["score", "--symbol", &symbol, "--params", &params, "--data-shape", "1,28,28", "--batch-size", "1"];
    let rest = ["--num-batches", "2", "--warmup", "1", "--repeat", "2", "--threads", "1", "--json", &json];
    let ran = mxrs(start.into_iter().chain(rest));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let lines: Vec<&str> = ran.err.lines().collect();
    assert!(lines[0].starts_with("INFO:root:threads: 1, affinity: none, engine: "), "{}", ran.err);
    assert_eq!(lines[1..3], ["INFO:root:network: lenet", "INFO:root:device: cpu(0)"], "{}", ran.err);
    let figure = ran.err.split("INFO:root:batch size  1, dtype float32, images/sec: ").nth(1).expect("the line");
    let figure: f64 = figure.lines().next().and_then(|line| line.parse().ok()).expect("a number");
    assert!(figure > 0.0);
    assert!(ran.err.contains("INFO:root:median of 2: "), "{}", ran.err);

    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    assert_eq!((&report["threads"], &report["device"]), (&1.into(), &"cpu(0)".into()));
    let cell = &report["cells"][0];
    assert_eq!([&cell["network"], &cell["dtype"], &cell["status"]], ["lenet", "float32", "ok"]);
    let written = cell["images_per_sec"].as_f64().expect("a number");
    assert!((written - figure).abs() < 1e-5 * figure, "{written} {figure}");
    assert_eq!(cell["repetitions"].as_array().map(Vec::len), Some(2));
}

#[test]
fn random_weights_do_without_a_parameter_file() {
    let symbol = digits("resnet8-symbol.json");
    let start = ["score", "--symbol", &symbol, "--data-shape", "1,28,28", "--batch-size", "2"];
    let ran = mxrs(start.into_iter().chain(["--num-batches", "1", "--warmup", "0"]));
    assert!(ran.err.contains("INFO:root:batch size  2, dtype float32, images/sec: "), "{}", ran.err);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn networks_of_gluon_are_measured_and_unknown_ones_refused() {
    let start = ["score", "--network", "squeezenet1.1", "--batch-size", "1", "--num-batches", "1", "--warmup", "0"];
    let ran = mxrs(start);
    assert!(ran.err.contains("INFO:root:network: squeezenet1.1\n"), "{}", ran.err);
    assert!(ran.err.contains("INFO:root:batch size  1, dtype float32, images/sec: "), "{}", ran.err);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let err = mxrs(["score", "--network", "resnest-50"]).failed(2);
    assert!(err.contains("`resnest-50`") && err.contains("resnet-50"), "{err}");
}

/// With `--weights bfloat16`, kernels for bfloat16 weights are used.
#[test]
fn weights_are_bfloat16_on_request() {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("score.json").display().to_string();
    let symbol = digits("lenet-symbol.json");
    let start = ["score", "--symbol", &symbol, "--data-shape", "1,28,28", "--num-batches", "1", "--explain"];
    for batch in ["1", "4"] {
        for (weights, is_short) in [("bfloat16", true), ("float32", false)] {
            let rest = ["--batch-size", batch, "--weights", weights, "--json", &json];
            mxrs(start.into_iter().chain(rest)).ok();
            let report = std::fs::read_to_string(&json).unwrap();
            assert_eq!(report.contains("_bf16:"), is_short, "{report}");
        }
    }
    assert!(mxrs(["score", "--weights", "int4"]).failed(2).contains("bfloat16"));
}

/// For a network whose MXNet definition does not support float16, MXNet's message is printed; other networks are measured.
#[test]
fn float16_is_a_way_to_store() {
    let ran = mxrs(["score", "--network", "alexnet", "--batch-size", "1", "--dtype", "float16"]);
    assert!(ran.err.contains("batch size  1, dtype float16, images/sec: not built"), "{}", ran.err);
    assert!(ran.err.contains("Model definition for alexnet does not support float16"), "{}", ran.err);
    let start = ["score", "--network", "resnet-18", "--batch-size", "1", "--dtype", "float16"];
    let ran = mxrs(start.into_iter().chain(["--num-batches", "1", "--warmup", "0"]));
    let figure = ran.err.split("INFO:root:batch size  1, dtype float16, images/sec: ").nth(1).expect("the line");
    assert!(figure.trim().parse::<f64>().is_ok_and(|figure| figure > 0.0), "{}", ran.err);
}

/// A batch that does not fit into memory is reported as `oom`, and the command continues.
#[test]
fn out_of_memory_is_a_cell() {
    let symbol = digits("lenet-symbol.json");
    // 2^41 images of 784 floats are more than the address space of any machine.
    let start = ["score", "--symbol", &symbol, "--data-shape", "1,28,28", "--batch-size", "2199023255552"];
    let ran = mxrs_with(&[("OMP_NUM_THREADS", "1")], start.into_iter().chain(["--warmup", "0", "--num-batches", "1"]));
    assert!(ran.err.contains("batch size 2199023255552, dtype float32, images/sec: oom"), "{}", ran.err);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

/// Weights that do not fit into memory are reported as `oom` too. Their size follows from the shape of the data.
#[test]
fn weights_without_room_are_a_cell() {
    let symbol = digits("lenet-symbol.json");
    // 500 outputs from 50 maps of 4,997 x 4,997 pixels need 2.5 TB of weights.
    let start = ["score", "--symbol", &symbol, "--data-shape", "1,20000,20000", "--batch-size", "1"];
    let ran = mxrs(start.into_iter().chain(["--warmup", "0", "--num-batches", "1"]));
    assert!(ran.err.contains("batch size  1, dtype float32, images/sec: oom"), "{}", ran.err);
    assert!(ran.err.contains("random parameters would take more"), "{}", ran.err);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

/// resnet-18 is the smallest network that can be built in bfloat16.
#[test]
fn a_network_runs_in_bfloat16() {
    let start = ["score", "--network", "resnet-18", "--batch-size", "1", "--dtype", "bfloat16"];
    let ran = mxrs(start.into_iter().chain(["--num-batches", "1", "--warmup", "0"]));
    let figure = ran.err.split("INFO:root:batch size  1, dtype bfloat16, images/sec: ").nth(1).expect("the line");
    assert!(figure.trim().parse::<f64>().is_ok_and(|figure| figure > 0.0), "{}", ran.err);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

/// A symbol file contains no dtypes, so matrix products and convolutions compute in the dtype of the flag `--dtype`.
#[test]
fn a_network_of_a_file_runs_in_each_type() {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("score.json").display().to_string();
    let (symbol, params) = (digits("lenet-symbol.json"), digits("lenet-0010.params"));
    let start = ["score", "--symbol", &symbol, "--data-shape", "1,28,28", "--batch-size", "2", "--json", &json];
    let rest = ["--params", &params, "--num-batches", "1", "--warmup", "0", "--dtype", "float32,float16,bfloat16"];
    mxrs(start.into_iter().chain(rest)).ok();
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let cells = report["cells"].as_array().expect("cells");
    let dtypes: Vec<&str> = cells.iter().filter_map(|cell| cell["dtype"].as_str()).collect();
    assert_eq!(dtypes, ["float32", "float16", "bfloat16"]);
    assert!(cells.iter().all(|cell| cell["status"] == "ok"), "{report}");
}

/// A file that cannot be written is reported before anything is measured.
#[test]
fn an_output_that_cannot_be_written_is_noticed_first() {
    let dir = tempfile::tempdir().unwrap();
    let (symbol, folder) = (digits("lenet-symbol.json"), dir.path().display().to_string());
    for json in [format!("{folder}/none/score.json"), folder.clone()] {
        let start = ["score", "--symbol", &symbol, "--data-shape", "1,28,28", "--batch-size", "1", "--json", &json];
        let error = mxrs(start).failed(1);
        assert!(error.contains(&json) && !error.contains("network:"), "{error}");
    }
}

/// Until there is a result, the file of an earlier run is not changed, and no temporary file is left next to it.
#[test]
fn an_earlier_output_stays_until_there_is_another() {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("score.json");
    std::fs::write(&json, "earlier").unwrap();
    let path = json.display().to_string();
    mxrs(["score", "--symbol", "/none-symbol.json", "--data-shape", "1,28,28", "--json", &path, "--threads", "0"])
        .failed(2);
    assert_eq!(std::fs::read_to_string(&json).unwrap(), "earlier");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}
