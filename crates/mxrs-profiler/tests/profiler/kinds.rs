//! Which records are made: modes, settings, pauses.

use crate::{Turn, names, of_kind, operator, records};
use mxrs_profiler::{Config, Domain, api_call};
use mxrs_trace::SpanKind;
use mxrs_types::Device;

/// Makes one record of every kind.
fn everything() {
    operator("a graph's operator", || ());
    of_kind(SpanKind::Imperative, "a single operator", || ());
    of_kind(SpanKind::Run, "a task", || ());
    drop(api_call("predict"));
    if mxrs_trace::is_on(mxrs_trace::Kinds::MEMORY) {
        mxrs_trace::grown(Device::cpu(0), 64, 128);
    }
}

/// Every value of `MXNET_PROFILER_MODE` selects exactly its kinds of records. Value 4 (calls) also records counters of
/// calls.
#[test]
fn modes_record_exactly_their_kinds() {
    let turn = Turn::take();
    for mode in 0..16_u8 {
        let profiler = turn.running(Config { filename: turn.path("t.json"), ..Config::of_mode(mode).unwrap() });
        everything();
        profiler.dump(true).unwrap();
        let kinds: [(u8, &[&str]); 4] = [
            (1, &["a graph's operator"]),
            (2, &["a single operator"]),
            (4, &["MXNet C API Calls", "MXNet C API Concurrency", "predict"]),
            (8, &["Pool: cpu/0"]),
        ];
        let mut expected: Vec<&str> =
            kinds.iter().filter(|(bit, _)| mode & bit != 0).flat_map(|(_, n)| *n).copied().collect();
        expected.sort_unstable();
        assert_eq!(names(&turn.path("t.json")), expected, "mode {mode}");
    }
}

#[test]
fn tasks_of_the_engine_have_a_setting_of_their_own() {
    let turn = Turn::take();
    let profiler = turn.running(Config {
        profile_engine: true,
        ..Config { filename: turn.path("t.json"), ..Config::of_mode(0).unwrap() }
    });
    everything();
    profiler.dump(true).unwrap();
    assert_eq!(names(&turn.path("t.json")), ["a task", "task"]);
}

/// Pauses do not nest, and objects that start before a pause and stop in it are not recorded.
#[test]
fn a_pause_drops_records() {
    let turn = Turn::take();
    let profiler = turn.running(turn.config());
    let task = Domain::new("d").task("across");
    task.start();
    profiler.pause();
    profiler.pause();
    task.stop();
    operator("paused", || ());
    profiler.resume();
    operator("resumed", || ());
    profiler.dump(true).unwrap();
    assert_eq!(names(&turn.path("t.json")), ["resumed"]);

    profiler.pause();
    profiler.set_state(mxrs_profiler::State::Run).unwrap();
    operator("paused before the start", || ());
    profiler.dump(true).unwrap();
    assert_eq!(records(&turn.path("t.json")).len(), 0);
}

#[test]
fn settings_apply_from_now_on() {
    let turn = Turn::take();
    let profiler = turn.running(turn.config());
    operator("first", || ());
    profiler.set_config(Config { profile_symbolic: false, ..turn.config() }).unwrap();
    operator("off", || ());
    profiler.set_config(Config { filename: turn.path("second.json"), ..turn.config() }).unwrap();
    operator("second", || ());
    let error = profiler.set_config(Config { filename: turn.path("no/such.json"), ..turn.config() }).unwrap_err();
    assert!(error.to_string().contains("such.json"), "{error}");
    operator("third", || ());
    profiler.dump(true).unwrap();
    assert_eq!(names(&turn.path("t.json")), ["first"]);
    assert_eq!(names(&turn.path("second.json")), ["second", "third"]);
    assert_eq!(profiler.config().filename, turn.path("second.json"));
}
