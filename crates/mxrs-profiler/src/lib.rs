//! The profiler, with MXNet's interface: where time and memory go.
//!
//! [`Profiler`] takes the records that `mxrs-trace` collects and writes them: a trace for chrome://tracing and Perfetto, a table, JSON,
//! CSV, stacks for flame graphs, a list of memory blocks, and a report, which is a page for a browser. A program marks its own
//! work with [`Domain`], [`Task`], [`Frame`], [`Event`], [`Counter`] and [`Marker`].
//!
//! This crate does not depend on the executor, the engine or storage: it sees only their records.
//!
//! Tests refer to these requirements by number:
//! - T1, T2: the list of memory has a tag for each block, and no byte twice.
//! - T3: the trace is JSON, and its begins and ends nest for each process and thread.
//! - T4: a profiler that is off costs one load of a flag in each place that can make a record.
//! - T5, T6: the table is sorted as MXNet sorts it; a reset clears all of it, in any state.
//!
//! Unsafe code: `hardware` calls `perf_event_open`, for which the standard library has no function.
//!
//! Read next: [`Config`] for what can be recorded and written, [`Profiler`] for use, `docs/design/0022-profiler.md` for the design.
#![allow(unsafe_code)]

mod config;
mod costs;
pub mod diff;
mod drainer;
mod folded;
mod hardware;
#[cfg(feature = "layer")]
mod layer;
mod memory;
mod merge;
mod names;
mod objects;
mod outputs;
mod perfetto;
mod process;
mod profiler;
mod reader;
mod report;
mod schedule;
mod session;
mod stats;
mod trace;

pub use config::{Config, Peaks};
pub use costs::{Costs, Limit};
#[cfg(feature = "layer")]
pub use layer::ProfilerLayer;
pub use merge::merge;
pub use mxrs_trace::{ApiCall, Kinds, MarkScope, MemoryPlan, Rectangle, ScopeGuard, api_call, enter_scope};
pub use objects::{Counter, Domain, Event, Frame, Marker, Started, Task};
pub use process::{autostart, process};
pub use profiler::{Profiler, State};
pub use schedule::{Phase, Schedule};
pub use stats::{Entry, Format, SortBy, Stats, Unit};
