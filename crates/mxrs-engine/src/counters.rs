//! What an engine has done so far, for tests and for people.

use crate::pool::PoolId;
use crossbeam_utils::CachePadded;
use mxrs_sync::atomic::{AtomicU64, Ordering};

/// A snapshot; see [`crate::Engine::counters`].
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EngineCounters {
    /// Tasks accepted; tasks pushed as one count once.
    pub pushed: u64,
    /// Tasks that were pushed together with others, in bulks.
    pub bulked: u64,
    /// Tasks run or skipped to the end.
    pub completed: u64,
    /// Tasks skipped because an input carried an error.
    pub skipped: u64,
    /// Tasks whose body returned an error or panicked.
    pub failed: u64,
    /// Per pool, those that have or had threads.
    pub pools: Vec<PoolCounters>,
}

impl EngineCounters {
    /// The counters of one pool, if it was ever used.
    pub fn pool(&self, id: PoolId) -> Option<&PoolCounters> {
        self.pools.iter().find(|p| p.id == id)
    }
}

/// One pool of workers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolCounters {
    /// Which.
    pub id: PoolId,
    /// Live threads.
    pub threads: usize,
    /// Most tasks that ran at the same time.
    pub peak_running: usize,
    /// Tasks run or skipped.
    pub executed: u64,
}

/// The live numbers. Refused pushes raise `pushed` and `completed` alike, so that the two meet only when nothing is
/// pending (E7); `refused` corrects the report.
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
        // In this order: `completed` never passes `pushed`, so if the later `pushed` equals the earlier `completed`, both
        // were equal at the earlier moment.
        let completed = self.completed.load(Ordering::SeqCst);
        self.pushed.load(Ordering::SeqCst) == completed
    }
}
