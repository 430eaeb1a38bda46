//! Tests of the profiler as a program uses it: states, files, tables. A process has one collector of records, so only one
//! test at a time may use it.
//!
//! The ignored tests are the code of other processes: a test starts this program again to run one of them.
//!
//! Unsafe code is needed because a test calls `fork`.
#![cfg(not(loom))]
#![allow(unsafe_code)]

mod diff;
mod failures;
mod folded;
mod golden;
mod hardware;
mod kinds;
mod many;
mod memory;
mod merge;
mod perfetto;
mod processes;
mod report;
mod schedule;
mod states;
mod trace;
#[cfg(feature = "layer")]
mod tracing_layer;

use mxrs_profiler::{Config, Profiler, State};
use mxrs_trace::{Label, SpanInfo, SpanKind, details, is_on, span};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The right of one test to use the collector, with a folder for its files.
struct Turn {
    dir: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Turn {
    fn take() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Self { dir: tempfile::tempdir().unwrap(), _turn: turn }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Settings with everything that MXNet records, and a trace `t.json` in the folder.
    fn config(&self) -> Config {
        Config { filename: self.path("t.json"), aggregate_stats: true, ..Config::default() }
    }

    fn running(&self, config: Config) -> Profiler {
        let profiler = Profiler::new(config).unwrap();
        profiler.set_state(State::Run).unwrap();
        profiler
    }
}

/// Makes the record of an operator of a graph.
fn operator(name: &str, work: impl FnOnce()) {
    of_kind(SpanKind::Symbolic, name, work);
}

fn of_kind(kind: SpanKind, name: &str, work: impl FnOnce()) {
    let shapes = "(32,64,56,56)";
    let details = || details(&[("shapes", &shapes), ("kernel", &"winograd"), ("flops", &1_000_000), ("bytes", &2000)]);
    let info = || SpanInfo { details: details(), ..SpanInfo::new(kind, Label::of(name)) };
    let _span = is_on(kind.kinds()).then(|| span(info()));
    work();
}

/// The events of a trace.
fn events(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {} bytes", text.len()));
    trace["traceEvents"].as_array().unwrap().clone()
}

/// The events of a trace that are records, and not descriptions of processes and threads.
fn records(path: &Path) -> Vec<Value> {
    events(path).into_iter().filter(|event| event["ph"] != "M").collect()
}

/// The names of the records, each once, in alphabetic order.
fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<_> = records(path).iter().map(|event| event["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names.dedup();
    names
}
