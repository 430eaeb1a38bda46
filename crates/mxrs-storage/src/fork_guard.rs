//! Keeping the pools whole while the process forks.

use crate::memory::{HeldSegments, SharedMemory};
use crate::pool::HeldPools;
use crate::storage::Shared;
use mxrs_sync::{Arc, BriefGuard, BriefLock, Rank, Weak};
use std::fmt;

/// Holds all locks of a storage across a fork, so that the child finds every pool in order. [`prepare`](Self::prepare)
/// runs before the fork and [`parent`](Self::parent) or [`child`](Self::child) after it, on the thread that forks, as the
/// handlers of `pthread_atfork` do.
///
/// It does not keep the storage alive. Memory of a device other than the host is the device's business: what a driver
/// makes of a fork is for its [`DeviceMemory`](crate::DeviceMemory) to say.
pub struct ForkGuard {
    shared: Weak<Shared>,
    held: BriefLock<Option<OnOneThread>>,
}

/// The locks between `prepare` and its counterpart.
struct OnOneThread {
    // Released in this order.
    _segments: Option<HeldSegments>,
    pools: HeldPools,
    _opening: BriefGuard<'static, ()>,
    _shared: Arc<Shared>,
}

// SAFETY: guards must be released by the thread that took the locks. `ForkGuard` says that `parent` and `child` run on the
// thread that ran `prepare` (in the child its only thread), so nothing in here is used or dropped anywhere else.
unsafe impl Send for OnOneThread {}

impl ForkGuard {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::downgrade(shared), held: BriefLock::new(Rank::Leaf, 0, None) }
    }

    /// Takes every lock of the storage; waits for threads that hold one. Nothing if the storage is gone.
    pub fn prepare(&self) {
        let Some(shared) = self.shared.upgrade() else { return };
        // SAFETY: `_shared`, dropped last, keeps the value in place for as long as the guard exists.
        let forever: &'static Shared = unsafe { &*Arc::as_ptr(&shared) };
        let opening = forever.lock_opening();
        let pools = HeldPools::lock(forever.open_pools());
        let segments = forever.segments().map(SharedMemory::hold);
        *self.held.lock() = Some(OnOneThread { _segments: segments, pools, _opening: opening, _shared: shared });
    }

    /// Releases the locks in the process that forked.
    pub fn parent(&self) {
        let held = self.held.lock().take();
        drop(held);
    }

    /// Releases the locks in the new process, whose other threads are gone: what they kept is reused, what they were
    /// returning to the device, or were being given by it, is lost.
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
