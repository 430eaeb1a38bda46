//! Prepares a process for `fork`: before the fork, locks are taken and threads are paused; after it, locks are released
//! and state is reset.
//!
//! `fork` copies the memory of a process, but only the calling thread. The other threads do not exist in the child. So
//! a lock that one of them held at that moment stays locked in the child forever, and the data that it guards may be
//! half changed. Therefore code that owns threads or shared state registers a [`ForkGuard`], which the process's
//! `pthread_atfork` handlers call. (Loops need none: a [`crate::Team`] itself detects that its threads are gone.)
//!
//! # Order
//!
//! - **F1** Before the fork, [`ForkGuard::prepare`] and then [`ForkGuard::hold`] of each guard are called. Guards are
//!   called in ascending [`Rank`], and guards of one rank in the order of their registration. So outer locks are taken
//!   before inner ones, as in the rest of the program, and preparing cannot deadlock with a working thread. The engine
//!   comes before storage, because tasks allocate and free memory: when storage prepares, no worker can hold the lock
//!   of a storage pool. Then come kernel caches, then guards that take no further lock (profiler, random streams).
//!   Settings need no guard, because they are an immutable snapshot.
//! - **F2** After the fork, in reverse order, each guard's locks are released and then its [`ForkGuard::parent`] or
//!   [`ForkGuard::child`] is called.
//! - **F3** The list of guards is locked ([`Rank::Fork`], the outermost rank) from before the first `prepare` until
//!   after the last other call. So no guard is added or removed in between, and two forks take turns. Therefore a hook
//!   must not register or unregister a guard, and other code must not do it while it holds a ranked lock.
//! - **F4** A hook that panics stops neither the fork nor the other hooks. If it panics before the fork, the locks that
//!   the guard held are released, and its `parent` or `child` is not called. The failure is logged after the fork; a
//!   failure in the child is logged at the child's next [`register`].
//! - **F5** A guard is kept alive from `prepare` to the end of its `parent` or `child`; between forks the list holds it
//!   weakly.
//!
//! # What a guard may do
//!
//! `prepare` may run on any thread. If a task forks, this is a thread of the library, so `prepare` must not wait for
//! the thread on which it runs. It should pause threads, not end them, and keep errors for later. `child` runs in a
//! process with one thread, which often replaces itself by another program immediately. So it resets state and starts
//! nothing; threads start again at their first use. It must not log: a thread of the parent may have been logging, and
//! the locks that it held (of standard output, or of a subscriber) are locked forever. The same holds for the message
//! of a panic, so a panic in `child` may hang.
//!
//! # Why the locks of this crate survive
//!
//! [`crate::Mutex`] and [`crate::Condvar`] are the standard library's. On Linux each of them is only a word in memory,
//! and the kernel keeps the sleeping threads. So the forking thread may unlock in the child what it locked in the
//! parent, and the child has no list of threads that sleep in the parent. Locks that queue their sleepers in a table in
//! memory (such as parking_lot's) do not survive, even if the forking thread holds all of them. The child inherits
//! their queues, whose nodes are on the stacks of threads that no longer exist. It also inherits the table's own locks,
//! which another thread may have held.
//!
//! No guard can repair a `OnceLock` that another thread was initializing at that moment; the child must not use such a
//! value. So values that are made once are made before the first fork, or may be made twice.
//!
//! Only the C library's `fork` calls the hooks; a direct system call or `vfork` does not. On systems other than Unix
//! this module does nothing.

#[cfg(all(unix, not(any(loom, miri))))]
mod atfork;
#[cfg(not(all(unix, not(any(loom, miri)))))]
#[path = "absent.rs"]
mod atfork;
mod kept;
#[cfg(any(test, all(unix, not(any(loom, miri)))))]
mod registry;

pub use kept::Kept;

use crate::Rank;
use std::sync::Arc;

/// An owner of threads or locks that a fork must not interrupt. See the module for the rules.
pub trait ForkGuard: Send + Sync {
    /// Called before the fork on the forking thread: pauses threads.
    fn prepare(&self);
    /// Called directly after [`ForkGuard::prepare`]: takes locks and passes their guards to `kept`, which holds them
    /// across the fork.
    fn hold<'a>(&'a self, kept: &mut Kept<'a>) {
        let _ = kept;
    }
    /// Called after the fork in the parent, even if the fork failed: undoes [`ForkGuard::prepare`]. The locks from
    /// [`ForkGuard::hold`] are released by then.
    fn parent(&self);
    /// Called after the fork in the child: discards threads, starts nothing, logs nothing. The locks from
    /// [`ForkGuard::hold`] are released by then.
    fn child(&self);
}

/// The registration of a guard, which ends when this is dropped.
#[derive(Debug)]
#[must_use = "the guard leaves the list when this is dropped"]
pub struct Registration {
    id: u64,
}

/// Registers `guard`, which from now on takes part in every fork of this process and, by inheritance, of its children.
///
/// ```
/// use mxrs_sync::{Rank, RankedMutex, fork::{self, ForkGuard, Kept}};
/// use std::sync::Arc;
/// struct Pool { free: RankedMutex<Vec<u64>> }
/// impl ForkGuard for Pool {
///     fn prepare(&self) {}
///     fn hold<'a>(&'a self, kept: &mut Kept<'a>) { kept.keep(self.free.lock()); }
///     fn parent(&self) {}
///     fn child(&self) {}
/// }
/// let pool = Arc::new(Pool { free: RankedMutex::new(Rank::Storage, Vec::new()) });
/// let guard: Arc<dyn ForkGuard> = pool;
/// let registration = fork::register(Rank::Storage, &guard);
/// assert!(!fork::is_child());
/// drop(registration);
/// ```
pub fn register(rank: Rank, guard: &Arc<dyn ForkGuard>) -> Registration {
    Registration { id: atfork::add(rank, guard) }
}

impl Drop for Registration {
    fn drop(&mut self) {
        atfork::remove(self.id);
    }
}

/// Starts to count forks. The first [`register`] and the first [`crate::Team`] call it.
pub fn watch() {
    atfork::watch();
}

/// The number of forks that lead from the process in which [`watch`] was first called to this process: 0 in that
/// process itself, 1 in its children, 2 in their children.
///
/// Code that starts threads stores this number; if it has changed, the threads do not exist any more.
#[inline]
pub fn generation() -> u64 {
    atfork::generation()
}

/// Whether this process was forked after the library started its threads (see [`watch`]).
#[inline]
pub fn is_child() -> bool {
    generation() != 0
}
