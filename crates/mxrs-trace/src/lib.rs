//! Records of what happens and when: operators, tasks of the engine, memory, calls, objects of the user.
//!
//! Code that does something worth a record asks [`is_on`], which is one load, and then makes the record. The record goes into
//! a ring of its thread: 64 bytes, without a lock and without allocating, except for the thread's first record and the first
//! use of a name. A full ring drops records and counts them. A [`Collector`] takes the records out.
//!
//! This crate does not know operators, arrays or files, and not what is done with the records.
//!
//! ```
//! use mxrs_trace::{Kinds, Label, SpanInfo, SpanKind, is_on, span};
//!
//! fn convolution() {
//!     let _span = is_on(Kinds::IMPERATIVE).then(|| span(SpanInfo::new(SpanKind::Imperative, Label::of("Convolution"))));
//!     // the work
//! }
//! convolution();
//! ```
//!
//! In a forked child nothing is recorded until it claims a collector of its own ([`Collector::forget_in_child`]).
//!
//! Read next: [`Event`] for the records, [`ring`] for the protocol between threads, `docs/design/0022-profiler.md` for why it is
//! built this way.
//!
//! Unsafe code: `leaked` publishes values by pointer that are made once and never freed. A lock would be simpler, but a thread
//! that forks while another thread holds it would leave it locked in the child.
#![allow(unsafe_code)]

mod api;
mod clock;
mod collector;
mod details;
mod event;
mod kinds;
mod label;
mod leaked;
mod memory;
mod plan;
pub mod ring;
mod span;
mod thread;

pub use api::{API_CATEGORY, ApiCall, api_call};
pub use clock::{now_ns, zero_wall_ns};
pub use collector::Collector;
pub use details::{details, details_of};
pub use event::{Count, Event, Mark, MarkScope, Memory, MemoryStep, Span, SpanKind};
pub use kinds::{Kinds, is_on, keep_on, now_on};
pub use label::Label;
pub use memory::{BlockInfo, ScopeGuard, allocated, current_scope, enter_scope, freed, grown, returned, set_scope};
pub use plan::{MemoryPlan, Rectangle, note_plan};
pub use span::{Open, SpanGuard, SpanInfo, close, open, open_apart, operator, span};
pub use thread::{ThreadInfo, record};
