//! Makes ten million records: the use of memory must stay constant, and records that are missing must have been counted.
#![cfg(not(miri))]

use crate::{Turn, operator};
use mxrs_profiler::{Config, Domain};

/// The resident memory of this process in bytes.
#[cfg(target_os = "linux")]
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
#[cfg(target_os = "linux")]
fn ten_million_records_take_a_fixed_amount_of_memory() {
    const RECORDS: u64 = 10_000_000;
    let turn = Turn::take();
    // The trace is written to `/dev/null`, because a trace of all records could fill the disk of a small machine.
    let config = Config { filename: "/dev/null".into(), report: Some(turn.path("r.html")), ..turn.config() };
    let profiler = turn.running(Config { folded: Some(turn.path("f.txt")), ..config });
    let counter = Domain::new("many").counter("n");
    let record = |from: u64, to: u64| {
        for number in from..to {
            // Half are spans and half are counters.
            if number % 2 == 0 { operator("op", || ()) } else { counter.set(number) }
        }
    };
    // The first million records fill the rings, tables and lists of the report, so memory is measured after them.
    record(0, RECORDS / 10);
    let before = resident_bytes();
    record(RECORDS / 10, RECORDS);
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 32 << 20, "{grown} bytes more after nine million records");
    profiler.set_state(mxrs_profiler::State::Stop).unwrap();
    let stats = profiler.stats();
    let kept = stats.get("operator", "op").unwrap().count + stats.get("many", "n").unwrap().count;
    assert!(kept > RECORDS / 100);
    assert_eq!(kept + profiler.n_dropped(), RECORDS);
    profiler.dump(true).unwrap();
    assert_eq!(kept + profiler.n_dropped(), RECORDS, "the count stays after the dump");
    assert!(std::fs::metadata(turn.path("r.html")).unwrap().len() < 5_000_000);
}
