//! Counters of the processor: counted, or one warning that says why not.

use crate::{Turn, operator, records};
use mxrs_profiler::{Config, State};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Collects the texts of warnings.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        Id::from_u64(NEXT.fetch_add(1, Ordering::Relaxed) as u64)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        self.0.lock().unwrap().push(text.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

const NAMES: [&str; 5] = ["Cycles", "Instructions", "Cache references", "Cache misses", "Branch misses"];

#[test]
fn a_counter_is_in_the_trace_and_the_table_or_in_one_warning() {
    let turn = Turn::take();
    let warnings = Warnings::default();
    let profiler = tracing::subscriber::with_default(warnings.clone(), || {
        let profiler = turn.running(Config { hardware_counters: true, ..turn.config() });
        operator("x", || (0..100_000).for_each(|i| _ = std::hint::black_box(i)));
        profiler.set_state(State::Stop).unwrap();
        profiler
    });
    let stats = profiler.stats();
    profiler.dump(true).unwrap();
    let records = records(&turn.path("t.json"));
    let warnings = warnings.0.lock().unwrap().clone();
    assert!(warnings.len() <= 1, "{warnings:?}");
    for name in NAMES {
        let of_name: Vec<u64> = records
            .iter()
            .filter(|event| event["cat"] == "Hardware" && event["name"] == name)
            .map(|event| event["args"][name].as_u64().unwrap())
            .collect();
        let is_refused = warnings.iter().any(|warning| warning.contains(name));
        assert_eq!(of_name.is_empty(), is_refused, "{name}: {of_name:?}, {warnings:?}");
        assert!(of_name.is_sorted());
        let of_table = stats.get("Hardware", name).map(|entry| entry.total);
        assert_eq!(of_table, of_name.last().copied(), "{name}");
    }
    assert!(records.iter().any(|event| event["name"] == "x"), "the profiler works in any case");
}

#[test]
fn nothing_is_counted_unless_asked_for() {
    let turn = Turn::take();
    let warnings = Warnings::default();
    tracing::subscriber::with_default(warnings.clone(), || {
        let profiler = turn.running(turn.config());
        operator("x", || ());
        profiler.dump(true).unwrap();
    });
    assert!(records(&turn.path("t.json")).iter().all(|event| event["cat"] != "Hardware"));
    assert!(warnings.0.lock().unwrap().is_empty());
}
