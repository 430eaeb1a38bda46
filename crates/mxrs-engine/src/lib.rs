//! The dependency engine: tasks declare which variables they read and write, and run as early as that allows.
//!
//! A [`Var`] represents anything that tasks share: an array, a random generator, a key of the parameter store. Tasks
//! that share no variable, or only read the shared ones, may run at the same time; all others run in the order in which
//! they were pushed. A failing task does not stop the engine: the variables that it would have written carry its error,
//! tasks that depend on them are skipped, and the next wait returns the error, once.
//!
//! The engine does not know tensors, shapes or operators, and does not read the environment: it is given an
//! [`EngineConfig`].
//!
//! ```
//! use mxrs_engine::{Engine, EngineConfig};
//! use std::sync::{Arc, Mutex};
//!
//! let engine = Engine::new(EngineConfig::default())?;
//! let (x, y) = (engine.new_var(), engine.new_var());
//! let cell = Arc::new(Mutex::new((0, 0)));
//!
//! let c = Arc::clone(&cell);
//! engine.task("fill").write(&x).push(move |_| { c.lock().unwrap().0 = 20; Ok(()) })?;
//! let c = Arc::clone(&cell);
//! engine.task("add_one").read(&x).write(&y).push(move |_| {
//!     let mut pair = c.lock().unwrap();
//!     pair.1 = pair.0 + 1;
//!     Ok(())
//! })?;
//! engine.wait_to_read(&y)?;
//! assert_eq!(cell.lock().unwrap().1, 21);
//! assert_eq!((x.version(), y.version()), (1, 1));
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Unsafe code: a pushed task is one block of memory (`slab`). Pointers to it move between the queues of its variables
//! and the threads (`op`, `var`, `pool`), so that pushing and completing do not allocate. The protocol in [`var`]
//! defines who owns the block at each moment.
//!
//! Read next: [`var`] for the protocol and its numbered rules, [`EngineKind`] for the schedulers, [`Property`] for the
//! worker pools, [`gpu`] for streams and events.

#![allow(unsafe_code)]

pub mod bulk;
mod busy;
mod completion;
mod config;
mod context;
mod counters;
mod engine;
mod failure;
pub mod fork;
mod fork_reset;
pub mod gpu;
mod lifecycle;
mod op;
mod parker;
mod pool;
mod push;
mod records;
mod run;
mod slab;
mod streams;
mod task;
pub mod var;
mod wait;
mod waiting;
mod watch;

pub use bulk::BulkScope;
pub use completion::Completion;
pub use config::EngineConfig;
pub use context::{RunContext, Worker};
pub use counters::{EngineCounters, PoolCounters};
pub use engine::{Engine, EngineBuilder, WeakEngine};
pub use mxrs_types::EngineKind;
pub use op::{OpName, Property};
pub use pool::PoolId;
pub use task::TaskBuilder;
pub use var::Var;
