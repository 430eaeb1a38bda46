//! Traces of other programs, traces that are not complete, and files that are not traces.

use super::simulator::{FUSED, Noise, PLAIN, Random, run, trace, write};
use super::{named, row};
use crate::{Turn, operator};
use flate2::Compression;
use flate2::write::GzEncoder;
use mxrs_profiler::Config;
use mxrs_profiler::diff::{Options, Verdict, compare};
use std::io::Write;
use std::path::Path;

fn error(path: &Path) -> String {
    compare(path, path, Options::default()).unwrap_err().to_string()
}

#[test]
fn traces_of_the_profiler_are_compared() {
    let turn = Turn::take();
    let paths = ["a.json", "b.json.gz"].map(|name| turn.path(name));
    for (path, extra) in paths.iter().zip(["pool", "fc"]) {
        let profiler = turn.running(Config { filename: path.clone(), ..turn.config() });
        for _ in 0..12 {
            operator("conv", || (0..2000).for_each(|i| _ = std::hint::black_box(i)));
            operator("conv", || ());
            operator(extra, || ());
        }
        profiler.dump(true).unwrap();
    }
    let comparison = compare(&paths[0], &paths[1], Options::default()).unwrap();
    assert_eq!(comparison.iterations, [12, 12]);
    let conv = row(&comparison.operators, "conv");
    assert_eq!((conv.a.calls, conv.b.calls), (24, 24));
    assert!(conv.a.typical_us > 0.0 && conv.a.share > 0.1, "{comparison}");
    assert_eq!(row(&comparison.operators, "pool").verdict, Verdict::OnlyInA);
    assert_eq!(row(&comparison.operators, "fc").verdict, Verdict::OnlyInB);
    let text = comparison.to_string();
    assert!(text.contains("only in a") && text.contains("Iterations: 12 in a, 12 in b"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&comparison.to_json().unwrap()).unwrap();
    let of_pool = json["operators"].as_array().unwrap().iter().find(|row| row["operator"] == "pool").unwrap();
    assert_eq!(
        (&of_pool["verdict"], &of_pool["b"]["calls"], &of_pool["ratio"]),
        (&"only_in_a".into(), &0.into(), &().into())
    );
}

/// MXNet writes whole microseconds, no nodes, large numbers of threads, and each operator a second time as a task.
#[test]
fn traces_of_mxnet_are_compared() {
    let turn = Turn::take();
    let [a, b] = ["a.json", "b.json"].map(|name| turn.path(name));
    let mut random = Random(1);
    for (path, slow) in [(&a, 1.0), (&b, 1.2)] {
        let factor = |operator: &str, _| if operator == "BatchNorm" { slow } else { 1.0 };
        let iterations = run(&mut random, PLAIN, 30, Noise::of_calls(0.05), factor);
        let mut text =
            "{\n    \"traceEvents\": [\n        {\n            \"ph\": \"M\",\n            \"args\": {\n".to_owned();
        text += "                \"name\": \"cpu/0\"\n            },\n            \"pid\": 0,\n";
        text += "            \"name\": \"process_name\"\n        }";
        let mut at = 0.0;
        for (operator, _, us) in iterations.iter().flatten() {
            for (ph, pid, ts) in [("B", 0_u64, at), ("E", 0, at + us), ("b", u64::MAX, at), ("e", u64::MAX, at + us)] {
                text += &format!(
                    ",\n    {{\n        \"name\": \"{operator}\",\n        \"cat\": \"operator\",\n        \"ph\": \"{ph}\",\n\
                     \x20       \"ts\": {},\n        \"pid\": {pid},\n        \"tid\": 18446744073709551000\n    }}\n",
                    ts as u64
                );
            }
            at += us;
        }
        std::fs::write(path, text + "    ],\n    \"displayTimeUnit\": \"ms\"\n}\n").unwrap();
    }
    let comparison = compare(&a, &b, Options::default()).unwrap();
    assert_eq!(comparison.iterations, [30, 30]);
    assert_eq!(row(&comparison.operators, "BatchNorm").a.calls, 30 * 53);
    assert_eq!(named(&comparison), [("BatchNorm".to_owned(), String::new(), Verdict::Slower)], "{comparison}");
    assert!(comparison.nodes.is_empty());
}

/// Other forms of the format: a list without an object around it, complete events (phase `X`), end events without names, and
/// process numbers that are texts.
#[test]
fn other_forms_of_the_format_are_read() {
    let turn = Turn::take();
    let path = turn.path("t.json");
    let text = r#"[{"name":"x","cat":"operator","ph":"X","ts":1,"dur":2.5,"pid":"p","tid":"t","args":{"node":"n"}},
        {"name":"y","cat":"operator","ph":"B","ts":1,"pid":"p","tid":"t","args":{"node":[{}]}},
        {"name":"y","cat":"operator","ph":"B","ts":2,"pid":"p","tid":"u","args":null},
        {"cat":"operator","ph":"E","ts":5,"pid":"p","tid":"t"},
        {"cat":"operator","ph":"E","ts":7,"pid":"p","tid":"t"},
        {"ph":"C","name":"c","args":{"node":7}},{"ph":1,"cat":null},{}]"#;
    std::fs::write(&path, text).unwrap();
    let comparison = compare(&path, &path, Options::default()).unwrap();
    assert_eq!(row(&comparison.nodes, "n").a.total_us, 2.5);
    assert_eq!(row(&comparison.operators, "y").a.total_us, 4.0);
    assert!(comparison.notes.iter().any(|note| note.contains("2 begins or ends")), "{comparison}");
}

/// A trace whose end is missing is read up to that point.
#[test]
fn traces_that_were_cut_are_read() {
    let turn = Turn::take();
    let [whole, cut, packed] = ["whole.json", "cut.json", "cut.json.gz"].map(|name| turn.path(name));
    let mut random = Random(2);
    let iterations = run(&mut random, FUSED, 10, Noise::of_calls(0.05), |_, _| 1.0);
    write(&whole, &iterations);
    let text = trace(&iterations);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let gzip = encoder.finish().unwrap();
    for part in 2..20 {
        std::fs::write(&cut, &text.as_bytes()[..text.len() * part / 20]).unwrap();
        std::fs::write(&packed, &gzip[..gzip.len() * part / 20]).unwrap();
        for path in [&cut, &packed] {
            let comparison = compare(&whole, path, Options::default()).unwrap();
            assert!(comparison.notes.iter().any(|note| note.contains("is not complete")), "{comparison}");
            let calls = row(&comparison.operators, "Convolution").b.calls;
            assert!((530 * (part - 1) / 20..530).contains(&calls), "{part}: {calls}");
        }
    }
    // A program that was killed between two writes leaves the closing text twice.
    std::fs::write(&cut, format!("{text}   \n],\"otherData\":{{}}}}")).unwrap();
    let comparison = compare(&whole, &cut, Options::default()).unwrap();
    assert!(comparison.notes[0].contains("more text"), "{comparison}");
    assert_eq!(row(&comparison.operators, "Convolution").b.calls, 530);
}

#[test]
fn files_that_are_not_traces_are_refused_with_their_place() {
    let turn = Turn::take();
    let path = turn.path("other.json");
    let call = r#"{"name":"x","cat":"operator","ph":"X","ts":1,"dur":2}"#;
    for (text, part) in [
        ("", "other.json"),
        ("nonsense", "line 1"),
        ("7", "line 1"),
        ("{}", "`traceEvents`"),
        ("{\"traceEvents\":{}}", "line 1"),
        ("{\"traceEvents\":[]}", "no call of an operator"),
        (&format!("{{\"traceEvents\":[\n{call},\n{call},\n,{call}]}}"), "line 4"),
        (&format!("{{\"traceEvents\":[\n{call},\n[]]}}"), "line 3"),
        (&format!("{{\"traceEvents\":[\n{call},\n{{\"ts\":1e999}}]}}"), "line 3"),
        (&format!("{{\"traceEvents\":[\n{call},\n{{\"args\":{}}}]}}", "[".repeat(1_000_000)), "line 3"),
        (&format!("{{\"traceEvents\":[\n{call},\n{{\"name\":\"{}\"}}]}}", "x".repeat(5 << 20)), "one event"),
        (&format!("{{\"traceEvents\":[\n{}{call}]}}", " ".repeat(5 << 20)), "one event"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = error(&path);
        assert!(error.contains("other.json") && error.contains(part), "{part}: {error}");
    }
    assert!(error(&turn.path("none.json")).contains("none.json"));
    let gzip = turn.path("other.json.gz");
    std::fs::write(&gzip, "not packed").unwrap();
    assert!(error(&gzip).contains("other.json.gz"));
}

#[test]
fn too_many_names_and_bad_options_are_errors() {
    let turn = Turn::take();
    let path = turn.path("t.json");
    let mut text = "[".to_owned();
    for number in 0..65_537 {
        text += &format!("{{\"name\":\"{number}\",\"cat\":\"operator\",\"ph\":\"X\",\"ts\":1,\"dur\":2}},");
    }
    std::fs::write(&path, text + "{}]").unwrap();
    assert!(error(&path).contains("65536"), "{}", error(&path));
    for (min_effect, certainty) in
        [(-0.1, 0.9), (1.0, 0.9), (f64::NAN, 0.9), (0.03, 0.4), (0.03, 1.0), (0.03, f64::NAN)]
    {
        assert!(compare(&path, &path, Options { min_effect, certainty }).is_err());
    }
}
