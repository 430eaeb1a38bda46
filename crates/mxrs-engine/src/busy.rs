//! Which threads are in the middle of a step that a fork must not tear apart: pushing a task, running one on the pushing
//! thread, or getting into a queue.
//!
//! Each thread has a flag of its own, so marking costs two stores. A fork raises a flag of the process, then waits for the
//! threads' flags; a thread raises its own, then looks at the process's: one sees the other.

// Std's own, not those of the door: forks are no part of what loom searches, and loom's cannot live in statics.
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a fork waits for a thread or a task.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Forks being prepared, over all engines.
static FORKING: AtomicUsize = AtomicUsize::new(0);
/// The flags of all threads.
static FLAGS: Mutex<Vec<Arc<AtomicU32>>> = Mutex::new(Vec::new());

std::thread_local! {
    static MINE: Arc<AtomicU32> = register();
}

#[cold]
fn register() -> Arc<AtomicU32> {
    let flag = Arc::new(AtomicU32::new(0));
    let mut flags = FLAGS.lock().unwrap_or_else(PoisonError::into_inner);
    flags.retain(|flag| Arc::strong_count(flag) > 1);
    flags.push(Arc::clone(&flag));
    flag
}

/// Marks the calling thread, until dropped.
pub(crate) struct Busy(());

impl Busy {
    /// The caller orders this before looking at [`forking`], by a full barrier.
    #[inline]
    pub(crate) fn enter() -> Self {
        // Only this thread writes its flag; it counts, as a body run on the pushing thread may push in turn.
        let _ = MINE.try_with(|mine| mine.store(mine.load(Ordering::Relaxed) + 1, Ordering::Relaxed));
        Self(())
    }
}

impl Drop for Busy {
    #[inline]
    fn drop(&mut self) {
        let _ = MINE.try_with(|mine| mine.store(mine.load(Ordering::Relaxed).saturating_sub(1), Ordering::Release));
    }
}

/// Whether a fork is being prepared.
#[inline]
pub(crate) fn forking() -> bool {
    FORKING.load(Ordering::Relaxed) > 0
}

/// Lets a fork pass, with the thread not marked.
#[cold]
pub(crate) fn let_fork_pass() {
    while forking() {
        thread::yield_now();
    }
}

/// Keeps other threads from entering, and waits for those that have, but not for ever; until [`end_fork`].
pub(crate) fn begin_fork() {
    FORKING.fetch_add(1, Ordering::SeqCst);
    fence(Ordering::SeqCst);
    let own = MINE.try_with(Arc::clone).ok();
    let flags = FLAGS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let until = Instant::now() + PATIENCE;
    for flag in flags.iter().filter(|flag| own.as_ref().is_none_or(|own| !Arc::ptr_eq(own, flag))) {
        while flag.load(Ordering::Acquire) > 0 && Instant::now() < until {
            thread::yield_now();
        }
    }
}

/// Lets threads enter again.
pub(crate) fn end_fork() {
    FORKING.fetch_sub(1, Ordering::SeqCst);
}
