//! A schedule of steps.

use crate::{Turn, operator, records};
use mxrs_profiler::{Format, Schedule, SortBy};
use mxrs_trace::Kinds;

#[test]
fn a_schedule_records_its_steps() {
    let turn = Turn::take();
    let profiler = turn.running(turn.config());
    profiler.set_schedule(Some(Schedule { skip: 0, wait: 1, warm_up: 1, record: 2, repeat: 2 }));
    let mut made = Vec::new();
    for step in 0..10 {
        made.push(mxrs_trace::is_on(Kinds::SYMBOLIC));
        operator(&format!("step {step}"), || ());
        profiler.step();
    }
    // Step 0 waits, step 1 warms up; the second cycle is the same; then there are no more cycles.
    assert_eq!(made, [false, true, true, true, false, true, true, true, false, false]);
    let table = profiler.dumps(false, Format::Table, SortBy::Total, false);
    profiler.dump(true).unwrap();
    let names: Vec<String> = records(&turn.path("t.json"))
        .iter()
        .filter(|event| event["cat"] == "operator" && event["ph"] == "B")
        .map(|event| event["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["step 2", "step 3", "step 6", "step 7"]);
    assert!(table.contains("step 7") && !table.contains("step 1 "), "{table}");
    let frames = records(&turn.path("t.json")).iter().filter(|event| event["ph"] == "(").count();
    assert_eq!(frames, 4);
}

#[test]
fn without_a_schedule_everything_is_recorded() {
    let turn = Turn::take();
    let profiler = turn.running(turn.config());
    profiler.set_schedule(Some(Schedule::default()));
    operator("never", || ());
    profiler.set_schedule(None);
    profiler.step();
    operator("always", || ());
    profiler.dump(true).unwrap();
    assert_eq!(crate::names(&turn.path("t.json")), ["always"]);
}
