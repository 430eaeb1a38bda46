//! Compares what MXNet 1.9.1 wrote about a small program (`tests/mxnet/make_profile.py`) with what this profiler writes
//! about the same records: the layout of the table and the trace, and T5 (see `lib.rs`).

use crate::Turn;
use mxrs_profiler::{Config, Format, Profiler, SortBy, State};
use mxrs_trace::{Count, Event, Kinds, Label, Mark, MarkScope, Memory, MemoryStep, Span, SpanKind, record};
use mxrs_types::Device;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

fn golden(name: &str) -> String {
    std::fs::read_to_string(Path::new(FOLDER).join(name)).unwrap()
}

/// The events of MXNet's trace, in the order of their times. MXNet writes them in another order.
fn golden_events() -> Vec<Value> {
    let mut events: Vec<Value> = serde_json::from_str(&golden("events.json")).unwrap();
    events.sort_by_key(|event| event["ts"].as_u64());
    events
}

fn text<'a>(event: &'a Value, key: &str) -> &'a str {
    event[key].as_str().unwrap()
}

/// The value of a counter event.
fn value(event: &Value) -> u64 {
    event["args"][text(event, "name")].as_u64().unwrap()
}

/// Makes the same records as MXNet's trace has.
fn replay(events: &[Value]) {
    let start = events.iter().filter_map(|event| event["ts"].as_u64()).min().unwrap();
    let at_ns = |event: &Value| (event["ts"].as_u64().unwrap() - start) * 1000;
    let mut open: BTreeMap<(String, String, String), Vec<u64>> = BTreeMap::new();
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    let (mut used, mut next_id) = (0, 1);
    for event in events.iter().filter(|event| event["ph"] != "M") {
        let (name, category, phase) = (text(event, "name"), text(event, "cat"), text(event, "ph"));
        // These events are skipped: MXNet writes each operator a second time, as a task.
        if category == "operator" && ["b", "e"].contains(&phase) {
            continue;
        }
        let key = (category.to_owned(), name.to_owned(), event["tid"].to_string());
        let at = at_ns(event);
        match phase {
            "B" | "b" | "(" => open.entry(key).or_default().push(at),
            "E" | "e" | ")" => {
                let begin_ns = open.get_mut(&key).unwrap().pop().unwrap();
                let (kind, domain) = match (phase, category) {
                    ("E", "operator") => (SpanKind::Symbolic, ""),
                    ("E", _) => (SpanKind::Event, ""),
                    (")", _) => (SpanKind::Frame, category.strip_suffix(",frame").unwrap()),
                    ("e", "MXNET_C_API") => (SpanKind::Api, ""),
                    _ => (SpanKind::Task, category),
                };
                let (name, category, details) = (Label::of(name), Label::of(domain), Label::NONE);
                let (device, id) = (Device::cpu(0), next_id);
                next_id += 1;
                let span = Span {
                    kind,
                    name,
                    category,
                    details,
                    device,
                    begin_ns,
                    end_ns: at,
                    id,
                    parent: 0,
                    task: 0,
                    pending: 0,
                };
                record(Event::Span(span));
            }
            "C" if category == "Device Storage" => {
                // The difference to the last value is one block that was allocated or freed.
                let now = value(event);
                let (step, bytes) =
                    if now >= used { (MemoryStep::New, now - used) } else { (MemoryStep::Freed, used - now) };
                let address = match step {
                    MemoryStep::New => {
                        next_id += 1;
                        blocks.push((next_id, bytes));
                        next_id
                    }
                    _ => blocks.remove(blocks.iter().position(|(_, size)| *size == bytes).unwrap()).0,
                };
                used = now;
                let (requested_bytes, tag, scope) = (bytes, Label::NONE, Label::NONE);
                let memory = Memory {
                    step,
                    at_ns: at,
                    device: Device::cpu(0),
                    address,
                    requested_bytes,
                    block_bytes: 0,
                    tag,
                    scope,
                };
                record(Event::Memory(memory));
            }
            "C" => {
                let (name, category) = (Label::of(name), Label::of(category));
                record(Event::Count(Count { name, category, at_ns: at, value: value(event), kinds: Kinds::USER }));
            }
            "n" => {
                let category = Label::of(category.strip_suffix(",instant_marker").unwrap());
                record(Event::Mark(Mark { name: Label::of(name), category, at_ns: at, scope: MarkScope::Global }));
            }
            other => panic!("{other}"),
        }
    }
}

fn replayed(turn: &Turn) -> Profiler {
    // MXNet's calls and their counters are replayed as records. This test makes no calls of the interface itself, so the
    // profiler adds no counters of its own.
    let profiler = turn.running(Config { aggregate_stats: true, ..turn.config() });
    replay(&golden_events());
    profiler.set_state(State::Stop).unwrap();
    profiler
}

/// The values of the counters of MXNet's trace, by name.
fn counters() -> BTreeMap<String, Vec<u64>> {
    let mut counters: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for event in golden_events().iter().filter(|event| event["ph"] == "C") {
        counters.entry(text(event, "name").to_owned()).or_default().push(value(event));
    }
    counters
}

/// MXNet's table, changed in the two points in which this profiler differs: the average of a counter is its mean, and
/// counters of the user are plain numbers.
fn corrected(table: &str) -> String {
    let counters = counters();
    let correct = |line: &str| {
        let name = line.get(..25).unwrap_or_default().trim_end();
        let Some(values) = counters.get(name) else { return line.to_owned() };
        let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
        let (last, min, max) = (*values.last().unwrap(), *values.iter().min().unwrap(), *values.iter().max().unwrap());
        let cells = match name.starts_with("Memory: ") {
            true => vec![min as f64 / 1000.0, max as f64 / 1000.0, mean / 1000.0],
            false => vec![last as f64, min as f64, max as f64, mean],
        };
        let cells: String = cells.iter().map(|cell| format!(" {:>16}", format!("{cell:.4}"))).collect();
        format!("{}{cells}", &line[..41])
    };
    table.split('\n').map(correct).collect::<Vec<_>>().join("\n")
}

const COLUMNS: [(SortBy, &str); 5] = [
    (SortBy::Total, "total"),
    (SortBy::Avg, "avg"),
    (SortBy::Min, "min"),
    (SortBy::Max, "max"),
    (SortBy::Count, "count"),
];

/// T5: the text of the table, and the order of its rows by every column.
#[test]
fn t5_the_table_is_that_of_mxnet() {
    let turn = Turn::take();
    let profiler = replayed(&turn);
    let counters = counters();
    for (sort_by, word) in COLUMNS {
        assert_eq!(word.parse::<SortBy>().unwrap(), sort_by);
        for (ascending, order) in [(false, "descending"), (true, "ascending")] {
            let expected = corrected(&golden(&format!("table_{word}_{order}.txt")));
            let found = profiler.dumps(false, Format::Table, sort_by, ascending);
            if sort_by == SortBy::Avg {
                // The averages of counters differ from MXNet's, so their rows have other positions, and are left out here.
                let others = |text: &str| -> Vec<String> {
                    let is_counter =
                        |line: &&str| line.get(..25).is_some_and(|name| counters.contains_key(name.trim_end()));
                    text.lines().filter(|line| !is_counter(line)).map(str::to_owned).collect()
                };
                assert_eq!(others(&found), others(&expected), "{word} {order}");
            } else {
                assert_eq!(found, expected, "{word} {order}");
            }
        }
    }
    assert!("median".parse::<SortBy>().is_err());
}

/// T6: a reset clears all statistics.
#[test]
fn t6_a_reset_table_is_that_of_mxnet() {
    let turn = Turn::take();
    let profiler = replayed(&turn);
    let _ = profiler.dumps(true, Format::Table, SortBy::Total, false);
    assert_eq!(profiler.dumps(false, Format::Table, SortBy::Total, false), golden("table_empty.txt"));
}

/// The JSON has MXNet's keys and values. MXNet prints only four digits, so the values are compared with this precision.
#[test]
fn the_json_has_the_values_of_mxnet() {
    let turn = Turn::take();
    let profiler = replayed(&turn);
    let found: Value = serde_json::from_str(&profiler.dumps(false, Format::Json, SortBy::Total, false)).unwrap();
    let expected: Value = serde_json::from_str(&golden("stats.json")).unwrap();
    let counters = counters();
    assert_eq!(found["Unit"], expected["Unit"]);
    let mut compared = 0;
    for part in ["Time", "Memory"] {
        for (category, entries) in expected[part].as_object().unwrap() {
            for (name, entry) in entries.as_object().unwrap() {
                if counters.contains_key(name) {
                    continue;
                }
                let ours = found[part][category][name].as_object().unwrap();
                for (key, expected) in entry.as_object().unwrap() {
                    let (ours, expected) = (ours[key].as_f64().unwrap(), expected.as_f64().unwrap());
                    assert!(
                        (ours - expected).abs() <= expected * 1e-3,
                        "{category} {name} {key}: {ours}, not {expected}"
                    );
                    compared += 1;
                }
                let [p50, p90, p99] = ["P50", "P90", "P99"].map(|key| ours[key].as_f64().unwrap());
                let [min, max] = ["Min", "Max"].map(|key| ours[key].as_f64().unwrap());
                assert!(min <= p50 && p50 <= p90 && p90 <= p99 && p99 <= max, "{category} {name}");
            }
        }
        let categories = |json: &Value| json[part].as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        assert!(categories(&expected).is_subset(&categories(&found)));
    }
    assert!(compared > 100);
    assert_eq!(found["Counter"]["Training"]["images"]["Total"], 150.0);
    assert!(found["Memory"]["Device Storage"]["Memory: cpu/0"].get("Total").is_none());
}

/// In the trace, each kind of object has the same fields as in MXNet's trace.
#[test]
fn trace_events_have_the_fields_of_mxnet() {
    let turn = Turn::take();
    let profiler = replayed(&turn);
    profiler.dump(true).unwrap();
    // The phase, the category and the names of the fields of each event. The numbers of processes and threads are not
    // compared, because they differ.
    let shapes = |events: &[Value]| -> BTreeSet<(String, String, Vec<String>)> {
        let shape = |event: &Value| {
            let fields: Vec<String> = event.as_object().unwrap().keys().cloned().collect();
            (text(event, "ph").to_owned(), event["cat"].as_str().unwrap_or_default().to_owned(), fields)
        };
        events.iter().map(shape).collect()
    };
    let is_twin = |event: &Value| event["cat"] == "operator" && (event["ph"] == "b" || event["ph"] == "e");
    let expected: Vec<Value> = golden_events().into_iter().filter(|event| !is_twin(event)).collect();
    let found: Vec<Value> =
        crate::events(&turn.path("t.json")).into_iter().filter(|event| event["name"] != "thread_name").collect();
    assert_eq!(shapes(&found), shapes(&expected));
    // There are as many events of each kind, and the counters have the same values.
    let counts = |events: &[Value]| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for event in events.iter().filter(|event| event["ph"] != "M") {
            *counts
                .entry(format!("{} {} {} {}", event["ph"], event["cat"], event["name"], event["args"]))
                .or_default() += 1;
        }
        counts
    };
    assert_eq!(counts(&found), counts(&expected));
    let processes = |events: &[Value]| -> BTreeSet<String> {
        let described = events.iter().filter(|event| event["name"] == "process_name");
        described.map(|event| event["args"]["name"].to_string()).filter(|name| !name.contains("cpu/")).collect()
    };
    let mut expected = processes(&expected);
    expected.remove("\"operator\"");
    assert_eq!(processes(&found), expected);
}
