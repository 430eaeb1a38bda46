//! Recording on many threads and collecting: order, nesting, drops, threads that end.
#![cfg(not(loom))]

use mxrs_trace::{
    Collector, Count, Event, Kinds, Label, Span, SpanInfo, SpanKind, api_call, is_on, now_ns, open_apart, operator,
    record, span,
};
use mxrs_types::Device;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A process has one collector, so tests take turns.
fn turn() -> (MutexGuard<'static, ()>, Collector) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    (turn, Collector::claim().unwrap())
}

fn info(name: &str) -> SpanInfo {
    SpanInfo::new(SpanKind::Imperative, Label::of(name))
}

fn count(value: u64) {
    let (name, category) = (Label::of("n"), Label::NONE);
    record(Event::Count(Count { name, category, at_ns: now_ns(), value, kinds: Kinds::USER }));
}

fn spans(collector: &mut Collector) -> Vec<(u32, Span)> {
    let mut spans = Vec::new();
    collector.drain(|thread, event| {
        if let Event::Span(span) = event {
            spans.push((thread.number, span));
        }
    });
    spans
}

#[test]
fn a_process_has_one_collector() {
    let (_turn, collector) = turn();
    let error = Collector::claim().unwrap_err().to_string();
    assert!(error.contains("another profiler of this process is running"), "{error}");
    drop(collector);
    drop(Collector::claim().unwrap());
}

/// While a kind is off, code that would record it only loads one word: it makes no label, reads no clock, and leaves no
/// record.
#[test]
fn t4_a_profiler_that_is_off_does_nothing() {
    let (_turn, mut collector) = turn();
    let places = || {
        for kind in [Kinds::SYMBOLIC, Kinds::IMPERATIVE, Kinds::API, Kinds::MEMORY, Kinds::ENGINE, Kinds::USER] {
            let made = is_on(kind).then(|| span(info("made")));
            assert!(made.is_none());
        }
        assert!(api_call("off").is_none() && operator("off", Device::cpu(0)).is_none());
    };
    places();
    std::thread::spawn(places).join().unwrap();
    assert_eq!((collector.drain(|_, event| panic!("{event:?}")), collector.n_dropped()), (0, 0));
    collector.switch(Kinds::USER);
    assert!(is_on(Kinds::USER) && !is_on(Kinds::ENGINE) && api_call("off").is_none());
    collector.switch(Kinds::NONE);
    assert!(!is_on(Kinds::ALL));
    assert_eq!(collector.drain(|_, event| panic!("{event:?}")), 0);
}

/// Only the kinds that are on are recorded, for every set of MXNet's modes.
#[test]
fn each_mode_records_exactly_its_kinds() {
    let (_turn, mut collector) = turn();
    let kinds = [SpanKind::Symbolic, SpanKind::Imperative, SpanKind::Api];
    for mode in 0..16_u8 {
        collector.switch(Kinds::of_mode(mode));
        for kind in kinds {
            drop(span(SpanInfo::new(kind, Label::of("x"))));
        }
        mxrs_trace::grown(Device::cpu(0), 1, 1);
        let mut seen = 0;
        collector.drain(|_, event| {
            seen |= match event {
                Event::Span(Span { kind: SpanKind::Symbolic, .. }) => 1,
                Event::Span(Span { kind: SpanKind::Imperative, .. }) => 2,
                Event::Span(Span { kind: SpanKind::Api, .. }) => 4,
                Event::Memory(_) => 8,
                other => panic!("{other:?}"),
            }
        });
        assert_eq!(seen, mode);
    }
    collector.switch(Kinds::NONE);
    assert_eq!(mxrs_trace::now_on(), Kinds::NONE);
}

/// Spans of one thread nest: each lies inside its parent, no two times are equal, and ids are unique.
#[test]
fn spans_of_a_thread_nest_without_ties() {
    let (_turn, mut collector) = turn();
    collector.switch(Kinds::IMPERATIVE);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let _outer = span(info("outer"));
                    for _ in 0..3 {
                        let _middle = span(info("middle"));
                        drop(span(info("inner")));
                    }
                }
            });
        }
    });
    let spans = spans(&mut collector);
    assert_eq!(spans.len(), 3 * 100 * 7);
    let by_id: HashMap<u64, &Span> = spans.iter().map(|(_, span)| (span.id, span)).collect();
    assert_eq!(by_id.len(), spans.len(), "ids are unique");
    let times: HashSet<_> = spans.iter().flat_map(|(t, s)| [(t, s.begin_ns), (t, s.end_ns)]).collect();
    assert_eq!(times.len(), 2 * spans.len(), "times of a thread are unique");
    for (_, span) in &spans {
        let parent = by_id.get(&span.parent).copied();
        let expected = match span.name.text() {
            "outer" => None,
            "middle" => Some("outer"),
            _ => Some("middle"),
        };
        assert_eq!(parent.map(|p| p.name.text()), expected);
        assert!(parent.is_none_or(|p| p.begin_ns < span.begin_ns && span.end_ns < p.end_ns));
    }
}

/// A span that is open while records are switched off is not recorded, and does not stay the parent of later spans.
#[test]
fn a_span_that_outlives_the_recording_is_not_recorded() {
    let (_turn, mut collector) = turn();
    collector.switch(Kinds::IMPERATIVE);
    let outer = span(info("outer"));
    collector.switch(Kinds::NONE);
    drop(outer);
    collector.switch(Kinds::IMPERATIVE);
    drop(span(info("later")));
    let spans = spans(&mut collector);
    assert_eq!(spans.iter().map(|(_, s)| (s.name.text(), s.parent)).collect::<Vec<_>>(), [("later", 0)]);
}

/// Spans made by `open_apart` may end in any order and on any thread, and are not parents of other spans.
#[test]
fn spans_apart_are_not_parents() {
    let (_turn, mut collector) = turn();
    collector.switch(Kinds::ALL);
    let task = |name| open_apart(SpanInfo::new(SpanKind::Task, Label::of(name)));
    let (a, b) = (task("a"), task("b"));
    mxrs_trace::close(a);
    std::thread::spawn(move || mxrs_trace::close(b)).join().unwrap();
    let mut spans = spans(&mut collector);
    spans.sort_by_key(|(_, span)| span.begin_ns);
    assert_eq!(spans.iter().map(|(_, s)| (s.name.text(), s.parent)).collect::<Vec<_>>(), [("a", 0), ("b", 0)]);
    assert!(spans.iter().all(|(_, s)| s.begin_ns < s.end_ns));
}

/// The records of threads that have ended are kept until the drain, and their rings are used again.
#[test]
fn records_of_ended_threads_are_kept() {
    let (_turn, mut collector) = turn();
    collector.switch(Kinds::USER);
    let mut numbers = HashSet::new();
    for round in 0..40 {
        let threads: Vec<_> = (0..8_u64)
            .map(|i| std::thread::Builder::new().name(format!("t{i}")).spawn(move || count(i)).unwrap())
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        let mut seen = Vec::new();
        collector.drain(|thread, event| {
            let Event::Count(count) = event else { panic!("{event:?}") };
            assert_eq!(thread.name.text(), format!("t{}", count.value));
            assert!(numbers.insert(thread.number), "a number was used twice");
            seen.push(count.value);
        });
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7], "round {round}");
    }
    assert_eq!(collector.n_dropped(), 0);
}

/// Ten million records of a thread that is faster than the collector: the ring does not grow, and what is missing was
/// counted.
#[test]
fn the_missing_records_of_ten_million_were_counted() {
    const RECORDS: u64 = if cfg!(miri) { 20_000 } else { 10_000_000 };
    let (_turn, mut collector) = turn();
    collector.switch(Kinds::USER);
    let mut seen = 0;
    let mut last = None;
    let mut take = |collector: &mut Collector| {
        seen += collector.drain(|_, event| {
            let Event::Count(count) = event else { panic!("{event:?}") };
            assert!(last < Some(count.value), "out of order");
            last = Some(count.value);
        });
    };
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..RECORDS).for_each(count));
        while !writer.is_finished() {
            take(&mut collector);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    });
    take(&mut collector);
    assert!(seen > 0);
    assert_eq!(seen as u64 + collector.n_dropped(), RECORDS);
    collector.discard();
    assert_eq!(collector.n_dropped(), 0);
}
