//! The last step before an out-of-memory error: holders of dispensable memory are asked to release it.

use mxrs_sync::{Arc, BriefLock, Rank, Weak, thread_local};
use mxrs_types::Device;
use std::cell::Cell;
use std::fmt;

/// The reason why a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pressure {
    /// The device whose memory is short.
    pub device: Device,
    /// The number of bytes requested, before rounding.
    pub requested_bytes: u64,
}

type Hook = Arc<dyn Fn(&Pressure) + Send + Sync>;

/// The hooks of one storage, in the order in which they were added.
pub(crate) struct PressureHooks {
    list: BriefLock<List>,
}

#[derive(Default)]
struct List {
    hooks: Vec<(u64, Hook)>,
    n_made: u64,
}

thread_local! {
    /// Whether this thread is running hooks, so that their own allocations do not run them again.
    static RUNNING: Cell<bool> = Cell::default();
}

impl Default for PressureHooks {
    fn default() -> Self {
        Self { list: BriefLock::new(Rank::Leaf, 0, List::default()) }
    }
}

impl PressureHooks {
    pub(crate) fn add(self: &Arc<Self>, hook: Hook) -> PressureGuard {
        let mut list = self.list.lock();
        let id = list.n_made;
        list.n_made += 1;
        list.hooks.push((id, hook));
        PressureGuard { hooks: Arc::downgrade(self), id }
    }

    /// Runs all hooks while no lock is held. Returns false if there are no hooks or this thread is already running them.
    pub(crate) fn run(&self, pressure: &Pressure) -> bool {
        let hooks: Vec<Hook> = self.list.lock().hooks.iter().map(|(_, hook)| Arc::clone(hook)).collect();
        if hooks.is_empty() || RUNNING.with(|running| running.replace(true)) {
            return false;
        }
        let _running = Running;
        hooks.iter().for_each(|hook| hook(pressure));
        true
    }
}

struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.with(|running| running.set(false));
    }
}

/// Keeps a hook of [`Storage::on_pressure`](crate::Storage::on_pressure) registered; dropping it removes the hook. Dropping
/// does not wait until a hook that another thread is running has returned.
#[must_use = "dropping the guard removes the hook"]
pub struct PressureGuard {
    hooks: Weak<PressureHooks>,
    id: u64,
}

impl Drop for PressureGuard {
    fn drop(&mut self) {
        let Some(hooks) = self.hooks.upgrade() else { return };
        let mut list = hooks.list.lock();
        let at = list.hooks.iter().position(|(id, _)| *id == self.id);
        let hook = at.map(|at| list.hooks.remove(at));
        // The values captured by the hook are dropped after the lock is released.
        drop(list);
        drop(hook);
    }
}

impl fmt::Debug for PressureGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PressureGuard").field("id", &self.id).finish_non_exhaustive()
    }
}
