//! Counters of an engine, for tests and for logs.

use crate::pool::PoolId;
use crossbeam_utils::CachePadded;
use mxrs_sync::atomic::{AtomicU64, Ordering};

/// A snapshot of an engine's counters; see [`crate::Engine::counters`].
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EngineCounters {
    /// Tasks accepted; a bulk counts as one task.
    pub pushed: u64,
    /// Tasks that were pushed as part of a bulk.
    pub bulked: u64,
    /// Tasks that ran or were skipped.
    pub completed: u64,
    /// Tasks skipped because an input carried an error.
    pub skipped: u64,
    /// Tasks whose body returned an error or panicked.
    pub failed: u64,
    /// One entry for each pool that has started threads.
    pub pools: Vec<PoolCounters>,
}

impl EngineCounters {
    /// The counters of one pool; `None` if it was never used.
    pub fn pool(&self, id: PoolId) -> Option<&PoolCounters> {
        self.pools.iter().find(|p| p.id == id)
    }
}

/// Counters of one pool of workers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolCounters {
    /// Identifies the pool.
    pub id: PoolId,
    /// Live threads.
    pub threads: usize,
    /// The largest number of tasks that ran at the same time.
    pub peak_running: usize,
    /// Tasks run or skipped.
    pub executed: u64,
}

/// The live counters. A refused push raises both `pushed` and `completed`, so that the two are equal only if nothing is
/// pending (rule E7 of [`crate::var`]). The snapshot subtracts `refused` from both.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) pushed: CachePadded<AtomicU64>,
    pub(crate) completed: CachePadded<AtomicU64>,
    pub(crate) refused: AtomicU64,
    pub(crate) bulked: AtomicU64,
    pub(crate) skipped: AtomicU64,
    pub(crate) failed: AtomicU64,
}

impl Tally {
    /// Whether nothing was pending at some moment after the caller's own pushes.
    pub(crate) fn is_idle(&self) -> bool {
        // The order of the two loads matters. `completed` never exceeds `pushed`, so if the later `pushed` equals the
        // earlier `completed`, both were equal at the moment of the first load.
        let completed = self.completed.load(Ordering::SeqCst);
        self.pushed.load(Ordering::SeqCst) == completed
    }
}
