//! What a process does around `fork`: locks are taken and threads quiesced before, given back and rebuilt after.
//!
//! `fork` copies the memory of a process but only the calling thread. A lock held by any other thread at that moment stays
//! locked in the child for ever, what it protects may be half changed, and threads the child believes to have are gone.
//! So whoever owns threads or shared state registers a [`ForkGuard`]; one `pthread_atfork` for the whole process calls
//! them. (Loops need none: a [`crate::Team`] notices by itself that its threads are gone.)
//!
//! # Order
//!
//! - **F1** Before the fork each guard is asked to [`ForkGuard::prepare`], then to [`ForkGuard::hold`] its locks, the guards
//!   in ascending [`Rank`] and those of one rank in the order they registered: outer locks before inner ones, the order in which the program takes them anyway, so preparing cannot
//!   deadlock with a thread at work. The engine comes before storage, since tasks allocate and free: when storage prepares,
//!   no worker is left that could hold a pool. Then kernel caches, then whatever takes no further lock (profiler, random
//!   streams). Settings need no guard: they are an immutable snapshot.
//! - **F2** After it, in the reverse order, each guard's locks are given back and then [`ForkGuard::parent`] or
//!   [`ForkGuard::child`] is called.
//! - **F3** The list of guards is itself locked ([`Rank::Fork`], the outermost of all) from before the first `prepare` until
//!   after the last of the others: nobody joins or leaves in between, and two forks take turns. Hence a guard must neither
//!   register nor unregister in its hooks, and no ranked lock may be held while doing so elsewhere.
//! - **F4** A hook that panics does not stop the fork nor the other hooks. If it was before the fork, what the guard held
//!   is given back and its other half is not called. The failure is logged after the fork; one in the child at the next [`register`] there.
//! - **F5** A guard is kept alive from `prepare` to the end of its other half; between forks the list holds it weakly.
//!
//! # What a guard may do
//!
//! `prepare` runs on any thread, one of the library's own included if a task forks: it must not wait for its own thread.
//! It should leave threads at rest, not end them, and keep errors for later. `child` runs in a process with one thread
//! that will often replace itself by another program at once: it resets state and starts nothing; threads come back at
//! their first use. It must not log: a thread of the parent may have been writing, and whatever lock that took (standard
//! output's, a subscriber's) is locked for ever. The same holds for a panic's message, so a panic in `child` is a gamble.
//!
//! # Why the locks of this crate survive
//!
//! [`crate::Mutex`] and [`crate::Condvar`] are std's. On Linux each is a word that the kernel is asked to watch, nothing
//! more: the forking thread may unlock in the child what it locked in the parent, and sleepers left behind in the parent
//! are unknown there. Locks that queue their sleepers in a table in memory (parking_lot's) do not survive even if every
//! one of them is held by the forking thread: the child inherits the queues, whose nodes lie on the stacks of threads that
//! are gone, and the table's own inner locks, which any sleeping or waking thread may have held.
//!
//! What no guard can mend is a `OnceLock` that another thread was filling at that moment; the child must not ask for it.
//! So what is made once is made before the first fork, or at worst twice.
//!
//! Only `fork` of the C library calls the hooks; a bare system call or `vfork` does not. Elsewhere than on Unix nothing
//! here does anything.

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

/// Someone with threads or locks that a fork must not tear apart. See the module for the rules.
pub trait ForkGuard: Send + Sync {
    /// Before the fork, in the forking thread: bring threads to rest.
    fn prepare(&self);
    /// Right after [`ForkGuard::prepare`]: take locks, and hand their guards to `kept`, which holds them across the fork.
    fn hold<'a>(&'a self, kept: &mut Kept<'a>) {
        let _ = kept;
    }
    /// After the fork, in the process that forked, also when the fork failed: undo [`ForkGuard::prepare`]. The locks are
    /// free again.
    fn parent(&self);
    /// After the fork, in the new process: forget threads, start nothing, log nothing. The locks are free again.
    fn child(&self);
}

/// A guard's place in the list; leaves it when dropped.
#[derive(Debug)]
#[must_use = "the guard leaves the list when this is dropped"]
pub struct Registration {
    id: u64,
}

/// Lists `guard`, which from now on takes part in every fork of this process and, inherited, of its children.
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

/// Starts to count forks, as the first [`register`] and the first [`crate::Team`] do by themselves.
pub fn watch() {
    atfork::watch();
}

/// Forks between the process in which counting began and this one: 0 there, 1 in its children, 2 in theirs.
///
/// Whoever starts threads notes it: where it has changed, they are gone.
#[inline]
pub fn generation() -> u64 {
    atfork::generation()
}

/// Whether this process was forked after the library started its threads (see [`watch`]).
#[inline]
pub fn is_child() -> bool {
    generation() != 0
}
