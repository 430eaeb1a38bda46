//! Atomics, locks and threads for all crates of mxrs.
//!
//! All concurrent code of mxrs imports them from this crate. Under `--cfg loom` the same names are loom's checked
//! versions, so that a protocol can be searched exhaustively. In debug builds a [`RankedMutex`] detects locks that are
//! taken in the wrong order. [`Team`] is the set of threads that share one operator's loop.
//!
//! This crate does not know operators, variables or devices, and does not read the environment: sizes and CPU lists are
//! passed in.
//!
//! ```
//! use mxrs_sync::{Team, TeamConfig, atomic::{AtomicU64, Ordering}};
//! use std::num::NonZeroUsize;
//!
//! let team = Team::new(TeamConfig { threads: NonZeroUsize::new(2).unwrap(), cpus: None })?;
//! let sum = AtomicU64::new(0);
//! team.run(100, &|chunk| { sum.fetch_add(chunk as u64, Ordering::Relaxed); });
//! assert_eq!(sum.into_inner(), 4950);
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: [`team`] for the wake-up protocol, [`rank`] for the lock order, [`fork`] for what happens to threads and locks
//! in a forked process, [`affinity`] for pinning.

// Unsafe code has four reasons: `team` erases the lifetime of the loop body that it lends to its threads and keeps it in a
// shared cell; `brief_lock` lends its value mutably through a shared reference, to one guard at a time; `affinity`, `fork`
// and `exit` call the C library (sched_setaffinity, sched_getaffinity, pthread_atfork, atexit); and `fork` keeps a lock from
// one of its callbacks to the next.
#![allow(unsafe_code)]

pub mod affinity;
mod brief_lock;
mod door;
pub mod exit;
pub mod fork;
pub mod rank;
mod ranked;
pub mod team;
mod topology;

pub use brief_lock::{BriefGuard, BriefLock};
pub(crate) use door::cell;
pub use door::{Arc, Condvar, Mutex, MutexGuard, OnceLock, Weak, atomic, hint, thread, thread_local};
pub use rank::Rank;
pub use ranked::{RankedGuard, RankedMutex};
pub use team::{Team, TeamConfig};
pub use topology::{Cpu, Topology, physical_cores};
