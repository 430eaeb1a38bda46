//! The threads for image work in a worker process of a data loader.

use mxrs_data::ImageThreads;
use mxrs_sync::fork::{self, ForkGuard, Kept, Registration};
use mxrs_sync::{Mutex, Rank, Team, TeamConfig};
use mxrs_types::Result;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// A team that exists in forked processes only, from the first image on.
pub(crate) struct ImageTeam {
    slot: Arc<Slot>,
    _registration: Registration,
}

/// The team, with the [`fork::generation`] of the process that its threads are in. While the lock is held no other is
/// taken; a fork holds those of several runtimes, so it has no rank.
struct Slot(Mutex<Option<(u64, Arc<Team>)>>);

impl ImageTeam {
    pub(crate) fn new() -> Arc<Self> {
        let slot = Arc::new(Slot(Mutex::new(None)));
        let guard: Arc<dyn ForkGuard> = Arc::clone(&slot) as _;
        Arc::new(Self { _registration: fork::register(Rank::Leaf, &guard), slot })
    }

    /// In a forked process `n_threads` that share the work on one image; elsewhere the calling thread.
    pub(crate) fn threads(self: &Arc<Self>, n_threads: NonZeroUsize) -> ImageThreads {
        let own = Arc::clone(self);
        ImageThreads::chosen_by(move || if fork::is_child() { own.team(n_threads).map(Some) } else { Ok(None) })
    }

    fn team(&self, threads: NonZeroUsize) -> Result<Arc<Team>> {
        let here = fork::generation();
        let existing = || self.slot.0.lock().clone().filter(|(generation, _)| *generation == here);
        if let Some((_, team)) = existing() {
            return Ok(team);
        }
        // Outside the lock: starting threads is slow. Of two that start them at once, one's are dropped again.
        let made = Team::new(TeamConfig { threads, cpus: None })?;
        let mut slot = self.slot.0.lock();
        let (_, team) = match slot.take() {
            Some(other) if other.0 == here => slot.insert(other),
            _ => slot.insert((here, made)),
        };
        Ok(Arc::clone(team))
    }
}

impl ForkGuard for Slot {
    fn prepare(&self) {}
    fn hold<'a>(&'a self, kept: &mut Kept<'a>) {
        kept.keep(self.0.lock());
    }
    fn parent(&self) {}
    fn child(&self) {}
}
