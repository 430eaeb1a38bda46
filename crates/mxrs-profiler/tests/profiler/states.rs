//! Running, stopping, dumping: in every order.

use crate::{Turn, events, names, operator};
use mxrs_profiler::{Config, Counter, Domain, Event, Format, MarkScope, Profiler, SortBy, State, Task};

fn table(profiler: &Profiler, reset: bool) -> String {
    profiler.dumps(reset, Format::Table, SortBy::Total, false)
}

#[test]
fn a_stop_without_a_start_does_nothing() {
    let turn = Turn::take();
    let profiler = Profiler::new(turn.config()).unwrap();
    profiler.set_state(State::Stop).unwrap();
    profiler.resume();
    assert_eq!(profiler.state(), State::Stop);
    assert!(!turn.path("t.json").exists());
}

#[test]
fn a_dump_without_a_run_is_an_error_and_so_is_a_second_finishing_dump() {
    let turn = Turn::take();
    let profiler = Profiler::new(turn.config()).unwrap();
    let refused = |profiler: &Profiler| {
        for finished in [false, true] {
            let error = profiler.dump(finished).unwrap_err().to_string();
            assert!(error.contains("has not run") && error.contains("set_state"), "{error}");
        }
    };
    refused(&profiler);
    profiler.set_state(State::Run).unwrap();
    operator("x", || ());
    profiler.dump(true).unwrap();
    assert_eq!(profiler.state(), State::Stop);
    refused(&profiler);
    assert_eq!(names(&turn.path("t.json")), ["x"], "the file stays");
    profiler.set_state(State::Run).unwrap();
    profiler.dump(true).unwrap();
    assert_eq!(events(&turn.path("t.json")).iter().filter(|e| e["ph"] != "M").count(), 0, "a new trace");
}

/// A trace is valid after every dump, and a stop and a start in between continue it.
#[test]
fn dumps_that_do_not_finish_add_to_the_trace() {
    let turn = Turn::take();
    for continuous_dump in [true, false] {
        let profiler = turn.running(Config { continuous_dump, ..turn.config() });
        assert_eq!(events(&turn.path("t.json")).iter().filter(|e| e["ph"] != "M").count(), 0, "valid from the start");
        let mut expected = Vec::new();
        for round in 0..5 {
            let name = format!("round {round}");
            operator(&name, || ());
            expected.push(name);
            profiler.dump(false).unwrap();
            assert_eq!(names(&turn.path("t.json")), expected);
            if round == 2 {
                profiler.set_state(State::Stop).unwrap();
                operator("while stopped", || ());
                profiler.set_state(State::Run).unwrap();
            }
        }
        profiler.dump(true).unwrap();
        assert_eq!(names(&turn.path("t.json")), expected);
    }
}

/// The file grows while the program runs if dumps are continuous, and only then.
#[test]
fn a_continuous_dump_needs_no_call() {
    let turn = Turn::take();
    let dump_period = std::time::Duration::from_millis(20);
    for continuous_dump in [true, false] {
        let profiler = turn.running(Config { continuous_dump, dump_period, ..turn.config() });
        operator("x", || ());
        let mut seen = false;
        for _ in 0..if continuous_dump { 500 } else { 20 } {
            std::thread::sleep(dump_period);
            seen = !crate::records(&turn.path("t.json")).is_empty();
            if seen {
                break;
            }
        }
        assert_eq!(seen, continuous_dump);
        profiler.dump(true).unwrap();
    }
}

/// Dropping a profiler finishes its trace.
#[test]
fn a_dropped_profiler_writes_its_records() {
    let turn = Turn::take();
    let profiler = turn.running(turn.config());
    operator("last", || ());
    drop(profiler);
    assert_eq!(names(&turn.path("t.json")), ["last"]);
    operator("after", || ());
}

#[test]
fn one_profiler_at_a_time_runs() {
    let turn = Turn::take();
    let first = turn.running(turn.config());
    let second = Profiler::new(Config { filename: turn.path("u.json"), ..turn.config() }).unwrap();
    let error = second.set_state(State::Run).unwrap_err().to_string();
    assert!(error.contains("another profiler of this process"), "{error}");
    assert!(!turn.path("u.json").exists());
    first.set_state(State::Stop).unwrap();
    assert!(second.set_state(State::Run).is_err(), "the first may still be dumped");
    first.dump(true).unwrap();
    second.set_state(State::Run).unwrap();
    operator("x", || ());
    drop(second);
    assert_eq!(names(&turn.path("u.json")), ["x"]);
}

/// T6: a reset is safe in any state, and clears all of it.
#[test]
fn t6_a_reset_clears_all_in_any_state() {
    let turn = Turn::take();
    for aggregate_stats in [true, false] {
        let profiler = Profiler::new(Config { aggregate_stats, ..turn.config() }).unwrap();
        let head = if aggregate_stats {
            "\nProfile Statistics:\n\tNote the difference in units for different entries.\n"
        } else {
            ""
        };
        assert_eq!(table(&profiler, true), head, "before a run");
        profiler.set_state(State::Run).unwrap();
        operator("x", || ());
        let full = table(&profiler, true);
        assert_eq!(full.contains("x      "), aggregate_stats, "{full}");
        assert_eq!(table(&profiler, true), head, "while it runs");
        operator("x", || ());
        profiler.set_state(State::Stop).unwrap();
        assert_ne!(table(&profiler, true) == head, aggregate_stats, "a stopped profiler still has its records");
        assert_eq!(table(&profiler, true), head, "after a stop");
        profiler.dump(true).unwrap();
        assert_eq!(table(&profiler, true), head, "after a finishing dump");
    }
}

/// The statistics stay after a finishing dump, until they are reset.
#[test]
fn statistics_outlive_the_trace() {
    let turn = Turn::take();
    let profiler = turn.running(turn.config());
    for _ in 0..2 {
        profiler.set_state(State::Run).unwrap();
        operator("x", || std::thread::sleep(std::time::Duration::from_millis(2)));
        profiler.dump(true).unwrap();
    }
    let stats = profiler.stats();
    let entry = stats.get("operator", "x").unwrap();
    assert_eq!(entry.count, 2);
    assert!(entry.min >= 2_000_000 && entry.total >= entry.min + entry.max - 1 && entry.mean() >= 2e6);
    let csv = profiler.dumps(false, Format::Csv, SortBy::Total, false);
    let (head, row) = csv.split_once('\n').unwrap();
    assert_eq!(head, "Category,Name,Count,Total,Min,Max,Avg,P50,P90,P99,Unit");
    let cells: Vec<&str> = row.trim_end().split(',').collect();
    assert_eq!((cells[0], cells[1], cells[2], cells[10]), ("operator", "x", "2", "ms"));
    assert!((cells[3].parse::<f64>().unwrap() - entry.total as f64 / 1e6).abs() < 1e-6);
}

/// Objects of the user: nothing is recorded while no profiler runs, and odd orders of calls are harmless.
#[test]
fn objects_may_be_used_in_any_order() {
    let turn = Turn::take();
    let domain = Domain::new("d");
    assert_eq!(domain, Domain::new("d"));
    let task: Task = domain.task("task");
    let counter: Counter = domain.counter("counter");
    let event = Event::new(&"e".repeat(200));
    task.start();
    task.stop();
    counter.increment(5);
    domain.marker("early").mark(MarkScope::Global);
    let profiler = turn.running(turn.config());
    task.stop();
    counter.decrement(7);
    counter.increment(2);
    counter.set(9);
    task.start();
    task.start();
    task.stop();
    task.stop();
    drop(event.started());
    drop(domain.frame("frame").started());
    domain.marker("mark").mark(MarkScope::Thread);
    profiler.dump(true).unwrap();
    let records = crate::records(&turn.path("t.json"));
    let of = |name: &str| {
        records.iter().filter(|e| e["name"] == name).map(|e| e["ph"].as_str().unwrap()).collect::<String>()
    };
    assert_eq!((of("task"), of("frame"), of("mark")), ("be".into(), "()".into(), "n".into()));
    assert_eq!(of(&"e".repeat(127)), "BE", "names are cut to 127 bytes");
    let values: Vec<_> = records.iter().filter_map(|e| e["args"]["counter"].as_u64()).collect();
    assert_eq!(values, [0, 2, 9]);
    assert_eq!(counter.value(), 9);
    assert!(!records.iter().any(|e| e["name"] == "early"));
}
