//! Merges the traces of several ranks.

use crate::{Turn, events, operator};
use mxrs_profiler::{Config, merge};
use serde_json::Value;
use std::io::{Read, Write};
use std::path::Path;

/// A trace with the name of a row, an operator, an arrow between events, and a task of the user.
fn trace(zero: u64, ts: &str, dropped: u64) -> String {
    format!(
        r#"{{"traceEvents":[
{{"ph":"M","args":{{"name":"cpu/1"}},"pid":1,"name":"process_name"}},
{{"name":"x","ph":"B","ts":{ts},"pid":1,"tid":4}},
{{"name":"task","ph":"s","id":"0x7","ts":{ts},"pid":1073741900,"tid":4}},
{{"name":"t","ph":"b","id":4,"ts":{ts},"pid":1,"tid":4}}
],"displayTimeUnit":"ms","otherData":{{"zero_unix_ns":"{zero}","dropped_records":"  {dropped}"}}}}"#
    )
}

#[test]
fn ranks_have_one_time_and_numbers_of_their_own() {
    let turn = Turn::take();
    let [a, b, c] = ["a.json", "b.json", "c.json"].map(|name| turn.path(name));
    std::fs::write(&a, trace(1_700_000_000_000_002_500, "10.125", 2)).unwrap();
    std::fs::write(&b, trace(1_700_000_000_000_000_000, "11.000", 3)).unwrap();
    merge(&[&a, &b], &c).unwrap();
    let events = events(&c);
    let [first, second] = [0, 1].map(|rank| &events[rank * 4..rank * 4 + 4]);
    let names = [first, second].map(|events| events[0]["args"]["name"].as_str().unwrap());
    assert_eq!(names, ["rank 0: cpu/1", "rank 1: cpu/1"]);
    let times = [first, second].map(|events| events[1]["ts"].as_f64().unwrap());
    assert_eq!(times, [12.625, 11.0], "the first process started 2.5 µs later");
    let pids = |events: &[Value]| events.iter().map(|event| event["pid"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!((pids(first), pids(second)), (vec![0, 0, 1, 0], vec![2, 2, 3, 2]));
    assert_eq!((&first[2]["id"], &second[3]["id"]), (&"0:0x7".into(), &"1:4".into()));
    let text = std::fs::read_to_string(&c).unwrap();
    let other = serde_json::from_str::<Value>(&text).unwrap()["otherData"].clone();
    let expected = serde_json::json!({ "zero_unix_ns": "1700000000000000000", "ranks": "2", "dropped_records": "5" });
    assert_eq!(other, expected);
    assert!(text.contains("\"ts\":11.000}"), "times keep their decimals");
}

/// Merges a plain and a compressed trace of this profiler. The merged trace is compressed, and replaces one of the inputs.
#[test]
fn traces_of_the_profiler_are_merged() {
    let turn = Turn::take();
    let [a, b] = ["a.json", "b.json.gz"].map(|name| turn.path(name));
    for (path, name) in [(&a, "of rank 0"), (&b, "of rank 1")] {
        let profiler = turn.running(Config { filename: path.clone(), profile_engine: true, ..turn.config() });
        (0..50).for_each(|_| operator(name, || ()));
        profiler.dump(true).unwrap();
    }
    let count = |path: &Path| events(path).len();
    let n_first = count(&a);
    merge(&[&a, &b], &b).unwrap();
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(&std::fs::read(&b).unwrap()[..]).read_to_string(&mut text).unwrap();
    let merged: Value = serde_json::from_str(&text).unwrap();
    let merged = merged["traceEvents"].as_array().unwrap();
    assert_eq!(merged.len(), 2 * n_first);
    let is_of = |event: &&Value, name: &str| event["name"] == name && event["ph"] == "B";
    let begins = |name: &str| merged.iter().filter(|event| is_of(event, name)).count();
    assert_eq!((begins("of rank 0"), begins("of rank 1")), (50, 50));
    let last_of_first = merged.iter().rfind(|event| is_of(event, "of rank 0")).unwrap()["ts"].as_f64();
    let first_of_last = merged.iter().find(|event| is_of(event, "of rank 1")).unwrap()["ts"].as_f64();
    assert!(last_of_first < first_of_last, "both are of this process and have its time");
}

#[test]
fn other_files_are_refused_by_name_and_nothing_is_written() {
    let turn = Turn::take();
    let [good, path, output] = ["good.json", "other.json", "out.json"].map(|name| turn.path(name));
    std::fs::write(&good, trace(5, "1.0", 0)).unwrap();
    let refused = |text: &[u8], part: &str| {
        std::fs::write(&path, text).unwrap();
        let error = merge(&[&good, &path], &output).unwrap_err().to_string();
        assert!(error.contains("other.json") && error.contains(part), "{error}");
        assert!(!output.exists());
    };
    refused(b"", "EOF");
    refused(b"[]", "zero_unix_ns");
    refused(b"{\"traceEvents\":[]}", "zero_unix_ns");
    refused(b"{\"otherData\":{\"zero_unix_ns\":\"1\"}}", "traceEvents");
    refused(b"{\"traceEvents\":[\n5],\"otherData\":{\"zero_unix_ns\":\"1\"}}", "5");
    refused(b"{\"traceEvents\":[],\"otherData\":{\"zero_unix_ns\":\"-1\"}}", "zero_unix_ns");
    let text = trace(5, "1.0", 0);
    refused(&text.as_bytes()[..text.len() / 2], "in the middle");
    let nested = format!("{{\"traceEvents\":[{{\"args\":{}1{}}}]}}", "[".repeat(100_000), "]".repeat(100_000));
    refused(nested.as_bytes(), "");
    let error = merge(&[turn.path("none.json")], &output).unwrap_err().to_string();
    assert!(error.contains("none.json"), "{error}");
    assert!(merge::<&Path>(&[], &output).is_err());
    let gzip = turn.path("other.json.gz");
    let mut file = std::fs::File::create(&gzip).unwrap();
    file.write_all(b"not a gzip file").unwrap();
    let error = merge(&[&gzip], &output).unwrap_err().to_string();
    assert!(error.contains("other.json.gz"), "{error}");
}
