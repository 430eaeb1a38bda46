//! The threads for image operations in a worker process or worker thread of a data loader.

use crate::Runtime;
use mxrs_data::{ImageThreads, is_loader_thread};
use mxrs_sync::fork::{self, ForkGuard, Kept, Registration};
use mxrs_sync::{Mutex, Rank, Team, TeamConfig};
use mxrs_types::Result;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::Arc;

std::thread_local! {
    /// The team of a worker thread of a data loader, with the [`fork::generation`] of its process.
    static OWN: RefCell<Option<(u64, Arc<Team>)>> = const { RefCell::new(None) };
}

/// The team of the calling worker thread. Each worker has its own team, so workers do not wait for each other. The team ends
/// with the thread.
fn own_team(threads: NonZeroUsize) -> Result<Arc<Team>> {
    let here = fork::generation();
    let existing = OWN.with_borrow(|own| own.clone());
    match existing.filter(|(generation, team)| *generation == here && team.size() == threads.get()) {
        Some((_, team)) => Ok(team),
        None => {
            let team = Team::new(TeamConfig { threads, cpus: None })?;
            OWN.set(Some((here, Arc::clone(&team))));
            Ok(team)
        }
    }
}

/// A team for forked processes, created at the first image.
pub(crate) struct ImageTeam {
    slot: Arc<Slot>,
    _registration: Registration,
}

/// The team, with the [`fork::generation`] of the process that its threads belong to. No other lock is taken while this one
/// is held. A fork holds the locks of several runtimes at the same time, so the lock has no rank.
struct Slot(Mutex<Option<(u64, Arc<Team>)>>);

impl Runtime {
    /// The threads that share the work on one image, for functions such as [`mxrs_data::resize_on`]. In a worker of a data
    /// loader (a forked process, or a thread of [`mxrs_data::DataLoader`]) these are `MXNET_MP_OPENCV_NUM_THREADS` threads,
    /// started at the first image; otherwise only the calling thread.
    pub fn image_threads(&self) -> ImageThreads {
        let n_threads = usize::try_from(self.settings().threads.mp_image_threads).ok().and_then(NonZeroUsize::new);
        n_threads.map_or_else(ImageThreads::calling, |n_threads| self.image_team().threads(n_threads))
    }
}

impl ImageTeam {
    pub(crate) fn new() -> Arc<Self> {
        let slot = Arc::new(Slot(Mutex::new(None)));
        let guard: Arc<dyn ForkGuard> = Arc::clone(&slot) as _;
        Arc::new(Self { _registration: fork::register(Rank::Leaf, &guard), slot })
    }

    /// Threads that share the work on one image: `n_threads` in a forked process or in a worker thread of a data loader;
    /// otherwise only the calling thread.
    pub(crate) fn threads(self: &Arc<Self>, n_threads: NonZeroUsize) -> ImageThreads {
        let own = Arc::clone(self);
        ImageThreads::chosen_by(move || match (is_loader_thread(), fork::is_child()) {
            (true, _) => own_team(n_threads).map(Some),
            (false, true) => own.team(n_threads).map(Some),
            (false, false) => Ok(None),
        })
    }

    fn team(&self, threads: NonZeroUsize) -> Result<Arc<Team>> {
        let here = fork::generation();
        let existing = || self.slot.0.lock().clone().filter(|(generation, _)| *generation == here);
        if let Some((_, team)) = existing() {
            return Ok(team);
        }
        // Threads are started without holding the lock, because that is slow. If two callers start a team at the same time,
        // one team is dropped.
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
