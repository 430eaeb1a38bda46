//! Keeps the pools consistent while the process forks.

use crate::memory::{HeldSegments, SharedMemory};
use crate::pool::HeldPools;
use crate::storage::Shared;
use mxrs_sync::{Arc, BriefGuard, BriefLock, Rank, Weak};
use std::fmt;

/// Holds all locks of a storage across a fork, so that the child finds every pool consistent.
/// [`prepare`](Self::prepare) runs before the fork and [`parent`](Self::parent) or [`child`](Self::child) after it, on
/// the thread that forks, like the handlers of `pthread_atfork`.
///
/// The guard does not keep the storage alive. The effect of a fork on the memory of a device other than the host depends
/// on the device's driver and its [`DeviceMemory`](crate::DeviceMemory).
pub struct ForkGuard {
    shared: Weak<Shared>,
    held: BriefLock<Option<OnOneThread>>,
}

/// The locks held from `prepare` until `parent` or `child`.
struct OnOneThread {
    // Fields are dropped in this order, which is also the order in which the locks are released.
    _segments: Option<HeldSegments>,
    pools: HeldPools,
    _opening: BriefGuard<'static, ()>,
    _shared: Arc<Shared>,
}

// SAFETY: the thread that took a lock must release it. `ForkGuard` requires that `parent` and `child` run on the thread
// that ran `prepare` (the child has no other thread), so the guards are not used or dropped on any other thread.
unsafe impl Send for OnOneThread {}

impl ForkGuard {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::downgrade(shared), held: BriefLock::new(Rank::Leaf, 0, None) }
    }

    /// Takes every lock of the storage, waiting for threads that hold one. Does nothing if the storage is gone.
    pub fn prepare(&self) {
        let Some(shared) = self.shared.upgrade() else { return };
        // SAFETY: `_shared` keeps the value in place, and is dropped after all guards because it is the last field.
        let forever: &'static Shared = unsafe { &*Arc::as_ptr(&shared) };
        let opening = forever.lock_opening();
        let pools = HeldPools::lock(forever.open_pools());
        let segments = forever.segments().map(SharedMemory::hold);
        *self.held.lock() = Some(OnOneThread { _segments: segments, pools, _opening: opening, _shared: shared });
    }

    /// Releases the locks in the parent process.
    pub fn parent(&self) {
        let held = self.held.lock().take();
        drop(held);
    }

    /// Releases the locks in the child process, which has no other thread. Blocks that other threads of the parent had
    /// cached can be reused. Memory that those threads were allocating from the device or returning to it during the fork is
    /// lost.
    pub fn child(&self) {
        let held = self.held.lock().take();
        if let Some(held) = held {
            held.pools.forget_other_threads();
        }
    }
}

impl fmt::Debug for ForkGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForkGuard").finish_non_exhaustive()
    }
}
