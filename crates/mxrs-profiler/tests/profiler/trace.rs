//! T3: the trace is valid JSON whose begins and ends nest, whatever names occur; tasks of an engine and its bulks.

use crate::{Turn, events, of_kind, operator, records};
use mxrs_engine::{Engine, EngineConfig, EngineKind};
use mxrs_profiler::{Config, api_call};
use mxrs_trace::SpanKind;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

/// Checks T3 and returns each span: process, thread, name, begin and end in nanoseconds, and its depth.
fn nested(records: &[Value]) -> Vec<(u64, u64, String, u64, u64, usize)> {
    let ns = |event: &Value| (event["ts"].as_f64().unwrap() * 1000.0).round() as u64;
    let mut sorted: Vec<&Value> = records.iter().filter(|event| event["ph"] == "B" || event["ph"] == "E").collect();
    sorted.sort_by_key(|event| ns(event));
    let mut open: BTreeMap<(u64, u64), Vec<&Value>> = BTreeMap::new();
    let mut spans = Vec::new();
    for event in sorted {
        let (process, thread) = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        let stack = open.entry((process, thread)).or_default();
        if event["ph"] == "B" {
            stack.push(event);
            continue;
        }
        let begin = stack.pop().expect("an end without a begin");
        assert_eq!((&begin["name"], &begin["cat"]), (&event["name"], &event["cat"]), "an end of another span");
        let name = begin["name"].as_str().unwrap().to_owned();
        spans.push((process, thread, name, ns(begin), ns(event), stack.len()));
    }
    assert!(open.values().all(Vec::is_empty), "a begin without an end");
    spans
}

#[test]
fn t3_begins_and_ends_nest_on_every_thread() {
    let turn = Turn::take();
    let profiler = turn.running(Config { profile_engine: true, ..turn.config() });
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let _call = api_call("call");
                    of_kind(SpanKind::Run, "task", || {
                        of_kind(SpanKind::Segment, "segment", || {
                            (0..5).for_each(|step| operator(&format!("step {step}"), || ()));
                        });
                    });
                }
            });
        }
    });
    profiler.dump(true).unwrap();
    let spans = nested(&records(&turn.path("t.json")));
    assert_eq!(spans.len(), 3 * 50 * 7);
    let depth = |name: &str| spans.iter().filter(|span| span.2 == name).map(|span| span.5).max();
    // The task is in the process of the engine, the others are in that of their device.
    assert_eq!((depth("task"), depth("segment"), depth("step 3")), (Some(0), Some(0), Some(1)));
    let details = records(&turn.path("t.json")).iter().find(|e| e["name"] == "step 1").unwrap()["args"].clone();
    assert_eq!(
        details,
        serde_json::json!({ "shapes": "(32,64,56,56)", "kernel": "winograd", "flops": 1_000_000, "bytes": 2000 })
    );
}

#[test]
fn names_are_escaped() {
    let turn = Turn::take();
    let profiler = turn.running(turn.config());
    let long = "\u{1f600}".repeat(50);
    let odd = ["\"", "\\", "a\nb", "\u{1}", "</script>", "ä", "op::custom", &long].map(str::to_owned);
    odd.iter().for_each(|name| operator(name, || ()));
    profiler.dump(true).unwrap();
    let records = records(&turn.path("t.json"));
    let found: Vec<_> =
        records.iter().filter(|e| e["ph"] == "B").map(|e| e["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(found[..7], odd[..7]);
    assert_eq!(found[7], "\u{1f600}".repeat(31), "127 bytes, whole characters");
    let custom = records.iter().find(|event| event["name"] == "op::custom").unwrap();
    assert_eq!(custom["cat"], "Custom Operator");
    let json = profiler.dumps(false, mxrs_profiler::Format::Json, Default::default(), false);
    let json: Value = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error} in {json}"));
    assert!(json["Time"]["operator"]["\""].is_object());
}

#[test]
fn a_name_that_ends_in_gz_makes_a_compressed_trace() {
    let turn = Turn::take();
    let path = turn.path("t.json.gz");
    let profiler = turn.running(Config { filename: path.clone(), ..turn.config() });
    let mut expected = Vec::new();
    for round in 0..3 {
        operator(&format!("round {round}"), || ());
        expected.push(format!("round {round}"));
        profiler.dump(round == 2).unwrap();
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(&std::fs::read(&path).unwrap()[..]).read_to_string(&mut text).unwrap();
        let trace: Value = serde_json::from_str(&text).unwrap();
        let begins = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "B");
        assert_eq!(begins.map(|event| event["name"].as_str().unwrap()).collect::<Vec<_>>(), expected);
    }
}

/// The processes of devices come first, in MXNet's order; with a GPU there are rows for 32.
#[test]
fn processes_of_devices_have_the_numbers_of_mxnet() {
    let turn = Turn::take();
    let n_cpus = std::thread::available_parallelism().unwrap().get();
    for n_gpus in [0, 1] {
        let profiler = turn.running(Config { n_gpus, ..turn.config() });
        profiler.dump(true).unwrap();
        let mut expected: Vec<String> = (0..n_cpus).map(|i| format!("cpu/{i}")).collect();
        expected.extend((0..n_gpus * 32).map(|i| format!("gpu/{i}")));
        expected.extend(["cpu pinned/".into(), "cpu shared/".into()]);
        let events = events(&turn.path("t.json"));
        for (number, (event, name)) in events.iter().zip(&expected).enumerate() {
            assert_eq!(
                (event["pid"].as_u64(), event["args"]["name"].as_str()),
                (Some(number as u64), Some(name.as_str()))
            );
        }
        assert_eq!(events.len(), expected.len());
    }
}

/// Every task of an engine is pushed, run and completed once, in this order, with arrows between them; bodies of a bulk run
/// inside the bulk, which stays one task.
#[test]
fn tasks_of_an_engine_are_recorded_from_push_to_completion() {
    let turn = Turn::take();
    for kind in [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
        let profiler = turn.running(Config { profile_engine: true, ..turn.config() });
        let engine = Engine::new(EngineConfig::of_kind(kind)).unwrap();
        let (x, y) = (engine.new_var(), engine.new_var());
        for _ in 0..10 {
            engine.task("write x").write(&x).push(|_| Ok(())).unwrap();
            engine.task("x to y").read(&x).write(&y).push(|_| Ok(())).unwrap();
        }
        engine
            .task("later")
            .write(&y)
            .push_async(|_, completion| {
                std::thread::spawn(move || completion.complete(Ok(())));
            })
            .unwrap();
        engine.wait_for_all().unwrap();
        {
            let _bulk = engine.bulk(10);
            for _ in 0..4 {
                engine.task("small").write(&x).push(|_| Ok(())).unwrap();
            }
        }
        engine.wait_for_all().unwrap();
        drop(engine);
        profiler.dump(true).unwrap();
        let records = records(&turn.path("t.json"));
        let spans = nested(&records);
        let of = |category: &str, name: &str| {
            let fits = |e: &&Value| e["cat"] == category && e["name"] == name && e["ph"] == "B";
            records.iter().filter(fits).count()
        };
        for (name, n) in [("write x", 10), ("x to y", 10), ("later", 1)] {
            let counts = ["engine,push", "engine", "engine,complete"].map(|category| of(category, name));
            assert_eq!(counts, [n, n, n], "{kind:?} {name}");
        }
        let n_bulks = usize::from(kind != EngineKind::Naive);
        assert_eq!((of("engine", "small"), of("engine", "ImperativeBulk")), (4, n_bulks), "{kind:?}");
        if n_bulks == 1 {
            let bulk = spans.iter().find(|span| {
                span.2 == "ImperativeBulk" && span.4 - span.3 > 0 && {
                    spans.iter().filter(|s| s.2 == "small" && span.3 < s.3 && s.4 < span.4 && s.1 == span.1).count()
                        == 4
                }
            });
            assert!(bulk.is_some(), "{kind:?}: the bodies run inside the bulk");
        }
        // Every arrow begins, passes and ends; between two begins of one number there is an end.
        let mut arrows: Vec<(u64, u64, String)> = records
            .iter()
            .filter(|e| e["name"] == "task")
            .map(|e| {
                let id = e["id"].as_str().unwrap().strip_prefix("0x").unwrap();
                let ns = (e["ts"].as_f64().unwrap() * 1000.0).round() as u64;
                (u64::from_str_radix(id, 16).unwrap(), ns, e["ph"].as_str().unwrap().to_owned())
            })
            .collect();
        arrows.sort();
        let mut steps: BTreeMap<u64, String> = BTreeMap::new();
        arrows.iter().for_each(|(id, _, step)| steps.entry(*id).or_default().push_str(step));
        let with_end: usize = steps.values().map(|steps| steps.matches("stf").count()).sum();
        assert!(with_end >= 21 + n_bulks, "{kind:?} {steps:?}");
        let pending = records.iter().filter_map(|e| e["args"]["Pending tasks"].as_u64());
        assert!(pending.clone().count() >= 42 && pending.max().unwrap() <= 40);
    }
}
